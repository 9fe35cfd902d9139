import ipaddr from 'ipaddr.js';

/** Whom an address stands for: of IPv6 the /64, because that is what one customer gets, with as many addresses as he likes. */
export function clientOf(address: string): string {
  // IPv4 is all that most servers see, and reading it costs more than counting.
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : `${(parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64`;
}
