// Patterns of local parts, such as `shop-*`, and the bases that sub-addresses are cut to.

/** Characters that may begin a sub-address (RFC 5233 §1). */
export const SEPARATORS = ['+', '-', '_', '='] as const
export type Separator = (typeof SEPARATORS)[number]
/** Of domains that never chose. */
export const SEPARATOR_DEFAULT: Separator = '+'

const LOCAL_MAX = 64
const PATTERN = /^[a-z0-9._+=*-]+$/
// RFC 5322 §3.2.3 dot-atom: what a pattern may lead to. Any other local part is more likely an attack than an address in use.
const ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/

/** The stored spelling of a pattern: lower-case, with one `*`; null for an invalid one. */
export function localPattern(written: string): string | null {
  const pattern = written.toLowerCase()
  if (pattern.length > LOCAL_MAX || !PATTERN.test(pattern)) return null
  return pattern.split('*').length === 2 ? pattern : null
}

/** @param local lower-case */
export function matchesPattern(pattern: string, local: string): boolean {
  if (!ATOM.test(local)) return false
  const star = pattern.indexOf('*')
  const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)]
  return local.length >= head.length + tail.length && local.startsWith(head) && local.endsWith(tail)
}

/** Most literal characters first; the order of equally long ones is kept, which is that of their age. */
export function byLength<P extends { pattern: string }>(patterns: readonly P[]): P[] {
  return [...patterns].sort((one, other) => other.pattern.length - one.pattern.length)
}

/**
 * What is left of a local part when it is cut at each separator, longest first: `jean-luc-x` gives `jean-luc` and `jean`.
 * @param separators the characters of the domain, such as `+-`
 */
export function basesOf(local: string, separators: string): string[] {
  const bases: string[] = []
  for (let at = local.length - 1; at > 0; at--) if (separators.includes(local[at]!)) bases.push(local.slice(0, at))
  return bases
}
