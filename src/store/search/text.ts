// The search text of messages: what the full-text index `message_text` holds, and the keys only we write into it.

import { hash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { Row, Tx } from '../../db/db.ts'
import type { Address } from '../../mime/message.ts'
import { cutText } from './words.ts'

/** Deps of a message whose addresses can be asked for exactly, with the letter that starts their keys. */
export const ADDRESS_PARTS = { from: 'f', to: 't', cc: 'c', bcc: 'b' } as const
export type AddressPart = keyof typeof ADDRESS_PARTS

/** Numbers of the people of a mail (rows of `correspondents`), by part. */
export type People = Record<'from' | 'to' | 'cc', number[]>
export type PeoplePart = keyof People

const KEY_DIGITS = 20

/** The key every message of an account carries: what a negation is taken from. */
export function accountKey(account: number): string {
  return `a${account}`
}

/** The key of somebody in one part of a message. */
export function personKey(part: PeoplePart, correspondent: number): string {
  return `${ADDRESS_PARTS[part]}${correspondent}`
}

/** The key of a whole address in one part of a message. Hashed, because a token of the index holds letters and digits only. */
export function addressKey(part: AddressPart, email: string): string {
  return `${ADDRESS_PARTS[part]}a${digits(foldAddress(email))}`
}

/** The key of everybody at a domain (not below it) in one part of a message. */
export function domainKey(part: AddressPart, domain: string): string {
  return `${ADDRESS_PARTS[part]}d${digits(foldDomain(domain))}`
}

/** The key of a message by its Internet Message-ID. */
export function messageIdKey(id: string): string {
  return `i${digits(id)}`
}

/** What a message can be found by. */
export interface SearchedMail {
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

/** A message that gets into the index. */
export interface IndexedMessage {
  n: number
  account: number
  mail: SearchedMail
  people: People
}

/**
 * Adds the search text of a message. Its rowid is the message's own number. Cheapest at the end of a transaction, in order: at
 * every savepoint and for every lower number FTS5 writes what it has gathered (160 µs a message instead of 95 µs). The index keeps
 * positions, for phrases. It has no index of prefixes: that would add three quarters to its size and a third to its cost, to save
 * 0.3 s of a search for two letters and a star in a mailbox of 200,000 messages.
 */
export async function indexMessage(tx: Tx, { n, account, mail, people }: IndexedMessage): Promise<void> {
  const row: Row = { rowid: n, keys: keysOf(account, mail, people) }
  for (const [column, text] of Object.entries(textsOf(mail))) row[column] = cutText(text)
  await tx.insert('message_text', row)
}

/** True when a mail went into the index in another form before texts were cut into words (see words.ts). */
export function isCutAnew(mail: SearchedMail): boolean {
  return Object.values(textsOf(mail)).some((text) => cutText(text) !== text)
}

/** Takes the search text of a message away. */
export async function unindexMessage(tx: Tx, n: number): Promise<void> {
  await tx.run('DELETE FROM message_text WHERE rowid = ?', [n])
}

function keysOf(account: number, mail: SearchedMail, people: People): string {
  const keys = new Set([accountKey(account)])
  if (mail.messageId !== null) keys.add(messageIdKey(mail.messageId))
  for (const part of Object.keys(people) as PeoplePart[]) {
    for (const person of people[part]) keys.add(personKey(part, person))
  }
  for (const part of Object.keys(ADDRESS_PARTS) as AddressPart[]) {
    for (const { email } of mail[part]) {
      keys.add(addressKey(part, email))
      keys.add(domainKey(part, email.slice(email.lastIndexOf('@') + 1)))
    }
  }
  return [...keys].join(' ')
}

function textsOf(mail: SearchedMail) {
  return {
    subject: mail.subject,
    from_text: addressText(mail.from),
    to_text: addressText(mail.to),
    cc_text: addressText(mail.cc),
    bcc_text: addressText(mail.bcc),
    body: mail.searchText,
    filenames: mail.attachments.map(({ filename }) => filename).join('\n'),
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

// The same domain may be written with U-labels or A-labels (RFC 5890 2.3.2.1).
function foldDomain(domain: string): string {
  const lower = domain.toLowerCase()
  return domainToASCII(lower) || lower
}

function digits(text: string): string {
  return hash('sha256', text, 'hex').slice(0, KEY_DIGITS)
}
