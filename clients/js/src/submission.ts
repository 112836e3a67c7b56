import type { Payload } from "./action.js";
import { same } from "./action.js";
import type { Answer } from "./answer.js";
import { after, type Entry, fresh, learned, mayBeThere, type State, type Step } from "./entry.js";
import { GoneError, OtherActionError, RefusedError, UnknownError } from "./errors.js";
import type { Gateway } from "./gateway.js";
import type { Journal } from "./journal.js";
import { Pause, type Wake } from "./pause.js";
import { Run } from "./run.js";
import type { Problem, View } from "./view.js";
import { failedAtTheDoor, finished, holdsItsKey, standsFor, viewOf } from "./view.js";

/** What a submission works with. */
export interface Means {
  gateway: Gateway;
  journal: Journal;
  wake: Wake;
  random: () => number;
  /** How long after it was first sent what is not there may be sent again, in milliseconds. */
  maxAge: number;
  /** Runs one at a time of what has the same name, over all tabs. */
  alone: <T>(name: string, signal: AbortSignal, run: () => Promise<T>) => Promise<T>;
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
  #run: Run<View> | undefined;
  /** It was forgotten since it was begun: what still comes of it is shown, and not kept. */
  #forgotten = false;
  readonly #listeners = new Set<(submission: Submission) => void>();

  constructor(
    readonly action: Payload,
    private readonly means: Means,
  ) {
    this.#entry = this.#kept() ?? fresh(action);
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
  async submit({ signal }: Waiting = {}): Promise<View> {
    signal?.throwIfAborted();
    this.#forgotten = false;
    if (!this.#run || this.#run.over) {
      this.#run = new Run((left) => this.means.alone(this.key, left, () => this.#submit(left)));
    }
    return this.#run.join(signal);
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
    this.#forgotten = false;
    await this.#lookAgain(signal);
    const pause = new Pause(random, longestWatch);
    while (!this.view) {
      const answer = await gateway.ask(this.key, await gateway.token(), signal);
      signal?.throwIfAborted();
      if (answer.is === "there" && standsFor(answer.view, this.action)) {
        return this.#follow(this.#arrive(answer.view), signal);
      }
      if (answer.is === "there" && holdsItsKey(answer.view)) {
        throw new OtherActionError(this.key, answer.view);
      }
      if (!this.view && (answer.is === "refused" || answer.is === "other")) {
        throw this.#untold(answer.problem);
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

  /** Takes over what another tab has written; undefined: it was forgotten. */
  learn(told: Entry | undefined): void {
    if (told === undefined) {
      this.#forgotten = true;
      this.#become(this.#run && !this.#run.over ? this.#entry : fresh(this.action)); // what is under way is not undone
    } else if (same(told.action, this.action)) {
      this.#become(learned(this.#entry, told));
    } // else it is another action under this key: submit() says so
  }

  #kept(): Entry | undefined {
    const entry = this.means.journal.read(this.action);
    return entry !== undefined && same(entry.action, this.action) ? entry : undefined;
  }

  async #submit(signal: AbortSignal): Promise<View> {
    const { gateway, random, wake } = this.means;
    this.#catchUp();
    await this.#lookAgain(signal);
    let absent = false; // asked, and not there: sending it again is no guess, while its record would be there
    for (const pause = new Pause(random); !this.view; ) {
      const token = await gateway.token();
      signal.throwIfAborted();
      this.#catchUp();
      if (this.view) {
        break;
      }
      const ask: boolean = mayBeThere(this.#entry) && !absent;
      if (!ask) {
        this.#step({ is: "sends", at: Date.now() });
      }
      const answer: Answer = await (ask ? gateway.ask(this.key, token, signal) : gateway.send(this.action, token, signal));
      this.#become(this.#known());
      if (this.view && answer.is !== "there") {
        break; // found in the meantime, so this answer is old
      }
      if (ask && (answer.is === "absent" || (answer.is === "there" && this.#standsInTheWay(answer.view)))) {
        this.#refuseOld();
        absent = true;
        continue;
      }
      const delay = this.#take(answer);
      absent &&= answer.is !== "lost";
      if (!this.view) {
        await pause.wait(delay, wake, signal);
      }
    }
    return this.view;
  }

  /** Takes an answer in, and returns how long the server asks to wait. It throws what ends the submit. */
  #take(answer: Answer): number {
    switch (answer.is) {
      case "there":
        if (!standsFor(answer.view, this.action)) {
          throw this.#refuse({ type: "" }, new OtherActionError(this.key, answer.view));
        }
        this.#arrive(answer.view);
        return 0;
      case "absent":
        throw this.#refuse({ type: "", detail: "the gateway knows no such namespace" });
      case "other":
        throw this.#refuse(answer.problem, new OtherActionError(this.key, answer.problem.submission));
      case "refused":
        throw this.#refuse(answer.problem);
      case "busy":
      case "lost":
        this.#step({ is: answer.is });
        return answer.after;
    }
  }

  /** Says whether what is there is another action, which may well not hold the key: the gateway says so when it is sent. */
  #standsInTheWay(view: View): boolean {
    return !standsFor(view, this.action) && !holdsItsKey(view);
  }

  /** What is not there may be sent again, unless it was sent too long ago. */
  #refuseOld(): void {
    if (this.#old()) {
      const why = this.#entry.sentAt ? "it was sent too long ago" : "this page has not sent it, so it may be too old";
      throw new UnknownError(this.key, { type: "", detail: `${why} to be sent again without a person` }, "find out whether it happened, and only if it did not, forget() it and submit it");
    }
  }

  /** Returns what is known here and in other tabs. */
  #known(): Entry {
    return learned(this.#entry, this.#kept() ?? this.#entry);
  }

  /** Takes over what another tab has kept. What is under way there, or was when its page was closed, may be lost. */
  #catchUp(): void {
    const kept = this.means.journal.read(this.action);
    if (kept !== undefined && !same(kept.action, this.action) && mayBeThere(kept) && !(kept.view && failedAtTheDoor(kept.view))) {
      throw new OtherActionError(this.key, kept.view);
    }
    this.#become(this.#known());
    if (this.#entry.state === "submitting") {
      this.#step({ is: "lost" });
    }
  }

  /** Asks once for one that is known to have failed: a person may have had it retried since. */
  async #lookAgain(signal: AbortSignal | undefined): Promise<void> {
    if (this.view?.phase === "Failed") {
      const answer = await this.means.gateway.get(this.view.name, signal);
      signal?.throwIfAborted();
      if (answer.is === "there" && standsFor(answer.view, this.action)) {
        this.#arrive(answer.view);
      }
    }
  }

  /** Ends a submit that was refused. */
  #refuse(problem: Problem, error?: Error): Error {
    this.#step({ is: "refused" });
    return error ?? this.#untold(problem);
  }

  /** While something may be there, no refusal says that nothing was created. */
  #untold(problem: Problem): Error {
    return mayBeThere(this.#entry) ? new UnknownError(this.key, problem) : new RefusedError(problem);
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
        if (seen !== undefined && !standsFor(seen, this.action)) {
          break; // another one has taken its name: it is looked at
        }
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
    if (this.view && finished(this.view)) {
      return this.view; // another tab has seen its end
    }
    switch (answer.is) {
      case "there":
        if (!standsFor(answer.view, this.action)) {
          throw this.#gone(answer.view);
        }
        view = this.#arrive(answer.view);
        if (finished(view)) {
          return view;
        }
        break;
      case "absent":
        throw this.#gone();
      case "refused":
      case "other":
        throw new UnknownError(this.key, answer.problem); // it is there: no refusal to tell of it undoes it
    }
    await pause.wait("after" in answer ? answer.after : 0, this.means.wake, signal);
    return view;
  }

  /** Takes in that it was deleted, and what has its key since. */
  #gone(other?: View): Error {
    this.#step({ is: "gone" });
    return other && holdsItsKey(other) ? new OtherActionError(this.key, other) : new GoneError(this.key, !this.#old());
  }

  /** Returns what is there, which may be known better already. */
  #arrive(view: View): View {
    this.#step({ is: "there", view });
    return this.#entry.view ?? view;
  }

  /** Goes a step. What is sent after it is known to a page that is loaded anew. */
  #step(step: Step): void {
    const next = after(this.#known(), step);
    if (step.is === "sends") {
      this.means.journal.write(next);
      this.#forgotten = false;
    } else if (!this.#forgotten && !same(next, this.#kept())) {
      this.means.journal.note(next);
    }
    this.#become(next);
  }

  #become(entry: Entry): void {
    if (!same(entry, this.#entry)) {
      this.#entry = entry;
      this.#tell();
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) {
      try {
        listener(this);
      } catch (error) {
        queueMicrotask(() => {
          throw error; // it is the page's, and says nothing of the action
        });
      }
    }
  }
}
