/** `GET /openapi.json`, from the schemas that check the requests. Made by the first who asks. */
import { Router } from "express";
import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { sendJson } from "../http/answers.ts";
import { payloadSchema } from "../protocol/payload.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Status } from "./status.ts";

/** @param others what other rooms answer here */
export function openApiRoutes(status: Status, others: ZodOpenApiPathsObject = {}): Router {
  const routes = Router();
  routes.get("/openapi.json", async (request, response) => {
    const document = await describeApi(status, others);
    sendJson(request, response, 200, JSON.stringify(document), { "Cache-Control": "no-store" });
  });
  return routes;
}

const errorSchema = z.object({
  error: z.string(),
  code: z.string(),
  requestId: z.string(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

const endpointsSchema = z.object({
  url: z.string(),
  secret: z.boolean(),
  endpoints: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      url: z.string(),
      mode: z.enum(["reply", "background"]),
      on: z.array(z.string()).nullable(),
      repos: z.array(z.string()).nullable(),
      refs: z.array(z.string()).nullable(),
      description: z.string().nullable(),
      file: z.string().nullable(),
    }),
  ),
  broken: z.array(z.object({ file: z.string(), problem: z.string() })),
  notices: z.array(z.string()),
  catalog: z.literal(true).optional(),
});

const readySchema = z.object({
  ready: z.boolean(),
  endpoints: z.number(),
  running: z.number(),
  troubles: z.array(z.string()),
});

const json = (schema: z.ZodType) => ({ content: { "application/json": { schema } } });
const failure = (description: string) => ({ description, ...json(errorSchema) });

async function describeApi({ registry, secret, publicUrl }: Status, others: ZodOpenApiPathsObject) {
  const { createDocument } = await import("zod-openapi");
  const paths = Object.fromEntries(
    registry.list().map((endpoint) => [endpoint.path, { post: postEndpoint(endpoint) }]),
  );
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "hubhook receiver",
      version: "1",
      description: "Endpoints for webhooks of the Hugging Face Hub.",
    },
    servers: [{ url: publicUrl() }],
    ...(secret && { security: [{ webhookSecret: [] }, { webhookSecretInUrl: [] }] }),
    components: {
      securitySchemes: {
        webhookSecret: { type: "apiKey", in: "header", name: "X-Webhook-Secret" },
        webhookSecretInUrl: { type: "apiKey", in: "query", name: "secret" },
      },
    },
    paths: {
      ...paths,
      ...others,
      "/api/endpoints": {
        get: { security: [], responses: { 200: { description: "The endpoints", ...json(endpointsSchema) } } },
      },
      "/health": {
        get: {
          security: [],
          responses: { 200: { description: "Alive", ...json(z.object({ status: z.literal("ok") })) } },
        },
      },
      "/ready": {
        get: {
          security: [],
          responses: {
            200: { description: "Ready for deliveries", ...json(readySchema) },
            503: { description: "Not ready; `troubles` says why", ...json(readySchema) },
          },
        },
      },
    },
  });
}

function postEndpoint({ name, description, on, mode }: Endpoint) {
  const accepted = mode === "reply" ? "Still running at the reply deadline" : "Stored; it runs in the background";
  return {
    operationId: name,
    summary: description ?? `Delivery to the handler ${name}`,
    ...(on && { description: `Runs for ${on.join(", ")}; other events are answered {"ignored":true}.` }),
    requestBody: { required: true, ...json(payloadSchema) },
    responses: {
      200: { description: 'What the handler returned, or {"ignored":true}', ...json(z.unknown()) },
      202: { description: accepted, ...json(z.looseObject({})) },
      204: { description: "The handler returned nothing" },
      400: failure("Malformed JSON"),
      401: failure("No secret was sent"),
      403: failure("The secret is wrong"),
      413: failure("The body is too large"),
      415: failure("The body is not JSON by its content type"),
      422: failure("The JSON is no payload"),
      500: failure("The handler failed"),
      503: failure("The receiver is shutting down or full; Retry-After says when to come back"),
    },
  };
}
