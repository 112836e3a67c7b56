import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Answer, read } from "../src/answer.js";

interface Answered {
  situation: string;
  status: number;
  contentType: string;
  retryAfter: string;
  body: unknown;
}

/** What the gateway really answered: a test in front of a real API server keeps it so. */
const answers: Answered[] = JSON.parse(readFileSync(new URL("../../answers.json", import.meta.url), "utf8"));

/** What each status means to the client, whatever the situation. */
const meaning: Record<number, Answer["is"]> = { 200: "there", 201: "there", 202: "there", 400: "refused", 401: "refused", 403: "refused", 408: "lost", 409: "there", 413: "refused", 415: "refused", 422: "other", 424: "there", 429: "busy", 503: "lost" };

/** What problems mean that share their status with others: what is there, and somebody else's, was not refused. */
const meant: Record<string, Answer["is"]> = { "not-told": "lost", "key-blocked": "refused" };

const kind = ({ body }: Answered) => (body as { type?: string } | null)?.type?.replace("https://taskonce.dev/problems/", "") ?? "";

/** The client asks for nothing of the kind, or asks for it in another way. */
const others = answers.filter(({ body, status }) => body === null || status === 405);
const missing = answers.filter(({ status }) => status === 404);
const known = answers.filter((answer) => !others.includes(answer) && !missing.includes(answer));

function response({ status, contentType, retryAfter, body }: Answered): Response {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": contentType, ...(retryAfter && { "Retry-After": retryAfter }) } });
}

describe("every answer of the gateway is understood", () => {
  it.each(known)("$status: $situation", async (answer) => {
    const got = await read(response(answer));
    expect(got.is).toBe(meant[kind(answer)] ?? meaning[answer.status]);
    if ("after" in got) {
      expect(got.after).toBe(Number(answer.retryAfter) * 1000);
    }
  });

  it("tells a submission that is not there from a namespace or a path that is not there", async () => {
    expect(await Promise.all(missing.map(async (answer) => [kind(answer), (await read(response(answer))).is]))).toEqual([["not-found", "absent"], ["no-such-namespace", "refused"], ["no-such-path", "refused"]]);
  });

  it.each([
    ["2", 2_000],
    ["60", 60_000],
    ["86400", 60_000],
    ["9999999999", 60_000],
    ["9".repeat(400), 60_000],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 60_000],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["-5", 0],
    ["soon", 0],
  ])("waits a minute at most: Retry-After %s", async (retryAfter, after) => {
    expect(await read(new Response("", { status: 503, headers: { "Retry-After": retryAfter } }))).toEqual({ is: "lost", after });
  });

  it.each([408, 500, 599])("a request that was cut off may have arrived, whoever says so: %i", async (status) => {
    const body = { type: "https://taskonce.dev/problems/invalid-request", title: "The request took too long", status };
    expect(await read(new Response(JSON.stringify(body), { status }))).toEqual({ is: "lost", after: 0 });
  });

  it("takes what failed by its own input for there", async () => {
    const failed = answers.find(({ status }) => status === 424)?.body as { submission: unknown };
    const body = { ...failed, type: "https://taskonce.dev/problems/invalid-parameters" };
    expect((await read(new Response(JSON.stringify(body), { status: 400 }))).is).toBe("there");
  });
});
