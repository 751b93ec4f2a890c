// HTML written as it looks: what is put into it is text unless it was made here.

/** A piece of HTML. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Markup | readonly Markup[] | null

/** Text as text, also inside a quoted attribute. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** Characters that cannot be seen or turn the text around: controls, directions, spaces of no width, halves of characters. */
const HIDDEN = /[^\P{Cc}\t\n\r]|[\p{Cs}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu

/** Names and subjects of strangers with such characters in the open, as the console shows them. */
function legible(text: string): string {
  return text.replace(HIDDEN, (one) => `[U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`)
}

/** A template whose values are escaped; null stands for nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const parts = strings.map((piece, index) => piece + textOf(values[index] ?? null))
  return new Markup(parts.join(''))
}

/** A time as a person reads it. @param ms since 1970 */
export function when(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function textOf(value: Value): string {
  if (value === null) return ''
  if (value instanceof Markup) return value.text
  if (typeof value === 'string' || typeof value === 'number') return escaped(legible(String(value)))
  return value.map(({ text }) => text).join('')
}
