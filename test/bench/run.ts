/**
 * `npm run bench [suite …]`: every figure beside one measured in the same run, since no two machines are alike and this
 * one may be busy. Results go to `test/bench/results`.
 */
import { benchCatalog } from "./catalog.ts";
import { benchDeliveries } from "./deliveries.ts";
import { benchDurable } from "./durable.ts";
import { benchHub } from "./hub.ts";
import { benchMemory } from "./memory.ts";
import { benchReceiver } from "./receiver.ts";
import { type Measure, print, write } from "./report.ts";
import { benchStart } from "./start.ts";

const suites: Record<string, () => Promise<Measure[]>> = {
  receiver: benchReceiver,
  start: benchStart,
  memory: benchMemory,
  durable: benchDurable,
  deliveries: benchDeliveries,
  hub: benchHub,
  catalog: benchCatalog,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !suites[name]);
if (unknown.length > 0) {
  process.stderr.write(`no suite ${unknown.join(", ")}: there are ${Object.keys(suites).join(", ")}\n`);
  process.exit(2);
}
for (const [name, bench] of Object.entries(suites)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const measures = await bench();
  print(name, measures);
  write(new URL("results/", import.meta.url), name, measures);
}
