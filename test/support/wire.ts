/** HTTP spoken by hand over a bare socket: for what no HTTP client would send, and to see what truly comes back. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface WireAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Wire extends AsyncDisposable {
  socket: Socket;
  /** Resolves when the bytes are with the kernel. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** The next whole answer, interim ones (1xx) too. Rejects when the connection ends or is reset before it is there. */
  answer(options?: { head?: boolean }): Promise<WireAnswer>;
  /** Resolves with how the receiver ended the connection. */
  ended: Promise<"end" | "reset">;
}

export async function openWire(port: number): Promise<Wire> {
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
  let received = Buffer.alloc(0);
  let failure: Error | null = null;
  const ended = new Promise<"end" | "reset">((resolve) => {
    socket.on("error", (error) => {
      failure = error;
      resolve("reset");
    });
    socket.on("end", () => {
      failure ??= new Error(`the connection ended; so far: ${received.toString("latin1")}`);
      resolve("end");
    });
    socket.on("close", () => {
      failure ??= new Error("the connection was closed here");
      resolve("end");
    });
  });
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    socket.emit("progress");
  });
  void ended.then(() => socket.emit("progress"));
  await once(socket, "connect");
  return {
    socket,
    ended,
    send: (bytes) =>
      new Promise((resolve) => {
        socket.write(bytes, () => resolve());
      }),
    async answer({ head = false } = {}) {
      for (;;) {
        const parsed = takeAnswer(received, head);
        if (parsed) {
          received = received.subarray(parsed.length);
          return parsed.answer;
        }
        if (failure) throw failure;
        await once(socket, "progress");
      }
    },
    async [Symbol.asyncDispose]() {
      socket.destroy();
      if (!socket.closed) await once(socket, "close");
    },
  };
}

function takeAnswer(bytes: Buffer, bodyless: boolean): { answer: WireAnswer; length: number } | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  ) as Record<string, string>;
  const chunked = headers["transfer-encoding"] === "chunked";
  // Only Node's own refusals come in chunks, and they have none but the last.
  if (chunked && bytes.length < headEnd + 9) return null;
  if (chunked && bytes.toString("latin1", headEnd + 4, headEnd + 9) !== "0\r\n\r\n") throw new Error("a chunked body");
  const size = chunked ? 5 : bodyless ? 0 : Number(headers["content-length"] ?? 0);
  const length = headEnd + 4 + size;
  if (bytes.length < length) return null;
  return { answer: { status, headers, body: bytes.toString("utf8", headEnd + 4, length) }, length };
}

/** A request's head: a line, its headers, the empty line. */
export function head(line: string, headers: Record<string, string | number> = {}): string {
  const all = { Host: "localhost", ...headers };
  return `${line} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
}
