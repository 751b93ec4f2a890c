// Rows of the full-text index `message_text`: the searchable texts of a message, and keys for exact matches.

import { hash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { Row, Tx } from '../../db/db.ts'
import type { Address } from '../../mime/message.ts'
import { noteWritten } from './segments.ts'
import { segmentText } from './words.ts'

/** Header fields whose addresses can be searched for exactly, with the first letter of their keys. */
export const ADDRESS_FIELDS = { from: 'f', to: 't', cc: 'c', bcc: 'b' } as const
export type AddressField = keyof typeof ADDRESS_FIELDS

/** Numbers of the correspondents of a message (rows of `correspondents`), by header field. */
export type CorrespondentsByField = Record<'from' | 'to' | 'cc', number[]>
export type CorrespondentField = keyof CorrespondentsByField

const KEY_DIGITS = 20

/** The key of all messages of an account: FTS5 has no unary NOT, so a negation is subtracted from these. */
export function accountKey(account: number): string {
  return `a${account}`
}

/** The key of a correspondent in a header field. */
export function correspondentKey(field: CorrespondentField, correspondent: number): string {
  return `${ADDRESS_FIELDS[field]}${correspondent}`
}

/** The key of an address in a header field. Hashed, because tokens of the index consist of letters and digits. */
export function addressKey(field: AddressField, email: string): string {
  return `${ADDRESS_FIELDS[field]}a${digits(foldAddress(email))}`
}

/** The key of all addresses at a domain (not at its subdomains) in a header field. */
export function domainKey(field: AddressField, domain: string): string {
  return `${ADDRESS_FIELDS[field]}d${digits(foldDomain(domain))}`
}

/** The key of a message by its Message-ID. */
export function messageIdKey(id: string): string {
  return `i${digits(id)}`
}

/** The searchable fields of a message. */
export interface SearchableMessage {
  subject: string
  from: Address[]
  to: Address[]
  cc: Address[]
  bcc: Address[]
  messageId: string | null
  /** The text of its body. */
  searchText: string
  attachments: readonly { filename: string }[]
}

export interface IndexedMessage {
  n: number
  account: number
  message: SearchableMessage
  correspondents: CorrespondentsByField
}

/**
 * Indexes a message; the rowid is the message's number. Cheapest at the end of a transaction in ascending order: FTS5 flushes its
 * pending terms at every savepoint and for every lower rowid (160 µs per message instead of 95 µs). The index stores positions, for
 * phrases. It has no prefix index: that would add three quarters to its size and a third to its cost, to save 0.3 s of a search for two
 * letters and a star in a mailbox of 200,000 messages.
 */
export function indexMessage(tx: Tx, { n, account, message, correspondents }: IndexedMessage): void {
  const row: Row = { rowid: n, keys: indexKeys(account, message, correspondents) }
  for (const [column, text] of Object.entries(indexTexts(message))) row[column] = segmentText(text)
  tx.insert('message_text', row)
  noteWritten(tx, textBytes(row))
}

/** True if versions before word segmentation (words.ts) indexed the message with other tokens. */
export function isChangedBySegmentation(message: SearchableMessage): boolean {
  return Object.values(indexTexts(message)).some((text) => segmentText(text) !== text)
}

/** Removes a message from the index. */
export function unindexMessage(tx: Tx, n: number): void {
  tx.run('DELETE FROM message_text WHERE rowid = ?', [n])
  noteWritten(tx, 0)
}

function indexKeys(account: number, message: SearchableMessage, correspondents: CorrespondentsByField): string {
  const keys = new Set([accountKey(account)])
  if (message.messageId !== null) keys.add(messageIdKey(message.messageId))
  for (const field of Object.keys(correspondents) as CorrespondentField[]) {
    for (const n of correspondents[field]) keys.add(correspondentKey(field, n))
  }
  for (const field of Object.keys(ADDRESS_FIELDS) as AddressField[]) {
    for (const { email } of message[field]) {
      keys.add(addressKey(field, email))
      keys.add(domainKey(field, email.slice(email.lastIndexOf('@') + 1)))
    }
  }
  return [...keys].join(' ')
}

function textBytes(row: Row): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0),
    0,
  )
}

function indexTexts(message: SearchableMessage) {
  return {
    subject: message.subject,
    from_text: addressText(message.from),
    to_text: addressText(message.to),
    cc_text: addressText(message.cc),
    bcc_text: addressText(message.bcc),
    body: message.searchText,
    filenames: message.attachments.map(({ filename }) => filename).join('\n'),
  }
}

function addressText(addresses: Address[]): string {
  return addresses.map(({ name, email }) => `${name} ${email}`).join('\n')
}

function foldAddress(email: string): string {
  const at = email.lastIndexOf('@')
  return `${email
    .slice(0, at + 1)
    .normalize('NFC')
    .toLowerCase()}${foldDomain(email.slice(at + 1))}`
}

// A domain can be written with U-labels or A-labels (RFC 5890 §2.3.2.1).
function foldDomain(domain: string): string {
  const lower = domain.toLowerCase()
  return domainToASCII(lower) || lower
}

function digits(text: string): string {
  return hash('sha256', text, 'hex').slice(0, KEY_DIGITS)
}
