import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Client, type ClientOptions, MemoryStore, type Submission, UnknownError, type View } from "../src/index.js";
import { action, FakeGateway, type Fault, page } from "./gateway.js";

/** A channel that tells at once, in this thread. */
class Channel {
  static readonly all = new Set<Channel>();
  #hear: (event: { data: unknown }) => void = () => {};

  constructor(readonly name: string) {
    Channel.all.add(this);
  }

  addEventListener(_: "message", hear: (event: { data: unknown }) => void): void {
    this.#hear = hear;
  }

  postMessage(data: unknown): void {
    if (!Channel.all.has(this)) {
      throw new DOMException("closed", "InvalidStateError");
    }
    for (const channel of Channel.all) {
      if (channel !== this && channel.name === this.name) {
        channel.#hear({ data: structuredClone(data) });
      }
    }
  }

  close(): void {
    Channel.all.delete(this);
  }
}

const scope = "taskonce:https%3A//gateway.example/:shop:ann";

let gateway: FakeGateway;
let store: MemoryStore;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("BroadcastChannel", Channel);
  gateway = new FakeGateway();
  store = new MemoryStore();
});

afterEach(() => {
  Channel.all.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function settle<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  await vi.runAllTimersAsync();
  return promise;
}

/** A page whose second request waits for something that goes on meanwhile. */
function slow(meanwhile: () => Promise<unknown>, more: Partial<ClientOptions> = {}): Client {
  let requests = 0;
  const slowly: typeof fetch = async (url, init) => {
    if (++requests === 2) {
      await meanwhile();
    }
    return gateway.fetch(url as string, init);
  };
  return page(gateway, store, { fetch: slowly, ...more });
}

const kept = (): unknown => JSON.parse(store.getItem(`${scope}:${action.key}`) ?? "null");
const elsewhere = (): Promise<unknown> => page(gateway, new MemoryStore(), { user: "teacher" }).submission(action).submit();

describe("what one tab has found, another one's answer does not undo", () => {
  const meetings: Record<string, (mine: () => Submission) => Submission> = {
    "another tab": () => page(gateway, store).submission(action),
    "another tab, without a channel": () => {
      vi.stubGlobal("BroadcastChannel", undefined);
      return page(gateway, store).submission(action);
    },
    "the same tab": (mine) => mine(),
  };
  const answers: [string, () => void][] = [
    ["refused", () => (gateway.refusal = { status: 401, type: "unauthenticated" })],
    ...(["cut before", "429", "portal"] as Fault[]).map((fault): [string, () => void] => [fault, () => gateway.faults.push(fault)]),
  ];

  it.each(Object.keys(meetings).flatMap((who) => answers.map(([what, prepare]): [string, string, () => void] => [who, what, prepare])))("%s: %s", async (who, _, prepare) => {
    gateway.faults = ["429"];
    const watcher = (): Submission => meetings[who]?.(() => submission) as Submission;
    const client = slow(async () => {
      await elsewhere();
      await watcher().watch();
      prepare();
    });
    const submission = client.submission(action);
    expect(await settle(submission.submit())).toMatchObject({ phase: "Success" });
    expect([submission.state, kept()]).toEqual(["submitted", expect.objectContaining({ state: "submitted", doubt: false })]);
  });

  it("nor is anything sent where it was found in the meantime", async () => {
    gateway.faults = ["429"];
    const submission = page(gateway, store).submission(action);
    const outcome = submission.submit();
    await vi.advanceTimersByTimeAsync(1);
    await elsewhere();
    await page(gateway, store).submission(action).watch();
    gateway.log.splice(0);
    expect(await settle(outcome)).toMatchObject({ phase: "Success" });
    expect([submission.state, gateway.methods()]).toEqual(["submitted", ""]);
  });

  it("nor does an older view, where they know each other only by the store", async () => {
    vi.stubGlobal("BroadcastChannel", undefined);
    gateway.phase = "Processing";
    const submission = page(gateway, store).submission(action);
    await settle(submission.submit());
    const older = gateway.there.get(action.key) as View;
    gateway.events = () => {
      store.setItem(`${scope}:${action.key}`, JSON.stringify({ action, state: "submitted", doubt: false, view: { ...older, phase: "Success" } }));
      return new Response(`id: 1\nevent: submission\ndata: ${JSON.stringify(older)}\n\n`, { headers: { "Content-Type": "text/event-stream" } });
    };
    expect(await settle(submission.wait())).toMatchObject({ phase: "Success" });
    expect(kept()).toMatchObject({ view: { phase: "Success" } });
  });

  it("nor does a refusal stop who watches", async () => {
    const client = slow(async () => {
      await elsewhere();
      await page(gateway, store).submission(action).submit();
      gateway.refusal = { status: 403, type: "forbidden" };
    });
    expect(await settle(client.submission(action).watch())).toMatchObject({ phase: "Success" });
  });
});

describe("what one tab doubts", () => {
  it.each(["idle", "submitting", "failed"])("another one does not talk away: %s", async (state) => {
    gateway.faults = ["cut after"];
    const submission = page(gateway, store).submission(action);
    const outcome = submission.submit();
    await vi.advanceTimersByTimeAsync(1);
    new Channel(scope).postMessage({ key: action.key, entry: { action, state, doubt: false, sentAt: Date.now() } });
    gateway.refusal = { status: 401, type: "unauthenticated" };
    await expect(settle(outcome)).rejects.toBeInstanceOf(UnknownError);
    expect([submission.state, kept()]).toEqual(["unknown", expect.objectContaining({ doubt: true })]);
  });

  it("nor forget while it waits for the answer", async () => {
    gateway.faults = ["cut after"];
    const submission = page(gateway, store).submission(action);
    const outcome = submission.submit();
    await vi.advanceTimersByTimeAsync(1);
    page(gateway, store).submission(action).forget();
    gateway.refusal = { status: 401, type: "unauthenticated" };
    await expect(settle(outcome)).rejects.toBeInstanceOf(UnknownError);
    expect([submission.state, store.length]).toEqual(["unknown", 0]);
  });

  it("the other one asks for, where they know each other only by the store", async () => {
    vi.stubGlobal("BroadcastChannel", undefined);
    const [one, two] = [page(gateway, store).submission(action), page(gateway, store).submission(action)];
    gateway.faults = ["silent"];
    void one.submit().catch(() => {});
    await vi.advanceTimersByTimeAsync(1);
    expect(await settle(two.submit())).toMatchObject({ phase: "Success" });
    expect([gateway.methods(), one.state]).toEqual(["POST GET", "submitted"]);
  });
});

describe("what another tab says", () => {
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["no key", { entry: { action, state: "idle", doubt: false } }],
    ["a state that this version does not know", { key: action.key, entry: { action, state: "settling", doubt: false } }],
    ["no action", { key: action.key, entry: { state: "submitted", doubt: false } }],
    ["another key's action", { key: action.key, entry: { action: { ...action, key: "other" }, state: "submitted", doubt: false } }],
  ])("is passed over where it is %s", async (_, data) => {
    const submission = page(gateway, store).submission(action);
    new Channel(scope).postMessage(data);
    expect(submission.state).toBe("idle");
    await settle(submission.submit());
    expect(gateway.methods()).toBe("POST");
  });

  it("is heard no more after close(), and what is under way goes on", async () => {
    const client = slow(async () => client.close());
    const submission = client.submission(action);
    gateway.faults = ["cut after"];
    expect(await settle(submission.submit())).toMatchObject({ phase: "Success" });
    expect(submission.state).toBe("submitted");
  });
});
