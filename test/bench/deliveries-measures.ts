/** Small tools of the engine's benchmarks. */
import { fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewDelivery } from "../../src/deliveries/delivery.ts";

/** A folder on a real disk where there is one: /tmp may be memory. */
export function benchFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "bench-deliveries-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export function sample(n: number, key?: string): NewDelivery {
  return {
    receiver: "trigger_training",
    key,
    scope: "repo.content",
    action: "update",
    repo: "dataset:me/texts",
    payload: PAYLOAD,
    headers: { "user-agent": "hub", n: String(n) },
  };
}

/** As large as what the Hub sends. */
const PAYLOAD = JSON.stringify({
  event: { action: "update", scope: "repo.content" },
  repo: {
    type: "dataset",
    name: "me/texts",
    id: "621ffdc036468d709f17434d",
    private: false,
    url: { web: "https://hub.example/datasets/me/texts", api: "https://hub.example/api/datasets/me/texts" },
    owner: { id: "628b753283ef59b5be89e937" },
    headSha: "5f2c7a1c2e1d4b7a9f0c3d8e6b5a49382716f0ed",
  },
  updatedRefs: [{ ref: "refs/heads/main", oldSha: "a".repeat(40), newSha: "b".repeat(40) }],
  webhook: { id: "6390e855e30d9209411de93b", version: 3 },
});

/** The disk's own wait for a small write, milliseconds at the 50th and 99th percentile. */
export function fsyncTimes(folder: string, times = 300): { p50: number; p99: number } {
  const file = openSync(join(folder, "fsync"), "w");
  const block = Buffer.alloc(4096, 1);
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    writeSync(file, block);
    const begun = performance.now();
    fdatasyncSync(file);
    took.push(performance.now() - begun);
  }
  return { p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
}

export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
