// Whether a sender matches a pattern of a filter, as the server compares them.

/** @param pattern `user@domain`, `@domain`, `domain`, `*.domain`, or a local part with one `*` @param email an address */
export function matchesPattern(pattern: string, email: string): boolean {
  const wanted = pattern.trim().toLowerCase()
  const sender = email.trim().toLowerCase()
  const cut = wanted.lastIndexOf('@')
  const at = sender.lastIndexOf('@')
  if (at < 1 || wanted === '') return false
  const domain = wanted.slice(cut + 1)
  const from = sender.slice(at + 1)
  const isInDomain = domain.startsWith('*.') ? from.endsWith(domain.slice(1)) : from === domain
  return isInDomain && (cut < 1 || matchesLocal(wanted.slice(0, cut), sender.slice(0, at)))
}

/** A `+tag` of the sender is compared only when the pattern has one. */
function matchesLocal(pattern: string, local: string): boolean {
  const plus = local.indexOf('+')
  const name = pattern.includes('+') || plus < 1 ? local : local.slice(0, plus)
  const star = pattern.indexOf('*')
  if (star < 0) return name === pattern
  const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)]
  return name.length >= head.length + tail.length && name.startsWith(head) && name.endsWith(tail)
}
