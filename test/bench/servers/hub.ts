/** A hub that a benchmark speaks to over HTTP and asks for quiet: a message in, `{ idle: true }` out. */
import { startHub } from "../../../src/hub/hub.ts";
import { createSilentLogger } from "../../../src/logger.ts";

const begun = performance.now();
const hub = await startHub({
  dataDir: process.env.BENCH_FOLDER ?? ".",
  settings: { port: 0, quota: 1_000_000_000, rateLimit: 1_000_000_000, connectTimeoutMs: 1_000 },
  log: createSilentLogger(),
  version: "0",
});
process.send?.({ port: hub.port, startMs: performance.now() - begun });
process.on("SIGINT", () => process.exit(0));
process.on("message", async () => {
  await hub.idle();
  process.send?.({ idle: true, rss: process.memoryUsage().rss });
});
