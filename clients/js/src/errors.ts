import type { Problem, View } from "./view.js";

/** Says that the gateway refused: what was sent was not created. Where it was only asked, it refused to tell. */
export class RefusedError extends Error {
  override name = "RefusedError";

  constructor(readonly problem: Problem) {
    super(problem.detail ?? problem.title ?? problem.type);
  }
}

/** Says that the key belongs to another action, with another template or other parameters. */
export class OtherActionError extends Error {
  override name = "OtherActionError";

  constructor(
    readonly key: string,
    readonly view?: View,
  ) {
    super(`the key ${JSON.stringify(key)} belongs to another action already: give this one a key of its own`);
  }
}

/** Says that the action was, or may have been, created, and that the gateway refused to tell, or cannot, what became of it. */
export class UnknownError extends Error {
  override name = "UnknownError";

  constructor(
    readonly key: string,
    readonly problem: Problem,
    advice = "submit it again, under the same key, to find out",
  ) {
    super(`what became of the action ${JSON.stringify(key)} is unknown: ${advice}: ${problem.detail ?? problem.title ?? problem.type}`);
  }
}

/** Says that a submission was deleted while it was waited for. What it has begun is not undone, and its outcome is not lost. */
export class GoneError extends Error {
  override name = "GoneError";

  /** Submitting it again, under the same key, tells its outcome; where this page has not sent it, that is for whoever has. */
  constructor(
    readonly key: string,
    sent: boolean,
  ) {
    super(`the submission of ${JSON.stringify(key)} was deleted: ${sent ? "submit it again, under the same key, to learn its outcome" : "whoever submitted it learns its outcome by submitting it again, under the same key"}`);
  }
}
