import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config.ts';
import { isLoopback } from '../config.ts';

/** All addresses of a host name. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/**
 * Asks the name servers, without the system's `getaddrinfo`: that would occupy one of the four threads that hash passwords and
 * read files too, for as long as whoever owns the name likes.
 */
export function dnsResolver(): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return async (hostname) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [
      ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 })),
      ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 })),
    ];
    if (addresses.length === 0 && four.status === 'rejected') throw four.reason;
    return addresses;
  };
}

/** Who is reached by loopback alone may call itself; on any other address a webhook must not reach behind the listener. */
export const allowsPrivateTargets = ({ webhookAllowPrivate, host }: Config): boolean => webhookAllowPrivate ?? isLoopback(host);

/**
 * Why an address is not the public internet, or null. What is known to be public is allowed, everything else refused: besides
 * private, loopback and link-local also shared, reserved, multicast and documentation ranges. IPv6 addresses that stand for an
 * IPv4 address (mapped, NAT64, 6to4) are judged by that one.
 */
export function refusalOfAddress(address: string): string | null {
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  const embedded = parsed instanceof ipaddr.IPv6 ? embeddedAddress(parsed) : null;
  if (embedded !== null) return refusalOfAddress(embedded);
  const isPublic = range === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast));
  return isPublic ? null : `${address} is not a public address (${range === 'unicast' ? 'reserved' : range})`;
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

function embeddedAddress(address: ipaddr.IPv6): string | null {
  const bytes = address.toByteArray();
  if (address.isIPv4MappedAddress() || address.match(nat64)) return bytes.slice(12).join('.');
  return address.range() === '6to4' ? bytes.slice(2, 6).join('.') : null;
}

/** Why a webhook cannot have this URL, as far as the URL itself tells, or null. */
export function refusalOfUrl(text: string, allowPrivate: boolean): string | null {
  const url = URL.parse(text);
  if (url === null) return 'must be an absolute URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (allowPrivate) return null;
  if (url.protocol !== 'https:') return 'must begin with https://';
  // Reserved for loopback by RFC 6761, whatever a name server says.
  if (/(^|\.)localhost\.?$/.test(url.hostname)) return `${url.hostname} is not a public address (loopback)`;
  const literal = literalAddress(url.hostname);
  return literal === null ? null : refusalOfAddress(literal);
}

/** The parser of URLs has made one form of all: 0x7f.1 and 2130706433 are 127.0.0.1 here. */
function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : null;
}

/** Why no address of the URL's host may be reached, or null; one that does not resolve now may do so later. */
export async function refusalOfHost(text: string, resolve: Resolve = dnsResolver()): Promise<string | null> {
  const { hostname } = new URL(text);
  if (literalAddress(hostname) !== null) return null;
  const addresses = await resolve(hostname).catch(() => []);
  return firstRefusal(hostname, addresses);
}

function firstRefusal(hostname: string, addresses: readonly LookupAddress[]): string | null {
  for (const { address } of addresses) {
    const refusal = refusalOfAddress(address);
    if (refusal !== null) return `${hostname} resolves to ${refusal}`;
  }
  return null;
}

/**
 * For the socket itself to look names up with: what is judged here is what it connects to, so a name that answers
 * differently the next time (DNS rebinding) gains nothing. One address that is not public refuses them all.
 */
export function publicLookup(resolve: Resolve = dnsResolver()): LookupFunction {
  return (hostname, { all }, done) => {
    resolve(hostname).then(
      (addresses) => {
        const refusal = addresses.length === 0 ? `${hostname} has no address` : firstRefusal(hostname, addresses);
        if (refusal !== null) return done(new RefusedTarget(refusal), '');
        if (all) done(null, addresses);
        else done(null, addresses[0]!.address, addresses[0]!.family);
      },
      (error: Error) => done(error, ''),
    );
  };
}

/** We will not connect there, whatever is listening. */
export class RefusedTarget extends Error {}
