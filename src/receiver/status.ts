/** `GET /api/endpoints`, `/health`, `/ready`: what the receiver says of itself. */
import { Router } from "express";
import { sendJson } from "../http/answers.ts";
import type { Lifecycle } from "../http/lifecycle.ts";
import type { Registry } from "./registry.ts";

export interface Status {
  registry: Registry;
  lifecycle: Lifecycle;
  secret: boolean;
  /** Is a catalog of language resources shown at `/catalog`? */
  catalog: boolean;
  /** Sentences that the owner should read, on the page too. */
  notices: string[];
  /** The address under which the world reaches the receiver; never taken from a request. */
  publicUrl(): string;
  /** Why the receiver cannot do its work now; empty when it can. */
  troubles(): string[];
  /** What should be mended though deliveries are taken: told beside the troubles, and no reason to send none. */
  concerns(): string[];
}

/** What `GET /api/endpoints` answers, for the landing page and for people's own pages. */
export interface EndpointsAnswer {
  url: string;
  secret: boolean;
  endpoints: EndpointEntry[];
  broken: { file: string; problem: string }[];
  notices: string[];
  /** Where a catalog is shown at `/catalog`. */
  catalog?: true;
}

export interface EndpointEntry {
  name: string;
  path: string;
  url: string;
  mode: string;
  on: string[] | null;
  repos: string[] | null;
  refs: string[] | null;
  description: string | null;
  file: string | null;
}

export function statusRoutes(status: Status): Router {
  const { registry, lifecycle } = status;
  const routes = Router();
  routes.get("/api/endpoints", (request, response) => {
    sendJson(request, response, 200, JSON.stringify(endpointsAnswer(status)), { "Cache-Control": "no-store" });
  });
  routes.get("/health", (request, response) => sendJson(request, response, 200, '{"status":"ok"}', NO_STORE));
  routes.get("/ready", (request, response) => {
    const troubles = lifecycle.draining ? ["the receiver is shutting down"] : status.troubles();
    const body = {
      ready: troubles.length === 0,
      endpoints: registry.list().length,
      running: lifecycle.running,
      troubles: [...troubles, ...status.concerns()],
    };
    sendJson(request, response, body.ready ? 200 : 503, JSON.stringify(body), NO_STORE);
  });
  return routes;
}

const NO_STORE = { "Cache-Control": "no-store" };

export function endpointsAnswer({ registry, secret, catalog, notices, publicUrl }: Status): EndpointsAnswer {
  const url = publicUrl();
  const endpoints = registry.list().map(({ name, path, mode, on, repos, refs, description, file }) => ({
    name,
    path,
    url: url + path,
    mode,
    on,
    repos,
    refs,
    description,
    file: file && fileName(file),
  }));
  const broken = registry.broken.map(({ file, problem }) => ({
    file: fileName(file),
    problem: withoutFolder(problem, file),
  }));
  return { url, secret, endpoints, broken, notices, ...(catalog && { catalog }) };
}

// The page is public: it names files, not where on the machine they lie.
function fileName(path: string): string {
  return path.replace(/^.*[\\/]/, "");
}

function withoutFolder(problem: string, file: string): string {
  const folder = file.slice(0, file.length - fileName(file).length);
  return folder ? problem.replaceAll(`file://${folder}`, "").replaceAll(folder, "") : problem;
}
