/** The forms of text that JSON Schema names, as validators with full formats take them. */

/** How long a text is to JSON Schema: a surrogate pair is one, a lone surrogate too. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index + 1 < text.length; index++)
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count--;
      index++;
    }
  return count;
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A day that the calendar has, as `2026-02-28` (RFC 3339, full-date). */
export function isDate(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.map(Number) ?? [];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

// RFC 3986, section 3. What stands in a host, a port or before an @ may stand in a path as well, so that only an
// address in brackets needs a look of its own. What must not stand there is searched for: a pattern that goes through
// all that may runs out of stack on an address of megabytes.
const SCHEME = /^https?:\/\//;
const FOREIGN = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/?#%]|%(?![0-9A-Fa-f]{2})/;
const BRACKETED = /^https?:\/\/(?:([^[\]/?#@]*)@)?\[([^\]]*)\](?::\d*)?(?![^/?#])/;
const FUTURE_ADDRESS = /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/i;
const OCTET = "(?:25[0-5]|2[0-4]\\d|[01]?\\d?\\d)";
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

/** A URI that begins with `http://` or `https://`. */
export function isHttpUri(text: string): boolean {
  if (!SCHEME.test(text) || text.indexOf("#") !== text.lastIndexOf("#")) return false;
  if (!FOREIGN.test(text)) return true;
  const [start = "", user = "", address = ""] = BRACKETED.exec(text) ?? [];
  if (start === "" || FOREIGN.test(user) || FOREIGN.test(text.slice(start.length))) return false;
  return isIpv6(address) || FUTURE_ADDRESS.test(address);
}

/** As `0000:0000:0000:0000:0000:0000:255.255.255.255`. */
const LONGEST_IPV6 = 45;

function isIpv6(text: string): boolean {
  if (text.length > LONGEST_IPV6) return false;
  const [left = "", right, ...more] = text.split("::");
  if (more.length > 0) return false;
  const groups = [left, right ?? ""].map((side) => (side === "" ? [] : side.split(":")));
  const all = groups.flat();
  const last = all.at(-1) ?? "";
  // An IPv4 address may stand for the last two groups, but not before the gap.
  const mixed = IPV4.test(last) && right !== "";
  const hex = mixed ? all.slice(0, -1) : all;
  if (!hex.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  const length = hex.length + (mixed ? 2 : 0);
  return right === undefined ? length === 8 : length <= 7;
}
