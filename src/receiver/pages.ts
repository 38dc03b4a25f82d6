/** The static pages: a person's own folder first, the built-in one behind it. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import express, { type RequestHandler, Router } from "express";
import helmet from "helmet";

export const BUILT_IN_PUBLIC = fileURLToPath(new URL("../../public", import.meta.url));

/** A folder or a file to serve as the landing page, or an Express handler that answers in its place. */
export type Ui = string | RequestHandler;

export function pageRoutes(ui: Ui): Router {
  const routes = Router();
  routes.use(pageHeaders());
  if (typeof ui === "function") routes.get("/", ui);
  else routes.use(ownPages(resolve(ui)));
  if (ui !== BUILT_IN_PUBLIC) routes.use(express.static(BUILT_IN_PUBLIC));
  return routes;
}

function ownPages(path: string): RequestHandler {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return express.static(path);
  const folder = express.static(dirname(path), { index: false });
  return (request, response, next) =>
    request.path === "/" ? response.sendFile(path) : folder(request, response, next);
}

/** On a Space the page lives in an iframe of huggingface.co. Scripts and styles come from files of ours alone. */
function pageHeaders(): RequestHandler {
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
        frameAncestors: ["'self'", "https://huggingface.co"],
      },
    },
    xFrameOptions: false,
  });
}
