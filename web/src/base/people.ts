// Letters and a colour that stand for a person or an address.

const HUES = 8

/** Two letters of a name, or of an address; without what cannot be seen in it. */
export function initials(name: string): string {
  const words = name
    .replace(/@.*$/, '')
    .replace(/[\p{C}\u200b]/gu, '')
    .split(/[\s._-]+/)
    .filter(Boolean)
  const letters =
    words.length > 1 ? [words[0]!, words.at(-1)!].map((word) => [...word][0]!) : [...(words[0] ?? '?')].slice(0, 2)
  return letters.join('').toUpperCase()
}

/** The number of the hue of an address: always the same one. */
export function hueOf(address: string): number {
  let sum = 0
  for (const unit of address.toLowerCase()) sum = (sum * 31 + unit.charCodeAt(0)) >>> 0
  return sum % HUES
}
