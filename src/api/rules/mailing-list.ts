// The mailing list of a message and how to leave it (RFC 2369, RFC 2919, RFC 8058).

import type { DecodedField } from '../../mime/view.ts'

const ADDRESS_MAX = 2048
const ADDRESSES_MAX = 10

export interface MailingList {
  id: string | null
  /** The https address takes a POST that ends the subscription (RFC 8058 §3). */
  oneClick: boolean
  mailto: string | null
  https: string | null
}

/** @returns null for a message without List-Id and List-Unsubscribe */
export function mailingListOf(fields: readonly Pick<DecodedField, 'name' | 'value'>[]): MailingList | null {
  const values = (name: string) => fields.filter((field) => field.name.toLowerCase() === name).map(({ value }) => value)
  const [idField] = values('list-id')
  const [written, more] = values('list-unsubscribe')
  if (idField === undefined && written === undefined) return null
  // Two fields contradict each other: neither counts.
  const addresses = more === undefined && written !== undefined ? addressesIn(written) : []
  const https = addresses.find((address) => /^https:/i.test(address)) ?? null
  const isPost = /^\s*List-Unsubscribe\s*=\s*One-Click\s*$/i.test(values('list-unsubscribe-post')[0] ?? '')
  return {
    id: idField === undefined ? null : (/<([^<>]{1,255})>/.exec(idField)?.[1]?.trim() ?? idField.trim().slice(0, 255)),
    oneClick: isPost && https !== null,
    mailto: addresses.find((address) => /^mailto:/i.test(address)) ?? null,
    https,
  }
}

/** RFC 2369 §2: addresses in angle brackets, the preferred one first. */
function addressesIn(value: string): string[] {
  const found: string[] = []
  for (const [, text] of value.matchAll(/<([^<>]{1,4096})>/g)) {
    const address = text!.replace(/\s+/g, '')
    if (address.length <= ADDRESS_MAX && URL.canParse(address)) found.push(address)
    if (found.length >= ADDRESSES_MAX) break
  }
  return found
}
