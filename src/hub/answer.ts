/** How the hub answers: JSON that nobody keeps, and errors in the words that the Hub's clients read. */
import type { Request, Response } from "express";
import type { HttpError } from "../errors.ts";
import { sendJson } from "../http/answers.ts";

export function answer(request: Request, response: Response, body: unknown, status = 200): void {
  sendJson(request, response, status, JSON.stringify(body), { "Cache-Control": "no-store" });
}

/** Codes of ours that the Hub's clients know by a name of its own. */
const HUB_CODES: Record<string, string> = { repo_unknown: "RepoNotFound" };

export function errorHeaders({ message, code }: HttpError): Record<string, string> {
  // Anything but visible ASCII could end the header, or arrive as something else.
  const text = message.replace(/[^\x20-\x7e]+/g, " ").slice(0, 1_000);
  return { "X-Error-Message": text, "X-Error-Code": HUB_CODES[code] ?? code };
}
