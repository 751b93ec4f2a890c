// A mail as scripts see it: fields and addresses by name, read once for all scripts that are run over it.

import { parseAddressList } from '../mime/address.ts'
import { decodeWords } from '../mime/encoded-words.ts'
import { fieldText, type HeaderField, readHeaders } from '../mime/headers.ts'
import { declaredCharset } from '../mime/structure.ts'
import { type BodyForm, bodyOf, type FilteredMail } from './body.ts'
import { octets } from './encoded.ts'
import type { Meter } from './meter.ts'
import type { AddressPart } from './script.ts'
import { Value } from './value.ts'

/** Forms of the body kept at a time; each is at most about twice BODY_MAX. */
const BODIES_KEPT = 4

export class MailView {
  readonly mail: FilteredMail
  #fields: Map<string, HeaderField[]> | null = null
  readonly #headers = new Map<string, Value[]>()
  readonly #addresses = new Map<string, string[]>()
  readonly #parts = new Map<string, Value[]>()
  readonly #bodies = new Map<string, Value[]>()

  constructor(mail: FilteredMail) {
    this.mail = mail
  }

  has(name: string): boolean {
    return this.#named(name).length > 0
  }

  /** Values of all fields of a (lower-case) name: unfolded, decoded, trimmed (RFC 5228 2.4.2.2, 2.7.2, 5.7). */
  header(name: string): Value[] {
    return kept(this.#headers, name, () => {
      const declared = name === 'subject' ? declaredCharset(this.mail.root) : null
      return this.#named(name).map((field) => new Value(octets(decodeWords(fieldText(field, declared)).trim())))
    })
  }

  /** That part of all addresses in all fields of the name; groups are seen through. */
  addresses(name: string, part: AddressPart): Value[] {
    return kept(this.#parts, `${part} ${name}`, () => {
      const found = kept(this.#addresses, name, () =>
        this.#named(name).flatMap((field) => parseAddressList(fieldText(field)).map(({ email }) => email)),
      )
      return found.flatMap((email) => addressValue(email, part) ?? [])
    })
  }

  /** How many addresses there are in all fields of the name. */
  countAddresses(name: string): number {
    return this.addresses(name, 'all').length
  }

  /** What a test of the body compares. @throws RunFault when the script has worked too much */
  body(form: BodyForm, meter: Meter): Value[] {
    const key = JSON.stringify(form)
    const known = this.#bodies.get(key)
    if (known) return known
    if (this.#bodies.size >= BODIES_KEPT) this.#bodies.clear()
    const made = bodyOf(this.mail, form).map((text) => new Value(text))
    for (const { octets: text } of made) meter.spend(text.length + 1)
    this.#bodies.set(key, made)
    return made
  }

  #named(name: string): HeaderField[] {
    this.#fields ??= Map.groupBy(readHeaders(this.mail.bytes).fields, (field) => field.name)
    return this.#fields.get(name) ?? []
  }
}

/**
 * A part of an address; null for one that has no such part.
 * RFC 5228 2.7.4: what is no address has neither a local part nor a domain. RFC 5233: without a "+" there is no detail.
 */
export function addressValue(email: string, part: AddressPart): Value | null {
  if (email === '') return null
  if (part === 'all') return new Value(octets(email))
  const at = email.lastIndexOf('@')
  if (at < 1 || at === email.length - 1) return null
  if (part === 'domain') return new Value(octets(email.slice(at + 1)))
  const local = email.slice(0, at)
  if (part === 'localpart') return new Value(octets(local))
  const plus = local.indexOf('+')
  if (part === 'user') return new Value(octets(plus < 0 ? local : local.slice(0, plus)))
  return plus < 0 ? null : new Value(octets(local.slice(plus + 1)))
}

function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  return made
}
