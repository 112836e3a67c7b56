import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ActionError, type Client, type ClientOptions, GoneError, MemoryStore, OtherActionError, RefusedError, type State, StorageError, type Submission, UnknownError } from "../src/index.js";
import { action, FakeGateway, type Fault, faults, page } from "./gateway.js";

/** vi.waitFor counts in real time. */
const patience = 30_000;

let gateway: FakeGateway;
let store: MemoryStore;
const pages: Client[] = [];

/** A page on the store that all pages of a test share. */
function open(): Submission {
  const client = page(gateway, store);
  pages.push(client);
  return client.submission(action);
}

/** Runs what waits, and returns what came of a promise. */
async function settle<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  await vi.runAllTimersAsync();
  return promise;
}

function states(submission: Submission): State[] {
  const seen = [submission.state];
  submission.onChange(() => seen.push(submission.state));
  return seen;
}

function headersOf(headers: Headers | undefined): Record<string, string> {
  const all: Record<string, string> = {};
  headers?.forEach((value, name) => {
    all[name] = value;
  });
  return all;
}

/** Whatever went before, a create whose answer was lost is asked for before anything is sent again. */
function expectNothingBlind(): void {
  let doubt = false;
  for (const { method, fault } of gateway.log) {
    if (method === "GET") {
      doubt = doubt && fault !== "none";
    } else {
      expect(doubt, `sent blind: ${gateway.methods()}`).toBe(false);
      doubt = fault !== "none" && fault !== "429";
    }
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  gateway = new FakeGateway();
  store = new MemoryStore();
});

afterEach(() => {
  expectNothingBlind();
  expect(gateway.created.length).toBeLessThanOrEqual(1);
  for (const client of pages.splice(0)) {
    client.close();
  }
  vi.useRealTimers();
});

describe("submit", () => {
  it("sends the action once, and keeps its key before the request leaves", async () => {
    const submission = open();
    const seen = states(submission);
    gateway.onRequest = () => expect(JSON.parse(store.getItem(store.key(0) ?? "") ?? "")).toEqual({ action, state: "submitting", doubt: false, sentAt: Date.now() });
    expect(await settle(submission.submit())).toMatchObject({ phase: "Success", idempotencyKey: action.key });
    expect(seen).toEqual(["idle", "submitting", "submitted"]);
    expect(gateway.methods()).toBe("POST");
    expect(headersOf(gateway.log[0]?.headers)).toEqual({ authorization: "Bearer token", "content-type": "application/json", "idempotency-key": '"task:42:stu-7"', prefer: "wait=5" });
  });

  it.each<[Fault, string, State[]]>([
    ["cut before", "POST GET POST", ["idle", "submitting", "unknown", "submitting", "submitted"]],
    ["cut after", "POST GET", ["idle", "submitting", "unknown", "submitted"]],
    ["silent", "POST GET", ["idle", "submitting", "unknown", "submitted"]],
    ["502", "POST GET", ["idle", "submitting", "unknown", "submitted"]],
    ["503", "POST GET POST", ["idle", "submitting", "unknown", "submitting", "submitted"]],
    ["portal", "POST GET POST", ["idle", "submitting", "unknown", "submitting", "submitted"]],
    ["proxy's 404", "POST GET POST", ["idle", "submitting", "unknown", "submitting", "submitted"]],
    ["firewall's 403", "POST GET POST", ["idle", "submitting", "unknown", "submitting", "submitted"]],
    ["429", "POST POST", ["idle", "submitting", "idle", "submitting", "submitted"]],
  ])("asks after: %s", async (fault, methods, expected) => {
    gateway.faults = [fault];
    const submission = open();
    const seen = states(submission);
    await settle(submission.submit());
    expect([gateway.methods(), seen, gateway.created]).toEqual([methods, expected, [action.key]]);
  });

  it("finds a create that arrives between its question and what it sends again", async () => {
    gateway.faults = ["late"];
    gateway.onRequest = (request) => {
      if (gateway.log.length === 3 && request.method === "POST") {
        gateway.arrive();
      }
    };
    await settle(open().submit());
    expect(gateway.methods()).toBe("POST GET POST");
  });

  it("goes on asking while nobody can tell", async () => {
    gateway.faults = ["cut after", "cut before", "503", "portal", "proxy's 404", "firewall's 403", "502", "429"];
    expect(await settle(open().submit())).toMatchObject({ phase: "Success" });
    expect(gateway.methods()).toBe("POST GET GET GET GET GET GET GET GET");
  });

  it("waits longer each time, and not shorter than it is told", async () => {
    const at: number[] = [];
    gateway.onRequest = () => at.push(Date.now());
    gateway.faults = ["cut after", "cut before", "503", "429", "cut before"];
    await settle(open().submit());
    expect(at.slice(1).map((time, i) => time - (at[i] ?? 0))).toEqual([200, 400, 3000, 2000, 3200]);
  });

  it("asks at once when the page comes back, but not before it is told", async () => {
    let tell = (): void => {};
    const client = page(gateway, store, {
      wake: (back) => {
        tell = back;
        return () => {};
      },
    });
    gateway.faults = ["cut before", "503"];
    const done = client.submission(action).submit();
    await vi.advanceTimersByTimeAsync(0);
    tell();
    await vi.advanceTimersByTimeAsync(0);
    expect(gateway.methods()).toBe("POST GET");
    tell();
    await vi.advanceTimersByTimeAsync(2999);
    expect(gateway.methods()).toBe("POST GET");
    await settle(done);
    expect(gateway.methods()).toBe("POST GET GET POST");
  });

  it("is one request for a storm of clicks", async () => {
    const submission = open();
    await settle(Promise.all(Array.from({ length: 20 }, () => submission.submit())));
    await settle(submission.submit());
    expect(gateway.methods()).toBe("POST");
  });

  it("takes an action that is in process, and one that failed, for submitted", async () => {
    for (const phase of ["Processing", "Failed"] as const) {
      gateway = new FakeGateway();
      gateway.phase = phase;
      store = new MemoryStore();
      await settle(open().submit());
      store = new MemoryStore(); // another device
      const submission = open();
      expect(await settle(submission.submit())).toMatchObject({ phase });
      expect([submission.state, gateway.created.length]).toEqual(["submitted", 1]);
    }
  });
});

describe("what is refused", () => {
  it("is failed, and can be submitted again", async () => {
    gateway.refusal = { status: 400, type: "invalid-request" };
    const submission = open();
    await expect(settle(submission.submit())).rejects.toBeInstanceOf(RefusedError);
    expect(submission.state).toBe("failed");
    gateway.refusal = undefined;
    await settle(submission.submit());
    expect([submission.state, gateway.methods()]).toEqual(["submitted", "POST POST"]);
  });

  it("may be corrected under the same key", async () => {
    gateway.refusal = { status: 400, type: "invalid-parameters" };
    const client = page(gateway, store);
    await expect(settle(client.submission({ ...action, parameters: {} }).submit())).rejects.toBeInstanceOf(RefusedError);
    gateway.refusal = undefined;
    expect(await settle(client.submission(action).submit())).toMatchObject({ parameters: action.parameters });
  });

  it("stays unknown while an answer is lost", async () => {
    gateway.faults = ["cut after"];
    const submission = open();
    gateway.onRequest = () => {
      if (gateway.log.length === 2) {
        gateway.refusal = { status: 401, type: "unauthenticated" };
      }
    };
    await expect(settle(submission.submit())).rejects.toBeInstanceOf(UnknownError);
    expect(submission.state).toBe("unknown");
    gateway.refusal = undefined;
    await settle(submission.submit());
    expect([submission.state, gateway.methods()]).toEqual(["submitted", "POST GET GET"]);
  });

  it("is another action's key", async () => {
    await settle(open().submit());
    const other = { ...action, parameters: { taskId: 43 } };
    await expect(settle(page(gateway, store).submission(other).submit())).rejects.toBeInstanceOf(OtherActionError);
    expect(gateway.methods(), "this browser knows already").toBe("POST");
    const elsewhere = page(gateway, new MemoryStore()).submission(other);
    await expect(settle(elsewhere.submit())).rejects.toBeInstanceOf(OtherActionError);
    expect([elsewhere.state, gateway.methods()]).toEqual(["failed", "POST POST"]);
  });

  it("is another action's key, found by asking", async () => {
    await settle(page(gateway, new MemoryStore()).submission({ ...action, parameters: { taskId: 43 } }).submit());
    gateway.faults = ["cut before"];
    const submission = open();
    await expect(settle(submission.submit())).rejects.toBeInstanceOf(OtherActionError);
    expect(submission.state, "should what is there be deleted, a late create could still land").toBe("unknown");
  });

  it("is not sent where there is no token, and nothing is in doubt", async () => {
    const none = new Error("the session has ended");
    let token = (): Promise<string> => Promise.reject(none);
    const submission = page(gateway, store, { token: () => token() }).submission(action);
    await expect(settle(submission.submit())).rejects.toBe(none);
    expect([submission.state, gateway.methods(), store.length]).toEqual(["idle", "", 0]);
    token = () => Promise.resolve("token");
    await settle(submission.submit());
    expect([submission.state, gateway.methods()]).toEqual(["submitted", "POST"]);
  });

  it("is not sent where its key cannot be kept", async () => {
    vi.spyOn(store, "setItem").mockImplementation(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    const submission = open();
    await expect(settle(submission.submit())).rejects.toBeInstanceOf(StorageError);
    expect([submission.state, gateway.methods()]).toEqual(["idle", ""]);
  });

  it.each([
    ["a key with white space", { ...action, key: " a" }],
    ["no template", { ...action, template: "" }],
    ["a number that a double rounds", { ...action, parameters: { id: 2 ** 53 } }],
    ["a number that JSON has not", { ...action, parameters: { list: [Number.NaN] } }],
    ["half of a surrogate pair", { ...action, parameters: { name: "Ann \ud83d" } }],
    ["half of a surrogate pair, deep inside", { ...action, parameters: { list: [{ name: "\udc4d Ann" }] } }],
    ["half of a surrogate pair in a name", { ...action, parameters: { of: { "\ud83d": 1 } } }],
    ["half of a surrogate pair in the template's name", { ...action, template: "award-\ud83d" }],
  ])("is no action: %s", (_, wrong) => {
    expect(() => page(gateway, store).submission(wrong)).toThrow(ActionError);
    expect(store.length).toBe(0);
  });

  it("may have whole surrogate pairs", async () => {
    const parameters = { "👍": "Ann 👍" };
    expect(await settle(page(gateway, store).submission({ ...action, parameters }).submit())).toMatchObject({ parameters });
  });
});

describe("a page that is loaded anew", () => {
  it.each<[State, Fault, string]>([
    ["submitting", "silent", "POST GET"],
    ["submitting", "late", "POST GET POST"],
    ["unknown", "cut after", "POST GET"],
    ["unknown", "cut before", "POST GET POST"],
    ["submitted", "none", "POST"],
  ])("continues when it was %s (%s)", async (state, fault, methods) => {
    gateway.faults = [fault];
    const before = open();
    void before.submit().catch(() => {});
    await vi.advanceTimersByTimeAsync(1);
    expect(before.state).toBe(state);
    vi.clearAllTimers(); // that page is no more
    const client = page(gateway, store);
    pages.push(client);
    const [after] = client.kept();
    expect(after?.state).toBe(state);
    await settle(after?.submit() ?? Promise.reject(new Error("nothing was kept")));
    expect([after?.state, gateway.methods(), client.submission(action)]).toEqual(["submitted", methods, after]);
  });

  it("forgets what it is told to", async () => {
    const submission = open();
    await settle(submission.submit());
    submission.forget();
    expect([submission.state, submission.view, page(gateway, store).kept()]).toEqual(["idle", undefined, []]);
  });

  it("calls off no more than its waiting", async () => {
    gateway.faults = ["silent"];
    const submission = open();
    const leave = new AbortController();
    const done = submission.submit({ signal: leave.signal });
    await vi.advanceTimersByTimeAsync(1);
    leave.abort(new Error("left"));
    await expect(settle(done)).rejects.toThrow("left");
    expect(submission.state).toBe("unknown");
    await settle(submission.submit());
    expect(gateway.methods()).toBe("POST GET");
  });
});

describe("what was sent long ago", () => {
  const hour = 3_600_000;

  /** Pages, an hour apart, that sent what never arrived and were left; returns another one's submission. */
  async function sent(times: number, more: Partial<ClientOptions> = {}): Promise<Submission> {
    for (let i = 0; i < times; i++) {
      vi.setSystemTime(Date.now() + (i && hour));
      const leave = new AbortController();
      gateway.onRequest = ({ method }) => method === "POST" && leave.abort(new Error("left"));
      await expect(settle(page(gateway, store).submission(action).submit({ signal: leave.signal }))).rejects.toThrow("left");
    }
    gateway.onRequest = () => {};
    gateway.log.splice(0);
    return page(gateway, store, more).submission(action);
  }

  it.each<[string, number, number, Partial<ClientOptions>]>([
    ["a day ago", 1, 25 * hour, {}],
    ["longer ago than the page allows", 1, 3 * hour, { maxAge: 2 * hour }],
    ["first a day ago, and later again", 2, 23.5 * hour, {}],
    ["by a clock that was set back", 1, -25 * hour, {}],
  ])("is asked for, and not sent again: %s", async (_, times, later, more) => {
    const submission = await sent(times, more);
    vi.setSystemTime(Date.now() + later);
    const failed = await settle(submission.submit()).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(UnknownError);
    expect(String(failed)).toContain("too long ago to be sent again without a person");
    expect([submission.state, gateway.methods()]).toEqual(["unknown", "GET"]);
    submission.forget(); // the person's decision
    await settle(submission.submit());
    expect([submission.state, gateway.methods()]).toEqual(["submitted", "GET POST"]);
  });

  it.each<[string, number, Partial<ClientOptions>]>([
    ["less than a day ago", 23 * hour, {}],
    ["as long ago as the page allows", 47 * hour, { maxAge: 48 * hour }],
  ])("is sent again: %s", async (_, later, more) => {
    const submission = await sent(1, more);
    vi.setSystemTime(Date.now() + later);
    await settle(submission.submit());
    expect([submission.state, gateway.methods()]).toEqual(["submitted", "GET POST"]);
  });

  it("is not sent again where nobody kept when it was", async () => {
    await sent(1);
    const place = store.key(0) ?? "";
    store.setItem(place, JSON.stringify({ action, state: "unknown", doubt: true }));
    await expect(settle(open().submit())).rejects.toBeInstanceOf(UnknownError);
    expect(gateway.methods()).toBe("GET");
  });

  it("is not sent again when it is gone, either", async () => {
    gateway.phase = "Processing";
    const submission = open();
    await settle(submission.submit());
    gateway.there.clear();
    vi.setSystemTime(Date.now() + 25 * hour);
    await expect(settle(submission.wait())).rejects.toBeInstanceOf(GoneError);
    await expect(settle(submission.wait())).rejects.toBeInstanceOf(UnknownError);
    expect(gateway.created).toEqual([action.key]);
  });
});

describe("two users of one browser", () => {
  it.each(["ann/b", "ann:task", "an", "%"])("see nothing of each other: ann and %s", async (user) => {
    gateway.faults = ["cut after"];
    const ann = open();
    void ann.submit().catch(() => {});
    await vi.advanceTimersByTimeAsync(1);
    const other = page(gateway, store, { user });
    pages.push(other);
    expect([other.kept(), other.submission(action).state]).toEqual([[], "idle"]);
    await vi.waitFor(() => expect(ann.state).toBe("unknown"), patience);
    await settle(ann.submit());
    other.submission(action).forget();
    other.forgetAll();
    expect([ann.state, page(gateway, store).kept().length]).toEqual(["submitted", 1]);
  });

  it("leave nothing behind that they have forgotten", async () => {
    const client = page(gateway, store);
    const submission = client.submission(action);
    await settle(submission.submit());
    store.setItem(`${store.key(0)}:2`, "not JSON");
    store.setItem("the page's own", "stays");
    client.forgetAll();
    expect([submission.state, client.kept(), store.length, store.key(0)]).toEqual(["idle", [], 1, "the page's own"]);
  });

  it("are told apart by what must be given", () => expect(() => page(gateway, store, { user: "" })).toThrow("the user is missing"));
});

describe("two tabs", () => {
  it("show the same state, and the second asks", async () => {
    vi.useRealTimers(); // the channel is not of this thread's clock
    gateway.faults = ["silent"];
    const [one, two] = [open(), open()];
    const leave = new AbortController();
    const done = one.submit({ signal: leave.signal }).catch(() => {});
    await vi.waitFor(() => expect(two.state).toBe("submitting"), patience);
    await two.submit();
    expect(gateway.methods()).toBe("POST GET");
    await vi.waitFor(() => expect(one.state).toBe("submitted"), patience);
    leave.abort();
    await done;
  });

  it("take turns where there are locks", async () => {
    let turn: Promise<unknown> = Promise.resolve();
    const names: string[] = [];
    const request = (name: string, _: LockOptions, run: () => Promise<unknown>): Promise<unknown> => {
      names.push(name);
      turn = turn.then(run, run);
      return turn;
    };
    vi.stubGlobal("navigator", { locks: { request } });
    await settle(Promise.all([open().submit(), open().submit()]));
    vi.unstubAllGlobals();
    expect(gateway.methods()).toBe("POST");
    expect(names).toEqual(Array(2).fill("taskonce:https%3A//gateway.example/:shop:ann:task:42:stu-7"));
  });
});

/** A linear congruential generator: the same walk for the same seed. */
function drawn(seed: number): (bound: number) => number {
  return (bound) => {
    seed = (seed * 1664525 + 1013904223) % 2 ** 32;
    return Math.floor((seed / 2 ** 32) * bound);
  };
}

describe("any order of faults, reloads and tabs", () => {
  it.each(Array.from({ length: 100 }, (_, seed) => seed))("is one effect: walk %i", async (seed) => {
    const draw = drawn(seed);
    gateway.faults = Array.from({ length: draw(12) }, () => faults[draw(faults.length)] ?? "none");
    gateway.onRequest = () => {
      if (draw(3) === 0) {
        gateway.arrive();
      }
    };
    let submission = open();
    for (let step = 0; step < 6; step++) {
      void submission.submit().catch(() => {});
      await vi.advanceTimersByTimeAsync(draw(4000));
      if (draw(2) === 0) {
        vi.clearAllTimers();
        submission = open();
      }
    }
    gateway.faults = [];
    await settle(submission.submit());
    gateway.arrive();
    expect([submission.state, gateway.created]).toEqual(["submitted", [action.key]]);
  });
});
