const firstDelay = 200;
const longestDelay = 10_000;

/** Waits between requests: longer each time, with jitter, and not before the server said. */
export class Pause {
  #delay = firstDelay;

  constructor(
    private readonly random: () => number,
    private readonly longest = longestDelay,
  ) {}

  /** Begins anew: something was heard. */
  reset(): void {
    this.#delay = firstDelay;
  }

  /** Resolves when it is time for another request; rejects when the signal aborts. */
  wait(after: number, wake: Wake, signal?: AbortSignal): Promise<void> {
    const delay = Math.max(after, this.#delay * (0.5 + this.random()));
    this.#delay = Math.min(2 * this.#delay, this.longest);
    return new Promise((resolve, reject) => {
      const end = (then: () => void): void => {
        clearTimeout(timer);
        stop();
        signal?.removeEventListener("abort", abort);
        then();
      };
      const abort = (): void => end(() => reject(signal?.reason));
      const timer = setTimeout(() => end(resolve), delay);
      // What the server asked for is never undercut.
      const stop = after > 0 ? () => {} : wake(() => end(resolve));
      if (signal?.aborted) {
        abort();
      } else {
        signal?.addEventListener("abort", abort);
      }
    });
  }
}

/** Calls back when there is a reason to try at once, until the function that it returns is called. */
export type Wake = (tell: () => void) => () => void;

/** The page came back: the network is there again, or somebody looks at it, as after a phone's sleep. */
export const pageCameBack: Wake = (tell) => {
  const page: Partial<Pick<Window, "addEventListener" | "removeEventListener" | "document">> = globalThis;
  const shown = (): void => {
    if (page.document?.visibilityState === "visible") {
      tell();
    }
  };
  page.addEventListener?.("online", tell);
  page.document?.addEventListener("visibilitychange", shown);
  return () => {
    page.removeEventListener?.("online", tell);
    page.document?.removeEventListener("visibilitychange", shown);
  };
};
