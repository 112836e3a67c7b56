/** One server-sent event. */
export interface ServerEvent {
  type: string;
  data: string;
  /** The last id that was seen, which a connection is taken up again with. */
  id: string;
}

/** Reads server-sent events as the HTML standard has them (9.2.6), from a body that is not given up by itself. */
export async function* events(body: ReadableStream<Uint8Array>, lastId: string): AsyncGenerator<ServerEvent> {
  let event: ServerEvent = { type: "message", data: "", id: lastId };
  for await (const line of lines(body)) {
    if (line === "") {
      if (event.data !== "") {
        yield { ...event, data: event.data.slice(0, -1) };
      }
      event = { type: "message", data: "", id: event.id };
      continue;
    }
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    switch (field) {
      case "event":
        event.type = value ?? "";
        break;
      case "data":
        event.data += `${value}\n`;
        break;
      case "id":
        event.id = value ?? "";
    }
  }
}

/** Splits a stream into lines. What comes after the last end of a line is not whole, and left out. */
async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      // A "\r" at the end may be the first half of "\r\n".
      const parts = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop() ?? "";
      yield* parts;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
