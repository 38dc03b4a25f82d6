/** `--set path=value`: puts a value at a dotted path of a payload that is being made. */
import { UsageError } from "./exit.ts";

/** These would reach the prototypes that all objects share. */
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);
/** A list is filled up to its index: a slip of the finger must not fill the memory. */
const MAX_INDEX = 9_999;
const INDEX = /^(0|[1-9]\d*)$/;

type Container = Record<string, unknown> | unknown[];

/**
 * `assign(payload, "updatedRefs.0.ref=refs/pr/1")`. The value is JSON where it parses as such, else text. Objects and
 * lists on the way are made; a number makes a list.
 * @throws UsageError naming the assignment and the mend.
 */
export function assign(target: Record<string, unknown>, assignment: string): void {
  const at = assignment.indexOf("=");
  const path = assignment.slice(0, at).split(".");
  if (at < 1 || path.includes(""))
    throw new UsageError(`--set "${assignment}": write path=value, as updatedRefs.0.ref=refs/pr/1`);
  const refuse = (reason: string): never => {
    throw new UsageError(`--set "${assignment}": ${reason}`);
  };

  let here: Container = target;
  path.forEach((key, depth) => {
    if (FORBIDDEN.has(key)) refuse(`"${key}" may not be part of a path`);
    if (Array.isArray(here) && !INDEX.test(key))
      refuse(`${path.slice(0, depth).join(".")} is a list: "${key}" is no index`);
    if (Array.isArray(here) && Number(key) > MAX_INDEX) refuse(`an index goes up to ${MAX_INDEX}`);
    const inside = here as Record<string, unknown>;
    const next = path[depth + 1];
    if (next === undefined) {
      inside[key] = parseValue(assignment.slice(at + 1));
      return;
    }
    const found = Object.hasOwn(inside, key) ? inside[key] : undefined;
    if (found !== undefined && (typeof found !== "object" || found === null))
      refuse(`${path.slice(0, depth + 1).join(".")} is ${JSON.stringify(found)} already, and has no "${next}"`);
    inside[key] = found ?? (INDEX.test(next) ? [] : {});
    here = inside[key] as Container;
  });
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
