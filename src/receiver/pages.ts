/** The static pages: a person's own folder first, the built-in one behind it. */
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import express, { type RequestHandler, type Response, Router } from "express";
import helmet from "helmet";

export const BUILT_IN_PUBLIC = fileURLToPath(new URL("../../public", import.meta.url));

/**
 * `/inspect` is `inspect.html`. It shows payloads and can act: it opens in a tab of its own, never inside another page.
 * Told by the file and not by the path, which can be written in many ways.
 */
const STATIC = {
  extensions: ["html"],
  setHeaders: (response: Response, file: string) => {
    if (basename(file) === "inspect.html") unframed(response.req, response, () => {});
  },
};

/** A folder or a file to serve as the landing page, or an Express handler that answers in its place. */
export type Ui = string | RequestHandler;

export function pageRoutes(ui: Ui): Router {
  const routes = Router();
  routes.use(pageHeaders(["'self'", "https://huggingface.co"]));
  if (typeof ui === "function") routes.get("/", ui);
  else routes.use(ownPages(resolve(ui)));
  if (ui !== BUILT_IN_PUBLIC) routes.use(express.static(BUILT_IN_PUBLIC, STATIC));
  return routes;
}

function ownPages(path: string): RequestHandler {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return express.static(path, STATIC);
  const folder = express.static(dirname(path), { ...STATIC, index: false });
  return (request, response, next) =>
    request.path === "/" ? response.sendFile(path) : folder(request, response, next);
}

const unframed = pageHeaders(["'none'"]);

/** Scripts and styles come from files of ours alone. On a Space the landing page lives in an iframe of huggingface.co. */
function pageHeaders(frameAncestors: string[]): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", "data:"],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        manifestSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors,
      },
    },
    xFrameOptions: false,
  });
}
