import { expect, it } from "@jest/globals";
import { makeSender } from "../../src/cli/send.ts";
import { startTarget } from "../support/target.ts";

it("gives up on an answer that does not come in time", async () => {
  await using target = await startTarget("hang");
  const sender = makeSender({ timeoutMs: 50 });
  const sent = await sender.send({ url: new URL(target.url), body: "{}", secret: null, userAgent: "test" });
  sender.close();
  expect(sent.answer).toBeNull();
  expect(sent.trouble).toEqual({ code: "TIMEOUT", message: "no answer within 0.05 s, and the Hub waits no longer" });
});
