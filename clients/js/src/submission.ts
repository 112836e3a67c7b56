import type { Payload } from "./action.js";
import { same } from "./action.js";
import { GoneError, OtherActionError, RefusedError, UnknownError } from "./errors.js";
import type { Gateway } from "./gateway.js";
import type { Entry, Journal, State } from "./journal.js";
import { Pause, type Wake } from "./pause.js";
import type { Problem, View } from "./view.js";
import { finished, standsFor, viewOf } from "./view.js";

/** What a submission works with. */
export interface Means {
  gateway: Gateway;
  journal: Journal;
  wake: Wake;
  random: () => number;
  /** How long after it was first sent what is not there may be sent again, in milliseconds. */
  maxAge: number;
  /** Runs one at a time of what has the same name, over all tabs. */
  alone: <T>(name: string, signal: AbortSignal | undefined, run: () => Promise<T>) => Promise<T>;
}

/** The longest pause of a page that only reads, in milliseconds. */
const longestWatch = 2_000;

/** How to call off what waits. What was sent is not called off by it. */
export interface Waiting {
  signal?: AbortSignal;
}

/** One action on its way. Every submission of the same key, in every tab, shows the same state. */
export class Submission {
  #entry: Entry;
  #submitting: Promise<View> | undefined;
  readonly #listeners = new Set<(submission: Submission) => void>();

  constructor(
    readonly action: Payload,
    private readonly means: Means,
  ) {
    this.#entry = this.#kept() ?? { action, state: "idle", doubt: false };
  }

  get key(): string {
    return this.action.key;
  }

  get state(): State {
    return this.#entry.state;
  }

  /** The submission as it was last seen. */
  get view(): View | undefined {
    return this.#entry.view;
  }

  /** Calls back after each change, until the function that it returns is called. */
  onChange(listener: (submission: Submission) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Sends the action, and resolves when it is known to be there, with what is there. Called again, also after the page
   * was loaded anew or in another tab, it continues: what may have been created is asked for before anything is sent.
   *
   * It rejects with a RefusedError or an OtherActionError where nothing was created, with an UnknownError where an answer
   * was lost and the gateway refuses to tell or it was sent too long ago to be sent again, with a StorageError where the key
   * could not be kept, with what token() rejects with, and with the signal's reason.
   */
  submit({ signal }: Waiting = {}): Promise<View> {
    this.#submitting ??= this.means
      .alone(this.key, signal, () => this.#submit(signal))
      .finally(() => {
        this.#submitting = undefined;
      });
    return this.#submitting;
  }

  /**
   * Submits, and resolves when the submission has finished: in phase Success, or Failed (which is no error here). Where the
   * gateway refuses to tell, as when the token has expired, it rejects with an UnknownError; called again, it goes on.
   */
  async wait({ signal }: Waiting = {}): Promise<View> {
    return this.#follow(await this.submit({ ...(signal && { signal }) }), signal);
  }

  /**
   * Resolves as wait() does, and sends nothing: for a page that only reads. Until somebody has submitted the action, from
   * whatever device, it asks, every few seconds. It rejects with a RefusedError where the gateway refuses to tell, with an
   * OtherActionError where the key belongs to another action, and else as wait() does.
   */
  async watch({ signal }: Waiting = {}): Promise<View> {
    const { gateway, random, wake } = this.means;
    for (const pause = new Pause(random, longestWatch); this.state !== "submitted" || !this.view; ) {
      const answer = await gateway.ask(this.key, await gateway.token(), signal);
      signal?.throwIfAborted();
      switch (answer.is) {
        case "there":
          if (!standsFor(answer.view, this.action)) {
            throw new OtherActionError(this.key, answer.view);
          }
          return this.#follow(this.#arrive(answer.view), signal);
        case "refused":
        case "other":
          throw this.#entry.doubt ? new UnknownError(this.key, answer.problem) : new RefusedError(answer.problem);
      }
      await pause.wait("after" in answer ? answer.after : 0, wake, signal);
    }
    return this.#follow(this.view, signal);
  }

  /** Forgets the key, as when the page has shown the outcome. What was sent is not undone. */
  forget(): void {
    this.means.journal.remove(this.key);
    this.learn(undefined);
  }

  /** Takes over what another tab has written. */
  learn(entry: Entry | undefined): void {
    if (entry !== undefined && !same(entry.action, this.action)) {
      return; // another action under this key: submit() says so
    }
    this.#entry = entry ?? { action: this.action, state: "idle", doubt: false };
    this.#tell();
  }

  #kept(): Entry | undefined {
    const entry = this.means.journal.read(this.key);
    return entry !== undefined && same(entry.action, this.action) ? entry : undefined;
  }

  async #submit(signal: AbortSignal | undefined): Promise<View> {
    const { gateway, journal, random, wake } = this.means;
    const kept = journal.read(this.key);
    if (kept !== undefined && !same(kept.action, this.action) && kept.state !== "idle" && kept.state !== "failed") {
      throw new OtherActionError(this.key, kept.view);
    }
    this.#entry = this.#kept() ?? this.#entry; // another tab may have come further
    if (this.#entry.state === "submitted" && this.#entry.view) {
      return this.#entry.view;
    }
    let ask = this.#entry.doubt || this.#entry.state === "submitting" || this.#entry.state === "unknown";
    if (ask) {
      this.#enter("unknown", true);
    }
    for (const pause = new Pause(random); ; ) {
      const token = await gateway.token();
      signal?.throwIfAborted();
      if (!ask) {
        this.#enter("submitting", this.#entry.doubt);
      }
      const answer = await (ask ? gateway.ask(this.key, token, signal) : gateway.send(this.action, token, signal));
      switch (answer.is) {
        case "there":
          return this.#recognise(answer.view);
        case "absent": // asked, and not there: sending it again is no guess, while its record would be there
          if (!ask) {
            throw this.#refuse({ type: "", detail: "the gateway knows no such namespace" });
          }
          if (this.#old()) {
            throw new UnknownError(this.key, { type: "", detail: "it was sent too long ago to be sent again without a person" }, "find out whether it happened, and only if it did not, forget() it and submit it");
          }
          ask = false;
          continue;
        case "other":
          throw this.#refuse(answer.problem, new OtherActionError(this.key, answer.problem.submission));
        case "refused":
          throw this.#refuse(answer.problem);
        case "busy":
          this.#enter(this.#entry.doubt ? "unknown" : "idle", this.#entry.doubt);
          break;
        case "lost":
          ask = true;
          this.#enter("unknown", true);
      }
      await pause.wait(answer.after, wake, signal);
    }
  }

  #recognise(view: View): View {
    if (!standsFor(view, this.action)) {
      throw this.#refuse({ type: "" }, new OtherActionError(this.key, view));
    }
    return this.#arrive(view);
  }

  /** Ends a submit that was refused. While an answer is lost, no refusal says that nothing was created. */
  #refuse(problem: Problem, error: Error = this.#entry.doubt ? new UnknownError(this.key, problem) : new RefusedError(problem)): Error {
    this.#enter(this.#entry.doubt ? "unknown" : "failed", this.#entry.doubt);
    return error;
  }

  /** Says whether even the record of what was sent may have expired. A clock that was set back tells no age, either. */
  #old(): boolean {
    return !(Math.abs(Date.now() - (this.#entry.sentAt ?? Number.NaN)) <= this.means.maxAge);
  }

  /** Resolves when a submission that is there has finished. */
  async #follow(view: View, signal: AbortSignal | undefined): Promise<View> {
    const pause = new Pause(this.means.random);
    for (let lastId = ""; !finished(view); ) {
      for await (const event of this.means.gateway.events(view.name, lastId, signal)) {
        const seen = viewOf(event);
        if (seen !== undefined) {
          view = this.#arrive(seen);
          lastId = event.id;
          pause.reset();
        }
        if (finished(view) || event.type === "gone") {
          break;
        }
      }
      signal?.throwIfAborted();
      if (!finished(view)) {
        view = await this.#look(view, pause, signal);
      }
    }
    return view;
  }

  /** Asks for a submission that cannot be followed, or is said to be gone. */
  async #look(view: View, pause: Pause, signal: AbortSignal | undefined): Promise<View> {
    const answer = await this.means.gateway.get(view.name, signal);
    switch (answer.is) {
      case "there":
        view = this.#arrive(answer.view);
        if (finished(view)) {
          return view;
        }
        break;
      case "absent":
        this.#enter("unknown", true);
        throw new GoneError(this.key);
      case "refused":
      case "other":
        throw new UnknownError(this.key, answer.problem); // it is there: no refusal to tell of it undoes it
    }
    await pause.wait("after" in answer ? answer.after : 0, this.means.wake, signal);
    return view;
  }

  #arrive(view: View): View {
    this.#write({ ...this.#entry, state: "submitted", doubt: false, view });
    return view;
  }

  #enter(state: State, doubt: boolean): void {
    if (state !== this.#entry.state || doubt !== this.#entry.doubt) {
      const sentAt = state === "submitting" && !doubt ? Date.now() : this.#entry.sentAt;
      this.#write({ action: this.action, state, doubt, ...(sentAt !== undefined && { sentAt }) });
    }
  }

  /** Keeps the entry first: what is sent after it is known to a page that is loaded anew. */
  #write(entry: Entry): void {
    this.means.journal.write(entry);
    this.#entry = entry;
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) {
      listener(this);
    }
  }
}
