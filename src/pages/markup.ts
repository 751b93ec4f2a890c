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
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value))
  return value.map(({ text }) => text).join('')
}
