import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Client, type ClientOptions, MemoryStore, RefusedError, StorageError, UnknownError, type View } from "../src/index.js";
import { action, FakeGateway, page } from "./gateway.js";

const place = `taskonce:https%3A//gateway.example/:shop:ann:${action.key}`;

let gateway: FakeGateway;

beforeEach(() => {
  vi.useFakeTimers();
  gateway = new FakeGateway();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function settle<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  await vi.runAllTimersAsync();
  return promise;
}

/** A store that takes only so many entries, and none larger than so many characters. */
class FullStore extends MemoryStore {
  constructor(
    private readonly longest: number,
    private writes = Number.POSITIVE_INFINITY,
  ) {
    super();
  }

  override setItem(key: string, value: string): void {
    if (value.length > this.longest || this.writes-- <= 0) {
      throw new DOMException("full", "QuotaExceededError");
    }
    super.setItem(key, value);
  }
}

function large(): View {
  return { name: "name", idempotencyKey: action.key, template: action.template, parameters: action.parameters, phase: "Success", reason: "Applied", result: "x".repeat(15 * 1024) };
}

describe("a store that is nearly full", () => {
  it.each<[string, FullStore, string]>([
    ["where the view is too large, enough is kept to ask", new FullStore(1000), "unknown"],
    ["what was kept before the request stays, where nothing more is taken", new FullStore(1000, 1), "submitting"],
  ])("does not take back what was sent: %s", async (_, store, state) => {
    gateway.there.set(action.key, large());
    const submission = page(gateway, store).submission(action);
    expect(await settle(submission.submit())).toEqual(large());
    expect([submission.state, submission.view, JSON.parse(store.getItem(place) ?? "").state]).toEqual(["submitted", large(), state]);
    expect(await settle(submission.submit())).toEqual(large());
    const later = page(gateway, store).submission(action);
    expect(await settle(later.submit()), "a page that is loaded anew asks").toEqual(large());
    expect([later.state, gateway.methods()]).toEqual(["submitted", "POST GET"]);
  });

  it.each<[string, () => void, unknown, string]>([
    ["a refusal", () => (gateway.refusal = { status: 400, type: "invalid-request" }), RefusedError, "failed"],
    ["a lost answer", () => gateway.faults.push("cut after"), undefined, "submitted"],
    ["no time", () => gateway.faults.push("503", "503"), StorageError, "unknown"],
  ])("does not hide what came of it: %s", async (_, prepare, error, state) => {
    prepare();
    const submission = page(gateway, new FullStore(1000, 1)).submission(action);
    const outcome = await settle(submission.submit()).catch((reason: unknown) => reason);
    if (error) {
      expect(outcome).toBeInstanceOf(error);
    }
    expect(submission.state).toBe(state);
  });

  it.each<[string, () => void]>([
    ["refused", () => (gateway.refusal = { status: 401, type: "unauthenticated" })],
    ["gone", () => gateway.there.clear()],
  ])("has its outcome asked for, and never called refused: %s", async (what, prepare) => {
    const store = new FullStore(1000);
    gateway.there.set(action.key, large());
    await settle(page(gateway, store).submission(action).submit());
    prepare();
    const later = page(gateway, store).submission(action);
    expect([later.state, later.view]).toEqual(["unknown", undefined]);
    if (what === "gone") {
      expect(await settle(later.submit())).toMatchObject({ phase: "Success" });
      expect(gateway.methods()).toBe("POST GET POST");
    } else {
      await expect(settle(later.watch())).rejects.toBeInstanceOf(UnknownError);
      await expect(settle(later.submit())).rejects.toBeInstanceOf(UnknownError);
      expect(later.state).toBe("unknown");
    }
  });

  it("does not call refused what it has found, and has no room for", async () => {
    const store = new FullStore(1000);
    gateway.refusal = { status: 401, type: "unauthenticated" };
    const submission = page(gateway, store).submission(action);
    await expect(settle(submission.submit())).rejects.toBeInstanceOf(RefusedError);
    gateway.refusal = undefined;
    gateway.there.set(action.key, large()); // another device's
    await settle(submission.watch());
    expect([submission.state, page(gateway, store).submission(action).state]).toEqual(["submitted", "unknown"]);
  });
});

describe("a browser that refuses its store", () => {
  const options: ClientOptions = { url: "https://gateway.example", namespace: "shop", user: "ann" };

  function refuse(get: () => unknown): Client {
    const own = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
    Object.defineProperty(globalThis, "localStorage", { configurable: true, get });
    try {
      return new Client({ ...options, fetch: gateway.fetch as typeof fetch });
    } finally {
      Reflect.deleteProperty(globalThis, "localStorage");
      if (own) {
        Object.defineProperty(globalThis, "localStorage", own);
      }
    }
  }

  it.each<[string, () => unknown]>([
    [
      "it throws",
      () => {
        throw new DOMException("denied", "SecurityError");
      },
    ],
    ["it is null", () => null],
    ["it has no methods", () => ({})],
  ])("lets a page read, and send nothing: %s", async (_, get) => {
    vi.stubGlobal("document", {});
    const denied = vi.fn(() => Promise.reject(new DOMException("denied", "SecurityError")));
    vi.stubGlobal("navigator", { locks: { request: denied } });
    vi.stubGlobal("origin", "null");
    const client = refuse(get);
    const submission = client.submission(action);
    await expect(settle(submission.submit())).rejects.toBeInstanceOf(StorageError);
    expect([submission.state, gateway.methods(), client.kept(), denied.mock.calls]).toEqual(["idle", "", [], []]);
    gateway.there.set(action.key, large());
    expect(await settle(submission.watch())).toEqual(large());
    expect(submission.state).toBe("submitted");
    client.forgetAll();
    expect([submission.state, submission.view], "also what was never kept is forgotten").toEqual(["idle", undefined]);
  });

  it.each<[string, () => unknown]>([
    ["there is none", () => undefined],
    ["it has no methods, as in Node 25", () => ({})],
    [
      "it throws, as in Node without a file for it",
      () => {
        throw new DOMException("denied", "SecurityError");
      },
    ],
  ])("is no reason to send nothing where there is no document: %s", async (_, get) => {
    const submission = refuse(get).submission(action);
    expect(await settle(submission.submit())).toMatchObject({ phase: "Success" });
    expect(gateway.created).toEqual([action.key]);
  });

  it("may be given another one, without a channel", async () => {
    vi.stubGlobal("BroadcastChannel", () => {
      throw new DOMException("insecure", "SecurityError");
    });
    expect(await settle(page(gateway, new MemoryStore()).submission(action).submit())).toMatchObject({ phase: "Success" });
  });
});

describe("an entry that cannot be read", () => {
  const garbage: [string, string][] = [
    ["no JSON", "{"],
    ["a number", "5"],
    ["null", "null"],
    ["no action", JSON.stringify({ state: "submitted", doubt: false })],
    ["another key's", JSON.stringify({ action: { ...action, key: "other" }, state: "idle", doubt: false })],
    ["a state of a later version", JSON.stringify({ action, state: "settling", doubt: false })],
    ["a view that is none", JSON.stringify({ action, state: "submitted", doubt: false, view: { phase: "Success" } })],
    ["no view of what is there", JSON.stringify({ action, state: "submitted", doubt: false })],
    ["a time that is none", JSON.stringify({ action, state: "unknown", doubt: true, sentAt: "today" })],
  ];

  function keeping(text: string): MemoryStore {
    const store = new MemoryStore();
    store.setItem(place, text);
    return store;
  }

  it.each(garbage)("is in doubt, and not sent again without a person: %s", async (_, text) => {
    const client = page(gateway, keeping(text));
    expect(client.kept()).toEqual([]);
    const submission = client.submission(action);
    expect(submission.state).toBe("unknown");
    await expect(settle(submission.submit())).rejects.toBeInstanceOf(UnknownError);
    expect(gateway.methods()).toBe("GET");
    submission.forget();
    await settle(submission.submit());
    expect([submission.state, gateway.methods()]).toEqual(["submitted", "GET POST"]);
  });

  it.each(garbage)("is found by its key: %s", async (_, text) => {
    gateway.there.set(action.key, large());
    const store = keeping(text);
    expect(await settle(page(gateway, store).submission(action).submit())).toEqual(large());
    expect(page(gateway, store).kept()).toHaveLength(1);
  });
});

describe("what is forgotten", () => {
  it.each(["none", "cut after", "429"] as const)("is not kept again by what was called off: %s", async (fault) => {
    const store = new MemoryStore();
    const client = page(gateway, store);
    const leave = new AbortController();
    gateway.faults = [fault];
    gateway.onRequest = () => {
      gateway.onRequest = () => {};
      leave.abort(new Error("logged out"));
      client.forgetAll();
    };
    await expect(settle(client.submission(action).submit({ signal: leave.signal }))).rejects.toThrow("logged out");
    expect(store.length).toBe(0);
  });

  it("is kept again when it is submitted again", async () => {
    const store = new MemoryStore();
    const submission = page(gateway, store).submission(action);
    await settle(submission.submit());
    submission.forget();
    await settle(submission.submit());
    expect([submission.state, store.length, gateway.methods()]).toEqual(["submitted", 1, "POST POST"]);
  });
});
