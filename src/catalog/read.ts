/** Reads a catalog file from this machine or over HTTP. */

/** The catalog could not be read. The message is a sentence and holds no token. */
export class CatalogUnreadable extends Error {
  override readonly name = "CatalogUnreadable";
}

export interface ReadOptions {
  /** The hub: its origin is always allowed, and only there goes the token. */
  endpoint: string;
  token: string | null;
  /** Beside public addresses: CIDR ranges, addresses and host names. */
  allowTargets: readonly string[];
  signal?: AbortSignal;
}

/** @throws CatalogUnreadable */
export async function readCatalogBytes(_source: string, _options: ReadOptions): Promise<Uint8Array> {
  throw new Error("not there yet");
}
