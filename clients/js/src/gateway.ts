import type { Payload } from "./action.js";
import type { Answer } from "./answer.js";
import { read } from "./answer.js";
import { headerValue } from "./key.js";
import type { ServerEvent } from "./sse.js";
import { events } from "./sse.js";

/** How the gateway is reached. */
export interface GatewayOptions {
  /** Where the gateway is, such as https://actions.example.org. */
  url: string;
  namespace: string;
  /** Returns the bearer token, anew for each request. Where it rejects, so does what asked for it, and nothing is sent. */
  token?: () => string | Promise<string>;
  /** What sends requests; the global fetch where it is left out. */
  fetch?: typeof fetch;
  /** How long one request may take before its answer is taken as lost, in milliseconds; 15 seconds where it is left out. */
  timeout?: number;
}

/** How long the gateway is asked to wait for the outcome before it answers, in seconds. */
const wait = 5;

/** How long a connection for events may be silent: the gateway sends a comment every 15 seconds. */
const silence = 45_000;

/** One gateway: each method is one request. Where token() rejects, none is sent. One that the signal called off is lost. */
export class Gateway {
  constructor(private readonly options: GatewayOptions) {}

  /** Returns the token of one request. What it rejects with is the page's: nothing was sent. */
  async token(): Promise<string | undefined> {
    return this.options.token?.();
  }

  /** Sends the action, with a token that was there before it was said to be under way. */
  send(action: Payload, token: string | undefined, signal?: AbortSignal): Promise<Answer> {
    const { key, template, parameters } = action;
    return this.#request(signal, token, "", {
      method: "POST",
      headers: { "Idempotency-Key": headerValue(key), "Content-Type": "application/json", Prefer: `wait=${wait}` },
      body: JSON.stringify({ template, parameters }),
    });
  }

  /** Asks for the submission of a key. It creates nothing. */
  ask(key: string, token: string | undefined, signal?: AbortSignal): Promise<Answer> {
    return this.#request(signal, token, `?idempotencyKey=${encodeURIComponent(key)}`, { cache: "no-store" });
  }

  /** Asks for a submission by its name. */
  async get(name: string, signal?: AbortSignal): Promise<Answer> {
    return this.#request(signal, await this.token(), `/${encodeURIComponent(name)}`, { cache: "no-store" });
  }

  /** Yields a submission's events until the connection ends, or throws the signal's reason. Where there are none to be had, it ends at once. */
  async *events(name: string, lastId: string, signal?: AbortSignal): AsyncGenerator<ServerEvent> {
    const token = await this.token();
    const silent = new AbortController();
    let timer = setTimeout(() => silent.abort(), silence);
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (lastId !== "") {
      headers["Last-Event-ID"] = lastId;
    }
    try {
      const ended = any(silent.signal, signal);
      const response = await this.#fetch(token, `/${encodeURIComponent(name)}/events`, { headers, cache: "no-store", signal: ended });
      if (response.status !== 200 || !response.body || !response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
        await response.body?.cancel();
        return;
      }
      const heard = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          clearTimeout(timer);
          timer = setTimeout(() => silent.abort(), silence);
          controller.enqueue(chunk);
        },
      });
      yield* events(response.body.pipeThrough(heard, { signal: ended }), lastId);
    } catch {
      signal?.throwIfAborted(); // else it was cut, and is taken up again
    } finally {
      clearTimeout(timer);
      silent.abort();
    }
  }

  async #request(signal: AbortSignal | undefined, token: string | undefined, path: string, init: RequestInit): Promise<Answer> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.options.timeout ?? 15_000);
    try {
      return await read(await this.#fetch(token, path, { ...init, signal: any(late.signal, signal) }));
    } catch {
      return { is: "lost", after: 0 };
    } finally {
      clearTimeout(timer);
      late.abort(); // so nothing of this request stays with the given signal
    }
  }

  async #fetch(token: string | undefined, path: string, init: RequestInit): Promise<Response> {
    const { url, namespace } = this.options;
    const headers = new Headers(init.headers);
    if (token !== undefined) {
      headers.set("Authorization", `Bearer ${token}`);
    }
    const send = this.options.fetch ?? globalThis.fetch;
    return send(`${url.replace(/\/+$/, "")}/v1/namespaces/${encodeURIComponent(namespace)}/submissions${path}`, { ...init, headers });
  }
}

/** AbortSignal.any, which older browsers lack. */
function any(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  if (!given) {
    return own;
  }
  const both = new AbortController();
  for (const signal of [own, given]) {
    if (signal.aborted) {
      both.abort(signal.reason);
    }
    signal.addEventListener("abort", () => both.abort(signal.reason), { signal: both.signal });
  }
  return both.signal;
}
