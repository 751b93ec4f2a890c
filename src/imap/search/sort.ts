// Orders messages by the criteria of SORT (RFC 5256 §3, RFC 5957).

import { parseListedAddresses } from '../../mime/address-list.ts'
import { casemapKey } from '../../mime/base-subject.ts'
import { decodeHeader } from '../../mime/decode.ts'
import type { EnvelopeFields } from '../../mime/envelope.ts'
import { mailboxKey, sentAt, subjectKey } from '../../mime/header-keys.ts'

export type SortKey =
  | ('arrival' | 'cc' | 'date' | 'from' | 'size' | 'subject' | 'to' | 'displayfrom' | 'displayto')
  /** The most relevant first (RFC 6203 §6). */
  | 'relevancy'

export interface SortCriterion {
  key: SortKey
  isReverse: boolean
}

/** What SORT needs to know of a message. */
export interface SortMessage {
  /** INTERNALDATE, ms. */
  receivedAt: number
  /** RFC822.SIZE, bytes. */
  sizeBytes: number
  fields: EnvelopeFields
  /** 1 to 100; needed for `relevancy`. */
  relevancy?: number | undefined
}

/** A message with its values, computed once. */
export interface SortRow {
  /** UID: the order of messages that are equal otherwise. */
  number: number
  modSeq: number
  values: (string | number)[]
}

/** Criteria that need the header of messages. */
export function needsHeaders(criteria: readonly SortCriterion[]): boolean {
  return criteria.some(({ key }) => key !== 'arrival' && key !== 'size')
}

/** The values of a message by the criteria. */
export function sortValues(criteria: readonly SortCriterion[], message: SortMessage): SortRow['values'] {
  return criteria.map(({ key }) => sortValue(message, key))
}

/** The rows in order; equal ones by their numbers, ascending. @param criteria at least one */
export function sortedRows(rows: readonly SortRow[], criteria: readonly SortCriterion[]): SortRow[] {
  return rows.toSorted((a, b) => compareRows(a, b, criteria))
}

/** Which of two messages is first: negative for the first one. */
export function compareRows(a: SortRow, b: SortRow, criteria: readonly SortCriterion[]): number {
  for (let at = 0; at < criteria.length; at++) {
    const left = a.values[at]!
    const right = b.values[at]!
    if (left !== right) return left < right === criteria[at]!.isReverse ? 1 : -1
  }
  return a.number - b.number
}

function sortValue({ fields, receivedAt, sizeBytes, relevancy = 0 }: SortMessage, key: SortKey): string | number {
  switch (key) {
    case 'arrival':
      return receivedAt
    case 'size':
      return sizeBytes
    case 'relevancy':
      return -relevancy
    case 'date':
      return sentDate(fields, receivedAt)
    case 'subject':
      return subjectKey(fields.subject).key
    case 'displayfrom':
      return displayKey(fields.from)
    case 'displayto':
      return displayKey(fields.to)
    default:
      return mailboxKey(fields[key])
  }
}

/** RFC 5256 §2.2: the Date field in UTC, or the internal date where it has none. */
export function sentDate(fields: EnvelopeFields, receivedAt: number): number {
  return sentAt(fields) ?? receivedAt
}

/** RFC 5957 §3: the display name of the first address, else `local@domain`; a group counts by its name. */
function displayKey(text: string | undefined): string {
  const address = text === undefined ? undefined : parseListedAddresses(text, 1)[0]
  if (!address) return ''
  const { name, mailbox, host } = address
  if (name !== null) return casemapKey(decodeHeader(name))
  return casemapKey(host === null ? decodeHeader(mailbox ?? '') : `${mailbox}@${host}`)
}
