/**
 * Where webhooks may lead. Whoever can name a url could else make the hub knock at doors that only its own network
 * sees. So the address that is really connected to is checked, at the very moment of connecting: a name that is
 * looked up once more could lead elsewhere by then.
 */
import dns, { type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";
import { StartError } from "../errors.ts";

export type Lookup = (name: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

interface GuardOptions {
  /** The hub itself is reached by loopback only, so its users may reach loopback too. */
  loopback: boolean;
  /** Beside public addresses: CIDR ranges, addresses, host names. */
  allow: readonly string[];
  connectTimeoutMs: number;
  lookup?: Lookup | undefined;
}

const lookupAll: Lookup = (name, done) => dns.lookup(name, { all: true, verbatim: true }, done);

/** @throws StartError when an allowed target is not written so that it can be understood */
export function guardedConnector({ loopback, allow, connectTimeoutMs, lookup = lookupAll }: GuardOptions) {
  const mayReach = addressRule(loopback, allow);
  const names = new Set(allow.map((one) => one.toLowerCase()));

  const guardedLookup: LookupFunction = (name, options, done) => {
    lookup(name, (error, addresses) => {
      if (error) return done(error, []);
      const allowed = names.has(name.toLowerCase()) ? addresses : addresses.filter(({ address }) => mayReach(address));
      const [first] = allowed;
      if (!first) return done(forbidden(name, addresses[0]?.address), []);
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup: guardedLookup });
  return ((options, done) => {
    // A literal address is looked up by nobody.
    const literal = options.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(literal) !== 0 && !names.has(literal) && !mayReach(literal)) return done(forbidden(literal), null);
    return connect(options, done);
  }) satisfies buildConnector.connector;
}

function addressRule(loopback: boolean, allow: readonly string[]): (address: string) => boolean {
  const ranges = allow.flatMap(rangeOf);
  return (text) => {
    // IPv4 written as IPv6 is what it means.
    const address = ipaddr.process(text);
    const kind = address.range();
    if (kind === "unicast" || (loopback && kind === "loopback")) return true;
    return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
  };
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

function rangeOf(text: string): Range[] {
  if (text.includes("/")) {
    if (ipaddr.isValidCIDR(text)) return [ipaddr.parseCIDR(text)];
    throw notUnderstood(text);
  }
  if (ipaddr.isValid(text)) {
    const address = ipaddr.process(text);
    return [[address, address.kind() === "ipv4" ? 32 : 128]];
  }
  if (!/^[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?$/i.test(text)) throw notUnderstood(text);
  return [];
}

function notUnderstood(text: string): StartError {
  return new StartError("The hub's targets are not understood:", [
    `HUB_ALLOW_TARGETS names "${text}": write ranges, addresses or host names, as 10.0.0.0/8,192.168.1.5,receiver`,
  ]);
}

export class ForbiddenTarget extends Error {
  override readonly name = "ForbiddenTarget";
}

function forbidden(name: string, address?: string): ForbiddenTarget {
  const where = address === undefined || address === name ? name : `${name} (${address})`;
  return new ForbiddenTarget(
    `${where} is no public address, and this hub sends only there: HUB_ALLOW_TARGETS may allow it`,
  );
}
