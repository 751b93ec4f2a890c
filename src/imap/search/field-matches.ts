// Whether header fields match the keys of a search: only the fields of a key are read, and each distinct field once.

import { headerText, readHeaders } from '../../mime/headers.ts'
import { FieldFinder, type KeptHeaders } from '../../mime/message-headers.ts'
import type { SearchKey } from '../grammar/search-keys.ts'

/** Fields remembered for a key: those with addresses are the same in many messages. */
const KNOWN_MAX = 2000
/** Longer fields are not remembered, characters. */
const KNOWN_CHARACTERS = 500

/** One for a page of a search. */
export class FieldMatches {
  readonly #finders = new Map<string, FieldFinder>()
  /** By key: fields as written, and whether they match. */
  readonly #known = new Map<SearchKey, Map<string, boolean>>()

  /** Fields of a name (lower-case, kept) as written. */
  find(headers: KeptHeaders, name: string): string[] {
    const finder = this.#finders.get(name) ?? new FieldFinder([name])
    this.#finders.set(name, finder)
    return finder.find(headers)
  }

  /** Whether a field of a name matches a key. @param matches compares the unfolded value */
  some(key: SearchKey, headers: KeptHeaders, name: string, matches: (value: string) => boolean): boolean {
    const known = this.#known.get(key) ?? new Map<string, boolean>()
    this.#known.set(key, known)
    return this.find(headers, name).some((field) => {
      const before = known.get(field)
      if (before !== undefined) return before
      const found = valuesOf(field, name).some(matches)
      if (known.size >= KNOWN_MAX) known.clear()
      if (field.length <= KNOWN_CHARACTERS) known.set(field, found)
      return found
    })
  }
}

/** The unfolded value of a field as written. */
function valuesOf(field: string, name: string): string[] {
  const { fields } = readHeaders(Buffer.from(field, 'latin1'))
  return fields.map((one) => headerText([one], name) ?? '')
}
