import { Writable } from "node:stream";
import { describe, expect, it } from "@jest/globals";
import { createLogger, createSilentLogger } from "../src/logger.ts";
import { completePayload } from "../src/protocol/sample.ts";
import { webhook } from "../src/receiver/webhook.ts";
import { capturedLog, deliver, startTestReceiver } from "./support/receiver.ts";

/** A stream that says it is a terminal. */
function terminal() {
  let text = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY: true }), written: () => text };
}

const ESC = "\u001b";
const CSI = "\u009b";

describe("the log as JSON", () => {
  it("is one object a line, with time, level, message and fields", () => {
    const { log, written } = capturedLog("json");
    log.info("hello", { status: 200, nothing: undefined });
    const [line = "", rest] = written().split("\n");
    expect([JSON.parse(line), rest]).toEqual([
      { time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), level: "info", message: "hello", status: 200 },
      "",
    ]);
  });

  it("tells an error with its causes, and nothing that hangs on it", () => {
    const { log, written } = capturedLog("json");
    const cause = Object.assign(new Error("connection refused"), { config: { token: "hf_secret" } });
    log.error("no answer", { error: new TypeError("fetch failed", { cause }) });
    expect(JSON.parse(written())).toMatchObject({
      error: { name: "TypeError", message: "fetch failed", cause: { message: "connection refused" } },
    });
    expect(written()).not.toContain("hf_secret");
  });

  it("survives what JSON cannot hold, and errors that cause each other", () => {
    const { log, written } = capturedLog("json");
    const one = new Error("one");
    one.cause = new Error("two", { cause: one });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    log.info("a", { big: 1n });
    log.info("b", circle);
    log.info("c", { error: one });
    log.info("d", { s: Symbol("s"), f: () => 1 });
    const lines = written()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).message);
    expect(lines).toEqual(["a", "b", "c", "d"]);
  });

  it("keeps its own time, level and message whatever the fields are called", () => {
    const { log, written } = capturedLog("json");
    log.info("mine", { level: "error", time: "never" });
    expect(JSON.parse(written())).toMatchObject({
      level: "info",
      message: "mine",
      time: expect.stringMatching(/Z$/),
      fields: { time: "never" },
    });
  });
});

describe("the log for people", () => {
  it("is a line with fields, without colours where it is no terminal", () => {
    const { log, written } = capturedLog("pretty");
    log.warn("look here", { status: 200, words: "two words", nothing: undefined });
    expect(written()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}look here status=200 words="two words"\n$/);
  });

  it("has colours on a terminal, and none of ours are left in it", () => {
    const { stream, written } = terminal();
    const colours = process.env.FORCE_COLOR;
    process.env.FORCE_COLOR = "1";
    try {
      createLogger({ level: "info", format: null, stream }).info("hello", { a: 1 });
    } finally {
      if (colours === undefined) delete process.env.FORCE_COLOR;
      else process.env.FORCE_COLOR = colours;
    }
    expect(written()).toContain("hello");
    expect(written()).not.toContain("{");
  });

  it("shows an error with its causes below the line, indented", () => {
    const { log, written } = capturedLog("pretty");
    log.error("no answer", { error: new TypeError("fetch failed", { cause: new Error("connection refused") }) });
    const [first = "", ...rest] = written().trimEnd().split("\n");
    expect(first).toMatch(/error no answer$/);
    expect(rest.join("\n")).toMatch(/TypeError: fetch failed[\s\S]*because of:\n {4}Error: connection refused/);
    for (const line of rest) expect(line).toMatch(/^ {4}\S/);
  });

  it.each<[string, (word: string) => [string, object]]>([
    ["the message", (word) => [`a ${word}`, {}]],
    ["a field", (word) => ["a", { title: word }]],
    ["a field deep inside", (word) => ["a", { more: { titles: [word] } }]],
    ["an error's message", (word) => ["a", { error: new Error(word) }]],
    ["an error's cause", (word) => ["a", { error: new Error("x", { cause: new Error(word) }) }]],
    ["a thrown word", (word) => ["a", { error: word }]],
  ])("lets no word forge a line or steer the terminal by %s", (_name, make) => {
    const { log, written } = capturedLog("pretty");
    const forged = "12:00:00.000 error the disk is full";
    log.info(...make(`x\n${forged}\r${forged}\u2028${forged}\u0085${ESC}[2J${CSI}31m\u007f\u0007\u202e`));
    const lines = written()
      .trimEnd()
      .split(/[\n\r\u2028\u0085]/);
    expect(lines.filter((line) => line.startsWith("12:00"))).toEqual([]);
    expect(written().replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
  });
});

describe("every log", () => {
  it("leaves out what is below its level", () => {
    const { log, written } = capturedLog("json", "warn");
    log.info("no");
    log.debug("no");
    log.warn("yes");
    expect(written().trim().split("\n")).toHaveLength(1);
  });

  it("writes one line for a delivery, whatever its words are", async () => {
    const talker = webhook({ on: "discussion" }, (payload, { log }) => {
      log.info(`a discussion: ${payload.discussion?.title}`, { level: "error", endpoint: "another" });
    });
    const receiver = await startTestReceiver({ handlers: { talker } });
    const title = `x\n{"level":"error","message":"forged"}\n${ESC}[31m`;
    const payload = completePayload({ event: { scope: "discussion", action: "update" }, discussion: { title } });
    await deliver(`${receiver.url}/webhooks/talker`, payload);
    expect(receiver.lines).toMatchObject([
      { level: "info", message: `a discussion: ${title}`, endpoint: "talker" },
      { level: "info", message: "delivery", endpoint: "talker", status: 204 },
    ]);
  });

  it("may be silent", () => {
    expect(() => createSilentLogger().error("nobody hears this")).not.toThrow();
  });
});
