import type { Problem, View } from "./view.js";
import { isView, problemTypes } from "./view.js";

/** What one request came to. */
export type Answer =
  /** It is there. */
  | { is: "there"; view: View }
  /** The gateway looked, and nothing of this key is there. */
  | { is: "absent" }
  /** The key belongs to another action. */
  | { is: "other"; problem: Problem }
  /** This request was refused, and created nothing. */
  | { is: "refused"; problem: Problem }
  /** This request was not looked at, and created nothing: later. */
  | { is: "busy"; after: number }
  /** Nobody can tell what this request did. */
  | { is: "lost"; after: number };

/** Reads an answer. Whatever is not certainly the gateway's (a portal's page, a proxy's 404) is a lost one. */
export async function read(response: Response): Promise<Answer> {
  const after = retryAfter(response.headers.get("Retry-After"));
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) {
    return isView(body) ? { is: "there", view: body } : { is: "lost", after };
  }
  if (response.status === 408 || response.status >= 500 || !isProblem(body)) {
    return { is: "lost", after };
  }
  if (response.status === 429) {
    return { is: "busy", after };
  }
  return judge(body);
}

function judge(problem: Problem): Answer {
  switch (problem.type.slice(problemTypes.length)) {
    case "in-process":
    case "not-applied":
      return isView(problem.submission) ? { is: "there", view: problem.submission } : { is: "lost", after: 0 };
    case "not-found":
      return { is: "absent" };
    case "key-reused":
      return { is: "other", problem };
    case "not-told": // it is there, or has been, and this page is not told what comes of it
      return { is: "lost", after: 0 };
    default:
      // What failed by its own input is there, too, where nobody looked at it at the door.
      return isView(problem.submission) ? { is: "there", view: problem.submission } : { is: "refused", problem };
  }
}

function isProblem(value: unknown): value is Problem {
  const type = (value as Partial<Problem> | null | undefined)?.type;
  return typeof type === "string" && type.startsWith(problemTypes);
}

/** The longest wait that is granted: a day would freeze the page, and beyond 2^31 ms a timer fires at once. */
const longestWait = 60_000;

/** Returns how long the server asks to wait, in milliseconds. */
function retryAfter(header: string | null): number {
  if (header === null) {
    return 0;
  }
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return wait > 0 ? Math.min(wait, longestWait) : 0;
}
