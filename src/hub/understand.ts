/** What a caller sent, held against a schema; what was not understood is 400 and names the field. */
import { z } from "zod";
import { HttpError } from "../errors.ts";

/** Of a few megabytes of nonsense nobody wants to hear more. */
const MAX_ISSUES = 20;

/** @param under where the value stands in the body, as `events.3` */
export function understand<Schema extends z.ZodType>(schema: Schema, value: unknown, under = ""): z.output<Schema> {
  const result = schema.safeParse(value, { error: expected });
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({
    path: (under === "" ? path : [under, ...path]).join("."),
    message,
  }));
  const list = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  throw invalid(list.slice(0, 5).join("; "), issues);
}

export function invalid(message: string, issues: { path: string; message: string }[] = []): HttpError {
  return new HttpError(400, message, { code: "request_invalid", issues });
}

/** Sentences where a schema gives none. */
function expected(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type" && !issue.path?.length)
    return issue.input === undefined
      ? "a JSON body is missing"
      : `the body is no JSON object, but ${kindOf(issue.input)}`;
  if (issue.code === "invalid_type")
    return issue.input === undefined
      ? "is missing"
      : `expected ${kindIn(issue.expected)}, found ${kindOf(issue.input)}`;
  if (issue.code === "too_small" && issue.origin === "string") return "is empty";
  if (issue.code === "invalid_key") return issue.issues[0]?.message;
  if (issue.code === "unrecognized_keys") return `unknown: ${issue.keys.join(", ")}`;
  return undefined;
}

/** As JSON has them. */
function kindIn(expected: string): string {
  return expected === "record" ? "object" : expected;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

export const time = z.iso
  .datetime({ offset: true, error: "expected a time as 2026-11-21T10:00:00Z" })
  .transform((text) => new Date(text));
