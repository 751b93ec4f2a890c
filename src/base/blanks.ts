// Spaces and tabs at the ends of a text, the white space of protocols.

/** Without the spaces and tabs around it. No pattern: one for the end takes quadratic time on long white space within. */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
