import type { Payload } from "./action.js";
import type { View } from "./view.js";

/**
 * How far a submission has come.
 *
 * - idle: nothing was sent, or nothing of what was sent can have been created
 * - submitting: a request is under way
 * - unknown: an answer was lost: it may have been created
 * - submitted: it is there; its phase says what came of it
 * - failed: it was refused, and nothing was created
 */
export type State = "idle" | "submitting" | "unknown" | "submitted" | "failed";

/** What is kept of one submission. */
export interface Entry {
  action: Payload;
  state: State;
  /** Some answer was lost, so no later refusal says that nothing was created. */
  doubt: boolean;
  /** When it was sent, in milliseconds: the first time of those that are in doubt. */
  sentAt?: number;
  view?: View;
}

/** Where entries are kept: localStorage, or what does the same. */
export type KeyValueStore = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** Says that an entry could not be kept, so the request was not sent. */
export class StorageError extends Error {
  override name = "StorageError";
}

/** What tabs tell each other: the entry itself, since another tab's store may be a moment behind. */
interface Change {
  key: string;
  entry: Entry | undefined;
}

/** The entries of one user in one namespace, and who is told of their changes in other tabs. */
export class Journal {
  readonly #channel: BroadcastChannel | undefined;
  readonly #listeners = new Set<(key: string, entry: Entry | undefined) => void>();

  /** A store that other tabs share has them told of what changes. */
  constructor(
    private readonly store: KeyValueStore,
    private readonly scope: string,
    shared: boolean,
  ) {
    this.#channel = shared && typeof BroadcastChannel !== "undefined" ? new BroadcastChannel(scope) : undefined;
    this.#channel?.addEventListener("message", ({ data }: MessageEvent<Change>) => this.#tell(data));
    (this.#channel as { unref?: () => void } | undefined)?.unref?.(); // in Node it would keep the process
  }

  /** Returns what is kept of a key. What cannot be read is as if it were not there: the key answers for it. */
  read(key: string): Entry | undefined {
    try {
      return JSON.parse(this.store.getItem(this.#place(key)) ?? "null") ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps an entry. When it returns, a page that is loaded anew finds it. */
  write(entry: Entry): void {
    try {
      this.store.setItem(this.#place(entry.action.key), JSON.stringify(entry));
    } catch (cause) {
      throw new StorageError("the key could not be kept, so nothing was sent: make room in the browser's storage, or allow it", { cause });
    }
    this.#channel?.postMessage({ key: entry.action.key, entry } satisfies Change);
  }

  remove(key: string): void {
    this.store.removeItem(this.#place(key));
    this.#channel?.postMessage({ key, entry: undefined } satisfies Change);
  }

  /** Returns all entries. */
  all(): Entry[] {
    return this.keys().flatMap((key) => this.read(key) ?? []);
  }

  /** Returns the keys of all entries, also of those that cannot be read. */
  keys(): string[] {
    const keys: string[] = [];
    for (let i = 0; i < this.store.length; i++) {
      const place = this.store.key(i);
      if (place?.startsWith(this.#place(""))) {
        keys.push(place.slice(this.#place("").length));
      }
    }
    return keys.sort();
  }

  /** Calls back when another tab has changed an entry. */
  onChange(listener: (key: string, entry: Entry | undefined) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    this.#channel?.close();
    this.#listeners.clear();
  }

  #tell({ key, entry }: Change): void {
    for (const listener of this.#listeners) {
      listener(key, entry);
    }
  }

  #place(key: string): string {
    return `${this.scope}:${key}`;
  }
}

/** A store that ends with the process: for Node, where the caller keeps none. */
export class MemoryStore implements KeyValueStore {
  readonly #items = new Map<string, string>();

  get length(): number {
    return this.#items.size;
  }

  key(index: number): string | null {
    return [...this.#items.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#items.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.#items.set(key, value);
  }

  removeItem(key: string): void {
    this.#items.delete(key);
  }
}
