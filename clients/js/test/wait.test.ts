import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GoneError, MemoryStore, OtherActionError, RefusedError, UnknownError, type View } from "../src/index.js";
import { events } from "../src/sse.js";
import { action, FakeGateway, page } from "./gateway.js";

let gateway: FakeGateway;

beforeEach(() => {
  vi.useFakeTimers();
  gateway = new FakeGateway();
  gateway.phase = "Processing";
});

afterEach(() => {
  vi.useRealTimers();
});

async function settle<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  await vi.runAllTimersAsync();
  return promise;
}

function stream(...chunks: string[]): Response {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(new TextEncoder().encode(chunk));
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

const viewNow = (): View => gateway.there.get(action.key) as View;

function told(id: number, phase: View["phase"]): string {
  return `id: ${id}\nevent: submission\ndata: ${JSON.stringify({ ...viewNow(), phase })}\n\n`;
}

describe("wait", () => {
  it("follows the events to the outcome", async () => {
    gateway.events = () => stream(": there\n\n", told(1, "Processing"), told(2, "Success"));
    const submission = page(gateway, new MemoryStore()).submission(action);
    const phases: (string | undefined)[] = [];
    submission.onChange(() => phases.push(submission.view?.phase));
    expect(await settle(submission.wait())).toMatchObject({ phase: "Success" });
    expect(phases).toEqual([undefined, "Processing", "Success"]);
  });

  it("takes them up again where they were cut, and says what it has seen", async () => {
    const ids: string[] = [];
    gateway.events = (lastId) => {
      ids.push(lastId);
      return lastId === "" ? stream(told(7, "Processing"), "id: 8\nevent: subm") : stream(told(9, "Failed"));
    };
    expect(await settle(page(gateway, new MemoryStore()).submission(action).wait())).toMatchObject({ phase: "Failed" });
    expect(ids).toEqual(["", "7"]);
  });

  it("asks where there are no events to be had", async () => {
    const waiting = page(gateway, new MemoryStore()).submission(action).wait();
    await vi.advanceTimersByTimeAsync(5_000);
    gateway.there.set(action.key, { ...viewNow(), phase: "Success" });
    expect(await settle(waiting)).toMatchObject({ phase: "Success" });
    expect(gateway.log.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it("gives up a connection that is silent", async () => {
    let opened = 0;
    gateway.events = () => {
      opened++;
      return opened > 1 ? stream(told(2, "Success")) : new Response(new ReadableStream({}), { headers: { "Content-Type": "text/event-stream" } });
    };
    await settle(page(gateway, new MemoryStore()).submission(action).wait());
    expect(opened).toBe(2);
  });

  it("says that it is gone, and learns the outcome when it is submitted again", async () => {
    gateway.events = () => {
      gateway.there.clear();
      return stream("event: gone\ndata: {}\n\n");
    };
    const submission = page(gateway, new MemoryStore()).submission(action);
    await expect(settle(submission.wait())).rejects.toBeInstanceOf(GoneError);
    expect(submission.state).toBe("unknown");
    gateway.phase = "Success";
    expect(await settle(submission.wait())).toMatchObject({ phase: "Success" });
    expect(gateway.log.map(({ method, path }) => method + path.replace(/\?.*/, "?"))).toEqual(["POST", "GET/name-of-task:42:stu-7/events", "GET/name-of-task:42:stu-7", "GET?", "POST"].map((line) => line.replaceAll(/(?<=name-of-)task:42:stu-7/g, "task%3A42%3Astu-7")));
  });
});

describe("another action that has taken the name of one that was deleted", () => {
  const another = (more: Partial<View> = {}): View => ({ ...viewNow(), parameters: { taskId: 43 }, phase: "Success", reason: "Applied", result: "another's", ...more });

  it.each<[string, () => void]>([
    ["there are no events to be had", () => {}],
    ["its events are told", () => (gateway.events = () => stream(`id: 9\nevent: submission\ndata: ${JSON.stringify(another())}\n\n`))],
  ])("is never taken for one's own: %s", async (_, prepare) => {
    const store = new MemoryStore();
    const submission = page(gateway, store).submission(action);
    await settle(submission.submit());
    gateway.there.set(action.key, another());
    prepare();
    await expect(settle(submission.wait())).rejects.toBeInstanceOf(OtherActionError);
    expect([submission.state, submission.view, page(gateway, store).submission(action).view]).toEqual(["unknown", undefined, undefined]);
    await expect(settle(submission.submit())).rejects.toBeInstanceOf(OtherActionError);
    expect(gateway.created).toEqual([action.key]);
  });

  it("is not read from the store, either", async () => {
    const store = new MemoryStore();
    gateway.phase = "Success";
    await settle(page(gateway, store).submission(action).submit());
    const place = store.key(0) as string;
    store.setItem(place, JSON.stringify({ ...JSON.parse(store.getItem(place) as string), view: another() }));
    expect(page(gateway, store).submission(action).view).toBeUndefined();
  });

  it("does not stand in the way where it failed at the door: the outcome comes back", async () => {
    const submission = page(gateway, new MemoryStore()).submission(action);
    await settle(submission.submit());
    gateway.there.set(action.key, another({ phase: "Failed", reason: "KeyReused" }));
    await expect(settle(submission.wait())).rejects.toBeInstanceOf(GoneError);
    gateway.phase = "Success";
    expect(await settle(submission.wait())).toMatchObject({ phase: "Success", parameters: action.parameters });
  });
});

describe("parameters that the template did not take", () => {
  it("are corrected under the same key, also where the gateway could only tell after it was created", async () => {
    const store = new MemoryStore();
    const wrong = { ...action, parameters: { taskId: "42" } };
    gateway.onRequest = ({ method }) => {
      const view = gateway.there.get(action.key);
      if (method === "GET" && view?.phase === "Processing") {
        gateway.there.set(action.key, { ...view, phase: "Failed", reason: "InvalidParameters" });
      }
    };
    gateway.phase = "Processing";
    expect(await settle(page(gateway, store).submission(wrong).wait())).toMatchObject({ phase: "Failed" });
    gateway.phase = "Success";
    expect(await settle(page(gateway, store).submission(action).submit())).toMatchObject({ phase: "Success", parameters: action.parameters });
  });

  it("do not keep the outcome from whoever was first: it asks, and sends what it sent", async () => {
    gateway.faults = ["cut after"];
    gateway.onRequest = ({ method }) => {
      if (method === "GET") {
        gateway.there.set(action.key, { name: "name", idempotencyKey: action.key, template: "award-points", parameters: {}, phase: "Failed", reason: "KeyReused" });
      }
    };
    gateway.phase = "Success";
    expect(await settle(page(gateway, new MemoryStore()).submission(action).submit())).toMatchObject({ phase: "Success", parameters: action.parameters });
    expect(gateway.methods()).toBe("POST GET POST");
  });
});

describe("watch", () => {
  it("asks on while what has the key failed at the door, or was not looked at", async () => {
    const submission = page(gateway, new MemoryStore()).submission(action);
    const outcome = submission.watch();
    const view = { name: "name", idempotencyKey: action.key, template: "other", parameters: {} };
    for (const standing of [{ phase: "Pending", reason: "" } as const, { phase: "Failed", reason: "KeyReused" } as const]) {
      gateway.there.set(action.key, { ...view, ...standing });
      await vi.advanceTimersByTimeAsync(10_000);
    }
    gateway.there.set(action.key, { ...view, ...action, phase: "Success", reason: "Applied" });
    expect(await settle(outcome)).toMatchObject({ phase: "Success" });
  });

  it("says whose it is to ask again, where another device's was deleted, and sends nothing without a person", async () => {
    await settle(page(gateway, new MemoryStore()).submission(action).submit());
    const submission = page(gateway, new MemoryStore()).submission(action);
    gateway.events = () => {
      gateway.there.clear();
      return stream("event: gone\ndata: {}\n\n");
    };
    await expect(settle(submission.watch())).rejects.toThrow("whoever submitted it");
    await expect(settle(submission.submit())).rejects.toThrow("this page has not sent it");
    expect(gateway.created).toEqual([action.key]);
  });

  it("asks until another device has submitted it, and follows it to its outcome", async () => {
    const submission = page(gateway, new MemoryStore()).submission(action);
    const outcome = submission.watch();
    gateway.faults = ["none", "cut before", "503", "429", "portal"];
    await vi.advanceTimersByTimeAsync(20_000);
    expect([submission.state, gateway.created]).toEqual(["idle", []]);
    await page(gateway, new MemoryStore()).submission(action).submit();
    gateway.events = () => stream(told(1, "Processing"), told(2, "Success"));
    expect(await settle(outcome)).toMatchObject({ phase: "Success" });
    expect([submission.state, gateway.created]).toEqual(["submitted", [action.key]]);
    expect(gateway.log.filter(({ method }) => method === "POST"), "the reader sends nothing").toHaveLength(1);
  });

  it("asks every few seconds, however long nobody submits it", async () => {
    const leave = new AbortController();
    const left = page(gateway, new MemoryStore()).submission(action).watch({ signal: leave.signal });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(gateway.log.length).toBeGreaterThan(25);
    leave.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(gateway.log.length).toBeLessThan(35);
  });

  it("knows what this browser knows already", async () => {
    gateway.phase = "Success";
    const store = new MemoryStore();
    await settle(page(gateway, store).submission(action).submit());
    expect(await settle(page(gateway, store).submission(action).watch())).toMatchObject({ phase: "Success" });
    expect(gateway.methods()).toBe("POST");
  });

  it("says what is refused, and whose the key is, and changes no state", async () => {
    gateway.refusal = { status: 403, type: "forbidden" };
    const submission = page(gateway, new MemoryStore()).submission(action);
    await expect(settle(submission.watch())).rejects.toBeInstanceOf(RefusedError);
    gateway.refusal = undefined;
    await settle(page(gateway, new MemoryStore()).submission({ ...action, parameters: {} }).submit());
    await expect(settle(submission.watch())).rejects.toBeInstanceOf(OtherActionError);
    expect(submission.state).toBe("idle");
  });

  it("does not take a refusal for news of what is in doubt", async () => {
    gateway.faults = ["cut after"];
    gateway.onRequest = () => {
      gateway.refusal = gateway.log.length > 1 ? { status: 401, type: "unauthenticated" } : undefined;
    };
    const submission = page(gateway, new MemoryStore()).submission(action);
    await expect(settle(submission.submit())).rejects.toBeInstanceOf(UnknownError);
    await expect(settle(submission.watch())).rejects.toBeInstanceOf(UnknownError);
    expect(submission.state).toBe("unknown");
  });
});

describe("what failed", () => {
  it.each(["wait", "watch"] as const)("may have been retried since, so it is asked for: %s", async (how) => {
    gateway.phase = "Failed";
    const store = new MemoryStore();
    await settle(page(gateway, store).submission(action).submit());
    gateway.there.set(action.key, { ...viewNow(), phase: "Processing" });
    gateway.events = () => stream(told(1, "Processing"), told(2, "Success"));
    const later = page(gateway, store).submission(action);
    expect(later.view).toMatchObject({ phase: "Failed" });
    expect(await settle(later[how]())).toMatchObject({ phase: "Success" });
    expect(gateway.methods()).toBe("POST GET GET");
  });

  it.each<[string, () => void]>([
    ["deleted", () => gateway.there.clear()],
    ["the network is away", () => gateway.faults.push("cut before")],
    ["refused", () => (gateway.refusal = { status: 401, type: "unauthenticated" })],
    ["another one's by now", () => gateway.there.set(action.key, { ...viewNow(), parameters: {}, phase: "Success" })],
  ])("stays so, where nobody can say more: %s", async (_, prepare) => {
    gateway.phase = "Failed";
    const submission = page(gateway, new MemoryStore()).submission(action);
    await settle(submission.wait());
    prepare();
    expect(await settle(submission.wait())).toMatchObject({ phase: "Failed" });
    expect([submission.state, gateway.methods()]).toEqual(["submitted", "POST GET"]);
  });
});

describe("a view that is older than what is known", () => {
  it("does not undo a success", async () => {
    const one = page(gateway, new MemoryStore()).submission(action);
    gateway.events = () => {
      one.learn({ action, state: "submitted", doubt: false, view: { ...viewNow(), phase: "Success" } });
      return stream(told(1, "Processing"));
    };
    expect(await settle(one.wait())).toMatchObject({ phase: "Success" });
    expect(one.view).toMatchObject({ phase: "Success" });
  });

  it("nor does its deletion, once another tab has seen its end", async () => {
    const store = new MemoryStore();
    const one = page(gateway, store).submission(action);
    gateway.events = () => {
      one.learn({ action, state: "submitted", doubt: false, view: { ...viewNow(), phase: "Success" } });
      gateway.there.clear();
      return stream("event: gone\ndata: {}\n\n");
    };
    expect(await settle(one.wait())).toMatchObject({ phase: "Success" });
    expect(one.state).toBe("submitted");
  });
});

describe("a listener that throws", () => {
  it("is the page's own fault, and stops nothing", async () => {
    gateway.phase = "Success";
    const thrown: unknown[] = [];
    const queue = globalThis.queueMicrotask;
    const report = vi.spyOn(globalThis, "queueMicrotask").mockImplementation((run) => {
      queue(() => {
        try {
          run();
        } catch (error) {
          thrown.push(error);
        }
      });
    });
    const fault = new TypeError("no such element");
    const client = page(gateway, new MemoryStore());
    const submission = client.submission(action);
    submission.onChange(() => {
      throw fault;
    });
    const heard = vi.fn();
    submission.onChange(heard);
    expect(await settle(submission.submit())).toMatchObject({ phase: "Success" });
    report.mockRestore();
    client.close(); // the pages of other tests would be heard
    expect(heard).toHaveBeenCalledTimes(2);
    expect(thrown).toEqual([fault, fault]);
  });
});

describe("what is there, and is not told", () => {
  it.each([
    [401, "unauthenticated"],
    [403, "forbidden"],
    [422, "key-reused"],
  ])("is never said to be refused: %i", async (status, type) => {
    gateway.events = () => {
      gateway.refusal = { status, type };
      return stream(told(1, "Processing"));
    };
    const submission = page(gateway, new MemoryStore()).submission(action);
    await expect(settle(submission.wait())).rejects.toBeInstanceOf(UnknownError);
    expect(submission.state).toBe("submitted");
    gateway.refusal = undefined;
    gateway.events = () => stream(told(2, "Success"));
    expect(await settle(submission.wait())).toMatchObject({ phase: "Success" });
    expect(gateway.created).toEqual([action.key]);
  });
});

describe("server-sent events", () => {
  it.each([
    ["one", ["event: a\nid: 1\ndata: x\n\n"], ["a 1 x"]],
    ["cut into pieces", ["ev", "ent: a\ni", "d: 1\nda", "ta: x\n", "\n"], ["a 1 x"]],
    ["ends of lines of all kinds", ["event: a\r\ndata: x\r\n\r\n", "data: y\r", "\rdata: z\n\n"], ["a 0 x", "message 0 y", "message 0 z"]],
    ["\\r and \\n in two pieces", ["data: x\r", "\ndata: y\r", "\n\r", "\n"], ["message 0 x\ny"]],
    ["several lines", ["data: x\ndata: y\n\n"], ["message 0 x\ny"]],
    ["comments, and events without data", [": hello\n\nevent: a\n\ndata:x\n\n"], ["message 0 x"]],
    ["the id stays", ["id: 5\ndata: x\n\ndata: y\n\n"], ["message 5 x", "message 5 y"]],
    ["what is not whole is nothing", ["data: x\n\ndata: y\n"], ["message 0 x"]],
    ["a letter cut in two", ["data: \u00e9\n\n"], ["message 0 \u00e9"]],
  ])("%s", async (reason, chunks, expected) => {
    vi.useRealTimers();
    const bytes = chunks.map((chunk) => new TextEncoder().encode(chunk));
    const pieces = reason.startsWith("a letter") ? [...(bytes[0] ?? [])].map((byte) => Uint8Array.of(byte)) : bytes;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        pieces.forEach((piece) => controller.enqueue(piece));
        controller.close();
      },
    });
    const seen: string[] = [];
    for await (const { type, id, data } of events(body, "0")) {
      seen.push(`${type} ${id} ${data}`);
    }
    expect(seen).toEqual(expected);
  });
});
