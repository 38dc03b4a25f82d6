/** Unpacks Chromium from its package into the folder that TMPDIR names: the package always unpacks there. */
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflate } from "@sparticuz/chromium";

const bin = join(createRequire(import.meta.url).resolve("@sparticuz/chromium"), "../../bin");
await Promise.all(["chromium.br", "al2023.tar.br", "fonts.tar.br"].map((file) => inflate(join(bin, file))));
// The package's own font settings look for its fonts in places of the cloud it was made for.
await writeFile(
  join(tmpdir(), "fonts.conf"),
  `<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>\n`,
);
