import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryStore, type Submission } from "../src/index.js";
import { action, FakeGateway, page } from "./gateway.js";

let gateway: FakeGateway;
let submission: Submission;

beforeEach(() => {
  vi.useFakeTimers();
  gateway = new FakeGateway();
  submission = page(gateway, new MemoryStore()).submission(action);
});

afterEach(() => {
  expect(vi.getTimerCount(), "nothing is left running").toBe(0);
  vi.useRealTimers();
});

async function settle<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  await vi.runAllTimersAsync();
  return promise;
}

const [first, second] = [new Error("the first has left"), new Error("the second has left")];

describe("two who wait for one submission", () => {
  it.each(["submit", "wait"] as const)("the first one's leaving does not stop the second's: %s", async (how) => {
    gateway.faults = ["cut before"];
    const [a, b] = [new AbortController(), new AbortController()];
    const one = submission[how]({ signal: a.signal });
    const two = submission[how]({ signal: b.signal });
    one.catch(() => {});
    await vi.advanceTimersByTimeAsync(1);
    a.abort(first);
    await expect(one).rejects.toBe(first);
    expect(await settle(two)).toMatchObject({ phase: "Success" });
    expect(gateway.methods()).toBe("POST GET POST");
  });

  it.each(["submit", "wait"] as const)("the second one's leaving is heard at once, and does not stop the first's: %s", async (how) => {
    gateway.faults = ["silent"];
    const [a, b] = [new AbortController(), new AbortController()];
    const one = submission[how]({ signal: a.signal });
    const two = submission[how]({ signal: b.signal });
    two.catch(() => {});
    await vi.advanceTimersByTimeAsync(1);
    b.abort(second);
    await expect(two).rejects.toBe(second);
    expect(await settle(one)).toMatchObject({ phase: "Success" });
  });

  it("who gave no signal never leaves", async () => {
    gateway.faults = ["silent"];
    const a = new AbortController();
    const [one, two] = [submission.submit({ signal: a.signal }), submission.submit()];
    one.catch(() => {});
    a.abort(first);
    await expect(one).rejects.toBe(first);
    expect(await settle(two)).toMatchObject({ phase: "Success" });
  });

  it("it is called off when both have left, and begins anew for a third", async () => {
    gateway.faults = ["silent"];
    const [a, b] = [new AbortController(), new AbortController()];
    const both = [submission.submit({ signal: a.signal }), submission.submit({ signal: b.signal })];
    both.map((one) => one.catch(() => {}));
    await vi.advanceTimersByTimeAsync(1);
    a.abort(first);
    b.abort(second);
    const third = submission.submit(); // in the same moment
    await expect(both[0]).rejects.toBe(first);
    await expect(both[1]).rejects.toBe(second);
    expect(await settle(third)).toMatchObject({ phase: "Success" });
    expect([submission.state, gateway.methods()]).toEqual(["submitted", "POST GET"]);
  });

  it("who has left already begins nothing", async () => {
    await expect(settle(submission.submit({ signal: AbortSignal.abort(first) }))).rejects.toBe(first);
    expect([submission.state, gateway.methods()]).toEqual(["idle", ""]);
  });
});
