// IMAP flags in scripts, and the message keywords they map to (RFC 5232).

/** Supported system flags; \Deleted has no equivalent, and \Recent cannot be set. */
const SYSTEM = new Map([
  ['\\seen', '$seen'],
  ['\\answered', '$answered'],
  ['\\flagged', '$flagged'],
  ['\\draft', '$draft'],
])
/** Set by filing into Junk, not by flags. */
const SAID_BY_FOLDER = ['$junk', '$notjunk']
/** docs/design/mailbox.md §3. */
const KEYWORD = /^[!#$&'+-Z[^-z|}~]{1,255}$/
const KEYWORDS_MAX = 100

/** Flags as written, by their lower-case form. */
export type ScriptFlags = ReadonlyMap<string, string>

/** The flags in a list: one string may hold several, with spaces between them (RFC 5232 2). */
export function flagsIn(strings: readonly string[]): string[] {
  return strings.flatMap((text) => text.split(' ')).filter((flag) => flag !== '')
}

/** Keywords for flags, without duplicates; RFC 5232 5: flags that cannot be stored are ignored. */
export function keywordsFor(flags: Iterable<string>): string[] {
  const keywords = new Set<string>()
  for (const flag of flags) {
    const lower = flag.toLowerCase()
    const keyword = SYSTEM.get(lower) ?? (KEYWORD.test(lower) ? lower : null)
    if (keyword !== null && !SAID_BY_FOLDER.includes(keyword) && keywords.size < KEYWORDS_MAX) keywords.add(keyword)
  }
  return [...keywords]
}

export function byLowerCase(flags: readonly string[]): Map<string, string> {
  return new Map(flags.map((flag) => [flag.toLowerCase(), flag]))
}

/** RFC 5232 §3. */
export function changedFlags(
  before: ScriptFlags,
  how: 'set' | 'add' | 'remove',
  flags: readonly string[],
): Map<string, string> {
  const changed = new Map(how === 'set' ? [] : before)
  for (const flag of flags) {
    const lower = flag.toLowerCase()
    if (how === 'remove') changed.delete(lower)
    else if (!changed.has(lower)) changed.set(lower, flag)
  }
  return changed
}
