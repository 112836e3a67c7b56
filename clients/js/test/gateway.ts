import type { ClientOptions, KeyValueStore, View } from "../src/index.js";
import { Client } from "../src/index.js";

/** What becomes of one request. */
export type Fault =
  | "none"
  /** It never arrives. */
  | "cut before"
  /** It arrives, and its answer does not. */
  | "cut after"
  /** It arrives, and no answer comes. */
  | "silent"
  /** It arrives after its sender has given it up. */
  | "late"
  /** A proxy answers for the gateway, which did get it. */
  | "502"
  /** A portal answers with a page. */
  | "portal"
  /** A proxy knows no such page. */
  | "proxy's 404"
  /** A firewall refuses, in JSON, what the gateway never saw. */
  | "firewall's 403"
  | "429"
  | "503";

export const faults: Fault[] = ["none", "cut before", "cut after", "silent", "late", "502", "portal", "proxy's 404", "firewall's 403", "429", "503"];

export interface Logged {
  method: string;
  path: string;
  fault: Fault;
  headers: Headers;
}

/** A gateway in this process, with a network that does as it is told. */
export class FakeGateway {
  readonly log: Logged[] = [];
  readonly there = new Map<string, View>();
  /** How often something came to be: more than once for a key is a double. */
  readonly created: string[] = [];
  /** What becomes of the next requests. */
  faults: Fault[] = [];
  /** How a submission stands when it was created. */
  phase: View["phase"] = "Success";
  /** What is answered instead of anything else. */
  refusal: { status: number; type: string } | undefined;
  /** Called with each request before anything else. */
  onRequest: (request: Logged) => unknown = () => {};
  /** Answers requests for events; undefined: there are none. */
  events: ((lastId: string) => Response) | undefined;
  readonly #late: (() => void)[] = [];

  readonly fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const path = String(url).replace(/^.*\/submissions/, "");
    const request: Logged = { method: init.method ?? "GET", path, fault: this.faults.shift() ?? "none", headers: new Headers(init.headers) };
    this.log.push(request);
    this.onRequest(request);
    init.signal?.throwIfAborted();
    const answer = (): Response => this.#answer(request, String(init.body));
    switch (request.fault) {
      case "none":
        return answer();
      case "cut before":
        throw new TypeError("Failed to fetch");
      case "cut after":
        answer();
        throw new TypeError("Failed to fetch");
      case "silent":
        answer();
        return aborted(init.signal);
      case "late":
        this.#late.push(answer);
        return aborted(init.signal);
      case "502":
        answer();
        return new Response("<h1>Bad gateway</h1>", { status: 502 });
      case "portal":
        return new Response("<h1>Log in to the train's network</h1>", { status: 200 });
      case "proxy's 404":
        return new Response("<h1>Not found</h1>", { status: 404 });
      case "firewall's 403":
        return Response.json({ type: "about:blank", title: "Forbidden" }, { status: 403 });
      case "429":
        return problem(429, "too-many-requests", undefined, { "Retry-After": "2" });
      case "503":
        return problem(503, "unavailable", undefined, { "Retry-After": "3" });
    }
  };

  /** Lets what was under way arrive. */
  arrive(): void {
    for (const answer of this.#late.splice(0)) {
      answer();
    }
  }

  methods(): string {
    return this.log.map((request) => request.method).join(" ");
  }

  #answer(request: Logged, body: string): Response {
    if (this.refusal) {
      return problem(this.refusal.status, this.refusal.type);
    }
    if (request.path.endsWith("/events")) {
      return this.events?.(request.headers.get("Last-Event-ID") ?? "") ?? problem(500, "internal");
    }
    return request.method === "POST" ? this.#create(request, JSON.parse(body)) : this.#show(request.path);
  }

  #create(request: Logged, { template, parameters }: Pick<View, "template" | "parameters">): Response {
    const key = JSON.parse(request.headers.get("Idempotency-Key") ?? "");
    const known = this.there.get(key);
    if (known && !["KeyReused", "InvalidParameters"].includes(known.reason)) {
      const same = JSON.stringify([known.template, known.parameters]) === JSON.stringify([template, parameters]);
      return same ? outcome(known) : problem(422, "key-reused", known);
    }
    const view: View = { name: `name-of-${key}`, idempotencyKey: key, template, parameters, phase: this.phase, reason: "Applied" };
    this.there.set(key, view);
    this.created.push(key);
    return this.phase === "Processing" ? Response.json(view, { status: 202 }) : outcome(view);
  }

  #show(path: string): Response {
    const key = new URLSearchParams(path.replace(/^\?/, "")).get("idempotencyKey");
    const view = [...this.there.values()].find((v) => v.idempotencyKey === key || decodeURIComponent(path) === `/${v.name}`);
    return view ? Response.json(view) : problem(404, "not-found");
  }
}

function outcome(view: View): Response {
  switch (view.phase) {
    case "Success":
      return Response.json(view, { status: 201 });
    case "Failed":
      return problem(424, "not-applied", view);
    default:
      return problem(409, "in-process", view, { "Retry-After": "1" });
  }
}

export function problem(status: number, type: string, submission?: View, headers: Record<string, string> = {}): Response {
  const body = { type: `https://taskonce.dev/problems/${type}`, title: type, status, submission };
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/problem+json", ...headers } });
}

function aborted(signal: AbortSignal | null | undefined): Promise<Response> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}

export const action = { key: "task:42:stu-7", template: "award-points", parameters: { taskId: 42, studentId: "stu-7" } };

/** A page: a client on a store, which another page may share. */
export function page(gateway: FakeGateway, store: KeyValueStore, more: Partial<ClientOptions> = {}): Client {
  return new Client({ url: "https://gateway.example/", namespace: "shop", user: "ann", token: () => "token", fetch: gateway.fetch as typeof fetch, store, random: () => 0.5, wake: () => () => {}, ...more });
}
