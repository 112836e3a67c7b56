/** Something under way that several wait for. It is called off when the last of them has left, and not before. */
export class Run<T> {
  readonly #end: Promise<T>;
  readonly #leave = new AbortController();
  #ended = false;
  #waiting = 0;

  constructor(begin: (signal: AbortSignal) => Promise<T>) {
    this.#end = begin(this.#leave.signal).finally(() => {
      this.#ended = true;
    });
    this.#end.catch(() => {}); // those who wait are told
  }

  /** It has ended, or was called off: who comes now begins anew. */
  get over(): boolean {
    return this.#ended || this.#leave.signal.aborted;
  }

  /** Resolves and rejects as it does, and rejects with the signal's reason as soon as that aborts. */
  join(signal: AbortSignal | undefined): Promise<T> {
    this.#waiting++;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal?.reason);
        if (--this.#waiting === 0) {
          this.#leave.abort(signal?.reason);
        }
      };
      signal?.addEventListener("abort", leave, { once: true });
      void this.#end.then(resolve, reject).then(() => signal?.removeEventListener("abort", leave));
    });
  }
}
