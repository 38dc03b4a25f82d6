// Plain JavaScript on purpose: it must still run on a Node that is too old for the TypeScript sources behind it.
import module from "node:module";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `hubhook needs Node 22.19 or newer and this is Node ${process.versions.node}: ` +
      "run `npm ci` (it brings Node 24 for the npm scripts), or install Node 24.\n",
  );
  process.exit(1);
}

// Compiled code is kept on disk between starts: about half of what the libraries add to the start goes away.
module.enableCompileCache?.();
