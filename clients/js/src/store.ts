/** Where entries are kept: localStorage, or what does the same. */
export type KeyValueStore = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

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

/** A browser's store that is refused, as where site data is blocked and in a sandboxed frame: it has nothing, and takes nothing. */
class RefusedStore extends MemoryStore {
  constructor(private readonly reason: unknown) {
    super();
  }

  override setItem(): void {
    throw this.reason;
  }
}

/**
 * Returns the store of this page or process, and whether other tabs share it. Where there is no document, as in Node, what
 * stands in for localStorage and cannot be used is as good as none: some versions have an object without methods, or a getter
 * that throws.
 */
export function ownStore(): { store: KeyValueStore; shared: boolean } {
  try {
    const store = globalThis.localStorage as Partial<Storage> | null | undefined;
    if (typeof store?.getItem === "function") {
      return { store: store as Storage, shared: true };
    }
    if (store === undefined) {
      return ownMemory();
    }
    throw new Error("localStorage is switched off"); // as in an Android WebView, which has null in its place
  } catch (reason) {
    return typeof globalThis.document === "undefined" ? ownMemory() : { store: new RefusedStore(reason), shared: false };
  }
}

function ownMemory(): { store: KeyValueStore; shared: boolean } {
  return { store: new MemoryStore(), shared: false };
}
