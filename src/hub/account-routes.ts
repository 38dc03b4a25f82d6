/** Who one is here, and what the official clients ask before anything else. */
import { Router } from "express";
import { answer } from "./answer.ts";
import { type Callers, callerOf } from "./callers.ts";
import { userIdOf } from "./ids.ts";

export function accountRoutes(callers: Callers): Router {
  const routes = Router();
  routes.get("/api/whoami-v2", (request, response) => {
    const name = callerOf(response);
    answer(request, response, {
      type: "user",
      id: userIdOf(name),
      name,
      fullname: name,
      isPro: false,
      orgs: [],
      auth: { type: "access_token", accessToken: { displayName: "hubhook hub", role: "write" } },
    });
  });
  routes.get("/api/hub/csrf-token", (request, response) => {
    answer(request, response, { token: callers.open ? callers.csrfToken : null });
  });
  return routes;
}

/**
 * What clients and machines ask without a token.
 * @param troubles why events cannot be taken now; empty when they can
 */
export function publicRoutes(troubles: () => string[]): Router {
  const routes = Router();
  // Asked by each process of `hf`. None is known here, so none is looked for.
  routes.get("/api/agent-harnesses", (request, response) =>
    answer(request, response, { standardEnvVars: [], harnesses: {} }),
  );
  routes.get("/api/jobs/hardware", (request, response) => {
    const cost = { unitCostMicroUSD: 0, unitCostUSD: 0, unitLabel: "minute" };
    const hardware = { name: "cpu-basic", prettyName: "This machine", cpu: "shared", ram: "shared", accelerator: null };
    answer(request, response, [{ ...hardware, ...cost }]);
  });
  routes.get("/health", (request, response) => answer(request, response, { status: "ok" }));
  routes.get("/ready", (request, response) => {
    const found = troubles();
    const ready = found.length === 0;
    answer(request, response, { ready, troubles: found }, ready ? 200 : 503);
  });
  return routes;
}
