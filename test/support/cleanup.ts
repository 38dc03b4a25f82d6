import { afterEach } from "@jest/globals";

const cleanup: (() => Promise<void> | void)[] = [];

/** Does `clean` after the test, the last one first. */
export function onCleanup(clean: () => Promise<void> | void): void {
  cleanup.push(clean);
}

afterEach(async () => {
  for (const clean of cleanup.splice(0).reverse()) await clean();
});
