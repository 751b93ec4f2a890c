// Flags of IMAP in a script, and the keywords of a message that stand for them (RFC 5232).

/** Those with a backslash that a message can have here; \Deleted has no counterpart, \Recent is nobody's to set. */
const SYSTEM = new Map([
  ['\\seen', '$seen'],
  ['\\answered', '$answered'],
  ['\\flagged', '$flagged'],
  ['\\draft', '$draft'],
])
/** Whether a message is junk is said by the folder it is filed into. */
const SAID_BY_FOLDER = ['$junk', '$notjunk']
/** Decisions §10.3. */
const KEYWORD = /^[!#$&'+-Z[^-z|}~]{1,255}$/
const KEYWORDS_MAX = 100

/** The flags in a list: one string may hold several, with spaces between them (RFC 5232 2). */
export function flagsIn(strings: readonly string[]): string[] {
  return strings.flatMap((text) => text.split(' ')).filter((flag) => flag !== '')
}

/** Keywords for flags, each once; RFC 5232 5: flags that cannot be kept are passed over. */
export function keywordsFor(flags: Iterable<string>): string[] {
  const keywords = new Set<string>()
  for (const flag of flags) {
    const lower = flag.toLowerCase()
    const keyword = SYSTEM.get(lower) ?? (KEYWORD.test(lower) ? lower : null)
    if (keyword !== null && !SAID_BY_FOLDER.includes(keyword) && keywords.size < KEYWORDS_MAX) keywords.add(keyword)
  }
  return [...keywords]
}
