// Sanitises untrusted text for use in one line of a header, log or message.

/** Words of printable ASCII with single spaces: nothing to clean. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/

/** One line of at most `max` characters: control characters become spaces, white space is folded, a cut end shows as "…". */
export function clean(text: string, max: number): string {
  if (text.length <= max && PLAIN.test(text)) return text
  // Only a bounded prefix is processed.
  const line = text
    .slice(0, max * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ')
    .trim()
  return line.length <= max && text.length <= max * 4
    ? line
    : `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
