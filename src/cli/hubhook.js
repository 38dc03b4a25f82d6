#!/usr/bin/env node
import "../preflight.js";

await import("./index.ts");
