/** Unpacks Chromium from its package into the folder that TMPDIR names: the package always unpacks there. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { inflate } from "@sparticuz/chromium";

const bin = join(createRequire(import.meta.url).resolve("@sparticuz/chromium"), "../../bin");
await Promise.all(["chromium.br", "al2023.tar.br", "fonts.tar.br"].map((file) => inflate(join(bin, file))));
