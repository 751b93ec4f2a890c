// The members of a MIME part that only IMAP's BODYSTRUCTURE shows: parameters as written, description, language and others.

import { type EnvelopeFields, envelopeFields } from './envelope.ts'
import { type HeaderField, headerText } from './headers.ts'
import type { Part } from './message.ts'
import type { ParameterPair, StructuredValue } from './parameters.ts'

/** Parameters kept of one field, and the length of a name and of a value. In characters. */
export const PAIRS_MAX = 64
export const PAIR_TEXT_MAX = 1024
/** Length of a description, a language list and a location. In characters. */
export const DETAIL_MAX = 1024
/** Characters of details of all parts of a message: details beyond are omitted, parts are not. */
export const DETAILS_TOTAL_MAX = 256 * 1024

/** The header of a part as far as its details need it. */
export interface DetailSource {
  fields: readonly HeaderField[]
  content: StructuredValue
  disposition: StructuredValue
}

/** Adds details to the parts of one message until their total is reached. */
export class PartDetails {
  #room = DETAILS_TOTAL_MAX

  /** Adds the details of a part; members that would be empty stay absent. */
  add(part: Part, { fields, content, disposition }: DetailSource): void {
    const subtype = content.written.slice(content.written.indexOf('/') + 1)
    if (part.type === content.value && subtype !== subtype.toLowerCase()) part.subtypeWritten = this.#take(subtype)
    const written = disposition.written
    if (written !== '' && written !== part.disposition) part.dispositionWritten = this.#take(written)
    part.params = this.#pairs(content.pairs)
    part.dispositionParams = this.#pairs(disposition.pairs)
    part.description = this.#take(headerText(fields, 'content-description'))
    part.md5 = this.#take(headerText(fields, 'content-md5'))
    part.language = this.#take(headerText(fields, 'content-language'))
    part.location = this.#take(headerText(fields, 'content-location'))
  }

  /** Adds the envelope of the message inside the part; `fields` is that message's header. */
  addEnvelope(part: Part, fields: readonly HeaderField[]): void {
    const envelope: EnvelopeFields = envelopeFields(fields)
    const length = Object.values(envelope).reduce((sum, text) => sum + text.length, 0)
    if (length > this.#room) return
    this.#room -= length
    part.envelope = envelope
  }

  #pairs(pairs: readonly ParameterPair[]): ParameterPair[] | undefined {
    const kept: ParameterPair[] = []
    for (const [name, value] of pairs.slice(0, PAIRS_MAX)) {
      const length = name.length + Math.min(value.length, PAIR_TEXT_MAX)
      if (length > this.#room) break
      this.#room -= length
      kept.push([name, cutText(value, PAIR_TEXT_MAX)])
    }
    return kept.length > 0 ? kept : undefined
  }

  #take(text: string | null): string | undefined {
    if (text === null) return undefined
    const kept = cutText(text, DETAIL_MAX)
    if (kept === '' || kept.length > this.#room) return undefined
    this.#room -= kept.length
    return kept
  }
}

function cutText(text: string, characters: number): string {
  return text.length <= characters ? text : text.slice(0, characters).replace(/[\ud800-\udbff]$/, '')
}
