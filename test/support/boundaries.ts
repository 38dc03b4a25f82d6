/** Who may import whom, and who may touch the process: the rules of the house, held against the sources. */
export interface Source {
  /** Below `src`, as `receiver/call.ts`. */
  path: string;
  text: string;
}

interface Rule {
  /** Said when it is broken. */
  says: string;
  /** Which files it binds. */
  binds(path: string): boolean;
  /** An import that it forbids: of ours as a path below `src`, else as it is written. */
  import?(target: string, from: string, typeOnly: boolean): boolean;
  /** What may not stand in the source. */
  word?: RegExp;
}

const within =
  (...rooms: string[]) =>
  (path: string) =>
    rooms.some((room) => path === room || path.startsWith(room.endsWith("/") ? room : `${room}/`));
const ours = (target: string) => !isPackage(target);
/** Plain JavaScript of ours; any other name that ends so is a package's, as `ipaddr.js`. */
const PLAIN = ["preflight.js", "cli/hubhook.js"];
export const isPackage = (target: string) => !target.endsWith(".ts") && !PLAIN.includes(target);
/** Forbids all of ours but these. */
const onlyOurs =
  (...allowed: string[]) =>
  (target: string) =>
    ours(target) && !within(...allowed)(target);
const isPackageOf =
  (...names: string[]) =>
  (target: string) =>
    names.some((name) => target === name || target.startsWith(`${name}/`));

/** What the command line may use of another room. */
const DOORS = [
  "receiver/load-handlers.ts",
  "receiver/run-once.ts",
  "receiver/webhook.ts",
  "deliveries/deliveries.ts",
  "hub/hub.ts",
  "client/client.ts",
  "client/lazy.ts",
  "catalog/schema.ts",
  "catalog/json-schema.ts",
  "catalog/rules.ts",
  "catalog/validate.ts",
  "catalog/problem-line.ts",
  "catalog/locate.ts",
  "catalog/read.ts",
  "catalog/search.ts",
  "catalog/facets.ts",
  "catalog/write.ts",
  "catalog/convert.ts",
  "catalog/position.ts",
  "catalog/stats.ts",
  "catalog/diff.ts",
  "catalog/draft.ts",
  "catalog/edit.ts",
];
const ENTRIES = ["index.ts", "cli/index.ts", "preflight.js"];
const ROOMS = ["handlers", "receiver", "deliveries", "hub", "client", "catalog", "models", "publish", "cli"];

export const rules: Rule[] = [
  {
    says: "protocol imports nothing of ours",
    binds: within("protocol"),
    import: onlyOurs("protocol"),
  },
  {
    says: "handlers import receiver/webhook.ts, protocol, client and catalog, and nothing else of ours",
    binds: within("handlers"),
    import: onlyOurs("handlers", "receiver/webhook.ts", "protocol", "client", "catalog"),
  },
  {
    says: "the receiver never imports the hub, and what a handler's context offers from other rooms is given to it",
    binds: within("receiver"),
    import: within("hub", "handlers", "cli", "client", "catalog", "models", "publish", "index.ts"),
  },
  {
    says: "in the receiver only webhooks-server.ts, which starts one, imports app.ts",
    binds: (path) => within("receiver")(path) && path !== "receiver/webhooks-server.ts",
    import: within("app.ts"),
  },
  {
    says: "the hub never imports the receiver, its handlers or its client: they meet over HTTP only",
    binds: within("hub"),
    import: within("receiver", "handlers", "cli", "client", "publish", "app.ts", "index.ts"),
  },
  {
    says: "the hub's pages can be deleted: only its app.ts imports them",
    binds: (path) => path !== "hub/app.ts" && !within("hub/pages")(path),
    import: within("hub/pages"),
  },
  {
    says: "deliveries know nothing of HTTP, handlers or hubs",
    binds: within("deliveries"),
    import: (target) =>
      onlyOurs("deliveries", "errors.ts")(target) ||
      isPackageOf("express", "node:http", "node:https", "undici")(target),
  },
  {
    says: "http is plumbing: it knows no room that uses it",
    binds: within("http"),
    import: within(...ROOMS, "app.ts", "index.ts", "config.ts"),
  },
  {
    says: "client could be published alone: it imports protocol and errors.ts",
    binds: within("client"),
    import: onlyOurs("client", "protocol", "errors.ts"),
  },
  {
    says: "the catalog knows none of the other rooms: it imports protocol, http and what lies at the bottom",
    binds: within("catalog"),
    import: onlyOurs("catalog", "protocol", "http", "errors.ts", "logger.ts", "nearest.ts"),
  },
  {
    says: "publish imports client, protocol, config",
    binds: within("publish"),
    import: onlyOurs("publish", "client", "protocol", "config.ts", "errors.ts", "logger.ts"),
  },
  {
    says: "a file in cli imports the doors of other rooms and never their insides",
    binds: within("cli"),
    import: (target, _from, typeOnly) => !typeOnly && within(...ROOMS)(target) && !within("cli", ...DOORS)(target),
  },
  {
    says: "the command line is a client like any other: nobody imports it",
    binds: (path) => !within("cli")(path),
    import: within("cli"),
  },
  {
    says: "handlers are loaded, not imported",
    binds: (path) => !within("handlers")(path),
    import: within("handlers"),
  },
  {
    says: "index.ts is a process: only hubhook serve imports it",
    binds: (path) => path !== "cli/serve.ts",
    import: within("index.ts"),
  },
  {
    says: "errors.ts, logger.ts, config.ts and nearest.ts lie at the bottom: they import none of the rooms",
    binds: within("errors.ts", "logger.ts", "config.ts", "nearest.ts"),
    import: within(...ROOMS, "http", "app.ts", "index.ts"),
  },
  {
    says: "only config.ts reads process.env",
    binds: (path) => path !== "config.ts",
    word: /\bprocess\s*\.\s*env\b|\benv\b[^;]*\}\s*=\s*process\b|["']node:process["']/,
  },
  {
    says: "only the process entries call process.on, process.once or process.exit",
    binds: (path) => !within(...ENTRIES)(path),
    // The one exception: the shared server starts when the program would otherwise end.
    word: /\bprocess\s*\.\s*(?:on|addListener|exit|abort)\b|\bprocess\s*\.\s*once\s*\((?!\s*"beforeExit")/,
  },
  {
    says: "beforeExit belongs to the receiver's shared server and to the command line's process",
    binds: (path) => !within("receiver/webhooks-server.ts", "cli/index.ts")(path),
    word: /["']beforeExit["']/,
  },
  {
    says: "only the process entries read .env",
    binds: (path) => !within(...ENTRIES)(path),
    import: isPackageOf("dotenv"),
    word: /\bloadEnvFile\b/,
  },
  {
    says: "only logger.ts and cli/output.ts write to standard output",
    binds: (path) => !within("logger.ts", "cli/output.ts")(path),
    word: /\bprocess\s*\.\s*stdout\b|\bconsole\s*\./,
  },
  {
    says: "only the database file of each owner names a driver",
    binds: (path) => !/^(deliveries|hub)\/(\w+-)?database\.ts$/.test(path),
    import: isPackageOf("node:sqlite", "better-sqlite3", "pg", "pg-boss"),
  },
  {
    says: "express stays in the rooms that speak HTTP",
    binds: within("protocol", "handlers", "deliveries", "client", "publish", "cli"),
    import: isPackageOf("express", "helmet"),
  },
];

export function violations(sources: Source[]): string[] {
  return sources.flatMap((source) => {
    const imports = importsOf(source);
    const code = withoutComments(source.text);
    return rules
      .filter((rule) => rule.binds(source.path))
      .flatMap((rule) => {
        const found = imports
          .filter(({ target, typeOnly }) => rule.import?.(target, source.path, typeOnly))
          .map(({ target }) => `imports ${target}`);
        const [word] = rule.word?.exec(code) ?? [];
        if (word !== undefined) found.push(`has ${word.trim()}`);
        return found.map((what) => `${source.path} ${what}: ${rule.says}`);
      });
  });
}

interface Import {
  target: string;
  typeOnly: boolean;
}

/** Static, dynamic and re-exporting imports; our own as paths below `src`. */
export function importsOf({ path, text }: Source): Import[] {
  const code = withoutComments(text);
  const from = /\b(import|export)\b(\s+type\b)?(?:[\w\s{},*$]|(?<=\s)as(?=\s))*?\bfrom\s*["']([^"']+)["']/g;
  const bare = /\bimport\s*\(?\s*["']([^"']+)["']/g;
  return [
    ...[...code.matchAll(from)].map(([, , type, name = ""]) => ({ name, typeOnly: type !== undefined })),
    ...[...code.matchAll(bare)].map(([, name = ""]) => ({ name, typeOnly: false })),
  ].map(({ name, typeOnly }) => ({ target: name.startsWith(".") ? resolved(path, name) : name, typeOnly }));
}

function resolved(from: string, name: string): string {
  const { pathname } = new URL(name, `file:///src/${from}`);
  return pathname.startsWith("/src/") ? pathname.slice("/src/".length) : `..${pathname}`;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<![:"'])\/\/[^\n]*/g, "");
}
