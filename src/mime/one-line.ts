// Foreign text made fit to stand in a line of ours.

/** One line of at most `max` characters: control characters become spaces, white space is folded, a cut end shows as "…". */
export function clean(text: string, max: number): string {
  // Only as much is looked at as can be needed, whatever the length of what came.
  const line = text
    .slice(0, max * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ')
    .trim()
  return line.length <= max && text.length <= max * 4
    ? line
    : `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
