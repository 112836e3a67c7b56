import type { Payload } from "./action.js";
import { type Entry, isEntry, unreadable, withoutView } from "./entry.js";
import type { KeyValueStore } from "./store.js";

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
  #channel: BroadcastChannel | undefined;
  readonly #listeners = new Set<(key: string, entry: Entry | undefined) => void>();

  /** A store that other tabs share has them told of what changes. */
  constructor(
    private readonly store: KeyValueStore,
    private readonly scope: string,
    shared: boolean,
  ) {
    this.#channel = shared ? open(scope) : undefined;
    this.#channel?.addEventListener("message", ({ data }: MessageEvent<unknown>) => this.#hear(data));
  }

  /** Returns what is kept of an action's key, which may be another action. */
  read(action: Payload): Entry | undefined {
    const text = this.#get(action.key);
    return text === undefined ? undefined : (parse(text, action.key) ?? unreadable(action));
  }

  /** Keeps an entry before its request leaves. When it returns, a page that is loaded anew finds it. */
  write(entry: Entry): void {
    try {
      this.#set(entry);
    } catch (cause) {
      throw new StorageError("the key could not be kept, so nothing was sent: make room in the browser's storage, allow it, or give the client a store", { cause });
    }
    this.#tell(entry.action.key, entry);
  }

  /** Keeps what came of a request, as far as there is room. Where there is none, what was kept before has a page ask. */
  note(entry: Entry): void {
    for (const one of [entry, withoutView(entry)]) {
      try {
        this.#set(one);
        break;
      } catch {} // it did happen: an error would say that it did not
    }
    this.#tell(entry.action.key, entry);
  }

  remove(key: string): void {
    this.store.removeItem(this.#place(key));
    this.#tell(key, undefined);
  }

  /** Returns all entries that can be read. */
  all(): Entry[] {
    return this.keys().flatMap((key) => parse(this.#get(key) ?? "", key) ?? []);
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
    this.#channel = undefined;
    this.#listeners.clear();
  }

  #get(key: string): string | undefined {
    try {
      return this.store.getItem(this.#place(key)) ?? undefined;
    } catch {
      return undefined; // a store that may not be read takes nothing, either, so nothing is sent
    }
  }

  #set(entry: Entry): void {
    this.store.setItem(this.#place(entry.action.key), JSON.stringify(entry));
  }

  #tell(key: string, entry: Entry | undefined): void {
    this.#channel?.postMessage({ key, entry } satisfies Change);
  }

  /** Takes what another tab tells. What another version of the client says, and this one does not know, is found in the store. */
  #hear(data: unknown): void {
    const { key, entry } = (data ?? {}) as Partial<Change>;
    if (typeof key === "string" && (entry === undefined || isEntry(entry, key))) {
      for (const listener of this.#listeners) {
        listener(key, entry);
      }
    }
  }

  #place(key: string): string {
    return `${this.scope}:${key}`;
  }
}

function parse(text: string, key: string): Entry | undefined {
  try {
    const entry: unknown = JSON.parse(text);
    return isEntry(entry, key) ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Opens the channel to other tabs, where there are channels, and the page may have one. */
function open(name: string): BroadcastChannel | undefined {
  try {
    const channel = new BroadcastChannel(name);
    (channel as { unref?: () => void }).unref?.(); // in Node it would keep the process
    return channel;
  } catch {
    return undefined;
  }
}
