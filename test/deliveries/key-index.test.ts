import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { KeyIndex } from "../../src/deliveries/key-index.ts";

describe("the index of keys in memory", () => {
  it("finds every entry, whatever its hash, and grows without losing one", () => {
    // Few different hashes, also such as wrap around the end of the table.
    const hash = fc.constantFrom(0, 1, 2, 16_383, 16_384, 0xffff_fffe, 0xffff_ffff);
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 200 }), (hashes) => {
        const index = new KeyIndex(1);
        for (const [at, one] of hashes.entries()) {
          if (at % 50 === 49) index.grow(1);
          index.add(one, at + 1);
        }
        for (const [at, one] of hashes.entries()) expect(index.find(one, (id) => id === at + 1)).toBe(at + 1);
        expect(index.find(7, () => true)).toBeUndefined();
      }),
    );
  });

  it("stays half empty, and lets go of what is older than the oldest when it grows", () => {
    const index = new KeyIndex(1);
    let grown = 0;
    for (let id = 1; id <= 100_000; id++) {
      if (index.full) {
        index.grow(id - 1_000);
        grown++;
      }
      index.add(Math.imul(id, 0x9e3779b1) >>> 0, id);
      expect(index.find(Math.imul(id, 0x9e3779b1) >>> 0, (found) => found === id)).toBe(id);
    }
    expect(grown).toBeGreaterThan(5);
    expect(index.size).toBeLessThanOrEqual(8_192);
    expect(index.find(Math.imul(5, 0x9e3779b1) >>> 0, (id) => id === 5)).toBeUndefined();
  });
});
