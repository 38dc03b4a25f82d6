/**
 * Where requests may lead whose url somebody else could name: else they would knock at doors that only this network
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
  /** Is this machine itself allowed? So it is where those who name urls are on it anyway. */
  loopback: boolean;
  /** Beside public addresses: CIDR ranges, addresses, host names. */
  allow: readonly string[];
  /** The variable that `allow` comes from: sentences name it. */
  setting: string;
  connectTimeoutMs: number;
  lookup?: Lookup | undefined;
}

const lookupAll: Lookup = (name, done) => dns.lookup(name, { all: true, verbatim: true }, done);

/** @throws StartError when an allowed target is not written so that it can be understood */
export function guardedConnector({ loopback, allow, setting, connectTimeoutMs, lookup = lookupAll }: GuardOptions) {
  const mayReach = addressRule(
    loopback,
    allow.flatMap((one) => rangeOf(one, setting)),
  );
  const names = new Set(allow.map((one) => one.toLowerCase()));

  const guardedLookup: LookupFunction = (name, options, done) => {
    lookup(name, (error, addresses) => {
      if (error) return done(error, []);
      const allowed = names.has(name.toLowerCase()) ? addresses : addresses.filter(({ address }) => mayReach(address));
      const [first] = allowed;
      if (!first) return done(forbidden(setting, name, addresses[0]?.address), []);
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup: guardedLookup });
  return ((options, done) => {
    // A literal address is looked up by nobody.
    const literal = options.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(literal) !== 0 && !names.has(literal) && !mayReach(literal))
      return done(forbidden(setting, literal), null);
    return connect(options, done);
  }) satisfies buildConnector.connector;
}

/** All that is given out of IPv6. Beside it lie old ways to write IPv4 addresses, as `::127.0.0.1`. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

function addressRule(loopback: boolean, ranges: readonly Range[]): (address: string) => boolean {
  return (text) => {
    // IPv4 written as IPv6 is what it means.
    const address = ipaddr.process(text);
    const kind = address.range();
    if (loopback && kind === "loopback") return true;
    if (kind === "unicast" && (address.kind() === "ipv4" || address.match(GLOBAL_UNICAST))) return true;
    return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
  };
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

function rangeOf(text: string, setting: string): Range[] {
  if (text.includes("/")) {
    if (ipaddr.isValidCIDR(text)) return [ipaddr.parseCIDR(text)];
    throw notUnderstood(text, setting);
  }
  if (ipaddr.isValid(text)) {
    const address = ipaddr.process(text);
    return [[address, address.kind() === "ipv4" ? 32 : 128]];
  }
  if (!/^[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?$/i.test(text)) throw notUnderstood(text, setting);
  return [];
}

function notUnderstood(text: string, setting: string): StartError {
  return new StartError("The allowed targets are not understood:", [
    `${setting} names "${text}": write ranges, addresses or host names, as 10.0.0.0/8,192.168.1.5,receiver`,
  ]);
}

export class ForbiddenTarget extends Error {
  override readonly name = "ForbiddenTarget";
}

function forbidden(setting: string, name: string, address?: string): ForbiddenTarget {
  const where = address === undefined || address === name ? name : `${name} (${address})`;
  return new ForbiddenTarget(`${where} is no public address, and only those may be asked: ${setting} may allow it`);
}
