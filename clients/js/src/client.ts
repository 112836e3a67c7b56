import type { Action } from "./action.js";
import { prepare, same } from "./action.js";
import type { GatewayOptions } from "./gateway.js";
import { Gateway } from "./gateway.js";
import { Journal } from "./journal.js";
import { buildKey } from "./key.js";
import { pageCameBack, type Wake } from "./pause.js";
import { type KeyValueStore, ownStore } from "./store.js";
import { type Means, Submission } from "./submission.js";

/** What a client works with. */
export interface ClientOptions extends GatewayOptions {
  /** Whom the token speaks for: its subject, or any string that stays the same. Users of one browser see nothing of each other. */
  user: string;
  /**
   * Where keys and states are kept; localStorage where there is one, and else the memory of this process. In a page that is
   * refused its localStorage nothing is sent: it may watch.
   */
  store?: KeyValueStore;
  /** Tells when there is a reason to ask at once; the page's own events where it is left out. */
  wake?: Wake;
  /**
   * How long after it was first sent an action that is not there may be sent again, in milliseconds; a day where it is left
   * out. Far below the gateway's retention.recordTTL: where the record has expired, what happened is not there either.
   */
  maxAge?: number;
  /** Draws a number from 0 to 1, for jitter. */
  random?: () => number;
}

/** Submits actions of one user to one namespace, each once. */
export class Client {
  readonly #means: Means;
  readonly #known = new Map<string, Submission>();

  constructor(options: ClientOptions) {
    if (!options.user) {
      throw new TypeError("the user is missing: give the subject of the token, so that no other user of this browser continues what this one began");
    }
    const { store, shared } = options.store ? { store: options.store, shared: true } : ownStore();
    const scope = buildKey("taskonce", options.url, options.namespace, options.user);
    const journal = new Journal(store, scope, shared);
    journal.onChange((key, entry) => this.#known.get(key)?.learn(entry));
    this.#means = { gateway: new Gateway(options), journal, wake: options.wake ?? pageCameBack, random: options.random ?? Math.random, maxAge: options.maxAge ?? 24 * 3_600_000, alone: (key, signal, run) => alone(`${scope}:${key}`, signal, run) };
  }

  /**
   * Returns the submission of an action, in the state that it has come to, also in another tab or before the page was
   * loaded anew. Nothing is sent. An ActionError says what is wrong with the action.
   */
  submission(action: Action): Submission {
    const payload = prepare(action);
    const known = this.#known.get(payload.key);
    if (known !== undefined && same(known.action, payload)) {
      return known;
    }
    const submission = new Submission(payload, this.#means);
    this.#known.set(payload.key, submission);
    return submission;
  }

  /** Returns the submissions that were kept and not forgotten: what a page continues when it is loaded. */
  kept(): Submission[] {
    return this.#means.journal.all().map((entry) => this.submission(entry.action));
  }

  /** Forgets all of the user's keys, as at logout. What was sent is not undone; call off first what still waits. */
  forgetAll(): void {
    for (const key of new Set([...this.#means.journal.keys(), ...this.#known.keys()])) {
      this.#means.journal.remove(key);
      this.#known.get(key)?.learn(undefined);
    }
  }

  /** Ends the channel to other tabs. */
  close(): void {
    this.#means.journal.close();
  }
}

/**
 * Web Locks where there are any: a frame without an origin of its own is refused them. Without them two tabs may both send:
 * under one key, so nothing is doubled.
 */
function alone<T>(name: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const locks = globalThis.origin === "null" ? undefined : (globalThis.navigator as Partial<Navigator> | undefined)?.locks;
  return locks ? (locks.request(name, { signal }, run) as Promise<T>) : run();
}
