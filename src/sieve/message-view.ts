// A message as scripts see it: fields and addresses by name, parsed once for all scripts of a message.

import { parseAddressList } from '../mime/address.ts'
import { decodeWords } from '../mime/encoded-words.ts'
import { fieldText, type HeaderField, readHeaders } from '../mime/headers.ts'
import type { Part } from '../mime/message.ts'
import { declaredCharset } from '../mime/structure.ts'
import { type BodyForm, bodyOf, type FilteredMessage } from './body.ts'
import { octets } from './encoded.ts'
import type { WorkMeter } from './meter.ts'
import type { FieldIndex, SieveAddressPart } from './script.ts'
import { SieveValue } from './value.ts'

/** Forms of the body cached at a time; each is at most about twice BODY_MAX. */
const BODIES_KEPT = 4

export class MessageView {
  readonly message: FilteredMessage
  #fields: Map<string, HeaderField[]> | null = null
  readonly #headers = new Map<string, SieveValue[]>()
  readonly #addresses = new Map<string, string[]>()
  readonly #parts = new Map<string, SieveValue[]>()
  readonly #bodies = new Map<string, SieveValue[]>()

  readonly #ofParts = new Map<Part, MessageView>()
  #original: MessageView | null = null

  constructor(mail: FilteredMessage) {
    this.message = mail
  }

  /** The same message with other header fields; its body is examined once for both. */
  withFields(fields: readonly HeaderField[]): MessageView {
    const edited = new MessageView(this.message)
    edited.#fields = Map.groupBy(fields, (field) => field.name)
    edited.#original = this.#original ?? this
    return edited
  }

  /** The header of a part, as a message without a body; the message itself for its root. */
  ofPart(part: Part): MessageView {
    const { bytes, root } = this.message
    if (part === root) return this
    if (this.#original !== null) return this.#original.ofPart(part)
    return cached(this.#ofParts, part, () => {
      const header = bytes.subarray(part.headerStart, part.bodyStart)
      return new MessageView({ bytes: header, root: null, text: '' })
    })
  }

  has(name: string): boolean {
    return this.#named(name).length > 0
  }

  /** The fields of a (lower-case) name, in their order. */
  fields(name: string): readonly HeaderField[] {
    return this.#named(name)
  }

  /** Values of all fields of a (lower-case) name: unfolded, decoded, trimmed (RFC 5228 2.4.2.2, 2.7.2, 5.7). */
  header(name: string): SieveValue[] {
    return cached(this.#headers, name, () => {
      const declared = name === 'subject' ? declaredCharset(this.message.root) : null
      return this.#named(name).map((field) => new SieveValue(octets(decodeWords(fieldText(field, declared)).trim())))
    })
  }

  /** The same for one of the fields. */
  headerAt(name: string, at: FieldIndex): SieveValue[] {
    const value = fieldAt(this.header(name), at)
    return value === undefined ? [] : [value]
  }

  /** A part of all addresses in one field of the name. */
  addressesAt(name: string, part: SieveAddressPart, at: FieldIndex): SieveValue[] {
    const field = fieldAt(this.#named(name), at)
    if (field === undefined) return []
    return parseAddressList(fieldText(field)).flatMap(({ email }) => addressValue(email, part) ?? [])
  }

  /** A part of all addresses in all fields of the name, members of groups included. */
  addresses(name: string, part: SieveAddressPart): SieveValue[] {
    return cached(this.#parts, `${part} ${name}`, () => {
      const found = cached(this.#addresses, name, () =>
        this.#named(name).flatMap((field) => parseAddressList(fieldText(field)).map(({ email }) => email)),
      )
      return found.flatMap((email) => addressValue(email, part) ?? [])
    })
  }

  /** How many addresses there are in all fields of the name. */
  countAddresses(name: string): number {
    return this.addresses(name, 'all').length
  }

  /** What a test of the body compares. @throws SieveRuntimeError when the script exceeds its steps */
  body(form: BodyForm, meter: WorkMeter): SieveValue[] {
    if (this.#original !== null) return this.#original.body(form, meter)
    const key = JSON.stringify(form)
    const known = this.#bodies.get(key)
    if (known) return known
    if (this.#bodies.size >= BODIES_KEPT) this.#bodies.clear()
    const made = bodyOf(this.message, form).map((text) => new SieveValue(text))
    for (const { octets: text } of made) meter.spend(text.length + 1)
    this.#bodies.set(key, made)
    return made
  }

  #named(name: string): HeaderField[] {
    this.#fields ??= Map.groupBy(readHeaders(this.message.bytes).fields, (field) => field.name)
    return this.#fields.get(name) ?? []
  }
}

/**
 * A part of an address; null when it has no such part.
 * RFC 5228 2.7.4: an invalid address has neither a local part nor a domain. RFC 5233: without a "+" there is no detail.
 */
export function addressValue(email: string, part: SieveAddressPart): SieveValue | null {
  if (email === '') return null
  if (part === 'all') return new SieveValue(octets(email))
  const at = email.lastIndexOf('@')
  if (at < 1 || at === email.length - 1) return null
  if (part === 'domain') return new SieveValue(octets(email.slice(at + 1)))
  const local = email.slice(0, at)
  if (part === 'localpart') return new SieveValue(octets(local))
  const plus = local.indexOf('+')
  if (part === 'user') return new SieveValue(octets(plus < 0 ? local : local.slice(0, plus)))
  return plus < 0 ? null : new SieveValue(octets(local.slice(plus + 1)))
}

/** One of several, counted from 1 (RFC 5260 §6). */
export function fieldAt<T>(all: readonly T[], { index, fromLast }: FieldIndex): T | undefined {
  return index < 1 ? undefined : all[fromLast ? all.length - index : index - 1]
}

function cached<K, T>(known: Map<K, T>, key: K, make: () => T): T {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  return made
}
