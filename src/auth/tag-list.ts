// Tag lists (RFC 6376 §3.2): the form of DKIM and ARC signatures and of key records.

import { trimBlanks } from '../base/blanks.ts'

/** tag-name = ALPHA *ALNUMPUNC */
const TAG_NAME = /^[A-Za-z][A-Za-z0-9_]*$/

export interface TagList {
  /** Values by name as written: names are case-sensitive. White space around a value is removed, and reduced to one space inside it. */
  tags: ReadonlyMap<string, string>
  /** Name of the first tag. */
  first: string | null
  /** Whether the text is a tag list: each tag has a valid name, none occurs twice, and none is empty but one at the end. */
  isValid: boolean
}

/** Reads a tag list. The last tag of a name counts where the list is not valid. */
export function readTagList(text: string): TagList {
  // Folds, spaces and tabs are worth one space each (RFC 6376 §3.2); long ones would cost the patterns below quadratic time.
  const line = text.replace(/[ \t\r\n]+/g, ' ')
  const specs = line.split(';').map(trimBlanks)
  if (specs.length > 1 && specs.at(-1) === '') specs.pop()
  const tags = new Map<string, string>()
  let first: string | null = null
  let isValid = true
  for (const spec of specs) {
    const end = spec.indexOf('=')
    const name = trimBlanks(spec.slice(0, Math.max(end, 0)))
    if (!TAG_NAME.test(name) || tags.has(name)) isValid = false
    if (end < 0) continue
    first ??= name
    tags.set(
      name,
      spec
        .slice(end + 1)
        .replace(/\s+/g, ' ')
        .trim(),
    )
  }
  return { tags, first, isValid }
}

/** The value of a tag whose white space has no meaning: base64, and lists of field names (RFC 6376 §3.5). */
export function withoutSpaces(value: string | undefined): string {
  return (value ?? '').replace(/\s+/g, '')
}

/** Items of a list separated by colons, in lower case. */
export function colonList(value: string | undefined): string[] {
  return (value ?? '')
    .split(':')
    .map((item) => lowerCase(trimBlanks(item)))
    .filter((item) => item !== '')
}

/** Of ASCII only: other bytes belong to characters of UTF-8. */
export function lowerCase(text: string): string {
  return /[^\x00-\x7f]/.test(text) ? text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase()) : text.toLowerCase()
}
