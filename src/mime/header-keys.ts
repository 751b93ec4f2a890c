// What a header is sorted, threaded and searched by (RFC 5256): computed once, when a message is stored.

import { hash } from 'node:crypto'
import { parseListedAddresses } from './address-list.ts'
import { baseSubject, casemapKey } from './base-subject.ts'
import { parseDate } from './date.ts'
import { decodeHeader } from './decode.ts'
import { ENVELOPE_FIELD_MAX, type EnvelopeFields, envelopeFields } from './envelope.ts'
import { fieldText, type HeaderField, headerText } from './headers.ts'
import { messageIds } from './references.ts'

/** Ids used of one References field: the first (the root of the thread) and the last ones. */
export const THREAD_REFERENCES_MAX = 1000
/** Bytes that stand for a Message-ID, and their length as text: a folder has a hundred thousand, and texts are read fastest. */
const ID_DIGEST_BYTES = 8
export const ID_DIGEST_LENGTH = 11
/** Stands for a Message-ID that is missing. */
export const NO_ID = '-'.repeat(ID_DIGEST_LENGTH)

/** Keys of the header of one message. */
export interface HeaderKeys {
  /** Texts of the Subject fields in the form of {@link foldedText}, one on each line; null where they are too long to be kept. */
  subjectText: string | null
  subject: SubjectKey
  /** Keys of the mailbox name of the first address, "" where there is none. */
  from: string
  to: string
  cc: string
  /** Date field, ms; null without a readable one. */
  sentAt: number | null
  /** Digests of the Message-ID ({@link NO_ID} where there is none) and of the messages above this one, the root first. */
  threadIds: string
}

/** The base subject of a message as it is compared. */
export interface SubjectKey {
  /** "" where nothing is left without marks. */
  key: string
  /** True when a mark of a reply or a forwarded message was removed. */
  isReply: boolean
}

/** Fields that name messages: unfolded texts, undefined where the message has none. */
export interface ThreadFields {
  messageId: string | undefined
  inReplyTo: string | undefined
  references: string | undefined
}

/** Text in the form search strings are compared in: case does not matter, accents do. */
export function foldedText(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Keys of all fields of a header. */
export function headerKeys(fields: readonly HeaderField[]): HeaderKeys {
  const envelope = envelopeFields(fields)
  return {
    subjectText: subjectText(fields),
    subject: subjectKey(envelope.subject),
    from: mailboxKey(envelope.from),
    to: mailboxKey(envelope.to),
    cc: mailboxKey(envelope.cc),
    sentAt: sentAt(envelope),
    threadIds: threadIds({
      messageId: envelope.messageId,
      inReplyTo: envelope.inReplyTo,
      references: headerText(fields, 'references') ?? undefined,
    }),
  }
}

function subjectText(fields: readonly HeaderField[]): string | null {
  const texts = fields
    .filter(({ name }) => name === 'subject')
    .map((field) => foldedText(decodeHeader(fieldText(field))))
  const text = texts.join('\n')
  return text.length > ENVELOPE_FIELD_MAX ? null : text
}

/** RFC 5256 §2.1. */
export function subjectKey(subject: string | undefined): SubjectKey {
  const { text, isReply } = baseSubject(subject ?? '')
  return { key: casemapKey(text), isReply }
}

/** RFC 5256 §3: the mailbox name of the first address. */
export function mailboxKey(addresses: string | undefined): string {
  return casemapKey((addresses === undefined ? undefined : parseListedAddresses(addresses, 1)[0])?.mailbox ?? '')
}

/** The Date field, ms; null without a readable one. */
export function sentAt({ date }: Pick<EnvelopeFields, 'date'>): number | null {
  return date === undefined ? null : parseDate(date)
}

/** {@link HeaderKeys.threadIds}. */
export function threadIds(fields: ThreadFields): string {
  const id = fields.messageId === undefined ? undefined : idsOf(fields.messageId, 1)[0]
  return [id === undefined ? NO_ID : digestOf(id), ...referencesOf(fields).map(digestOf)].join('')
}

/** The ids of References, or the first one of In-Reply-To where it has none (RFC 5256 §3, step 1). */
function referencesOf({ references, inReplyTo }: ThreadFields): string[] {
  const ids = references === undefined ? [] : idsOf(references, THREAD_REFERENCES_MAX)
  if (ids.length === 0) return inReplyTo === undefined ? [] : idsOf(inReplyTo, THREAD_REFERENCES_MAX).slice(0, 1)
  // A repeated id counts once in the chain, but the last one of the field is the parent.
  const last = idsOf(references!.slice(references!.lastIndexOf('<')), 1)[0]
  if (last !== undefined && last !== ids.at(-1)) ids.push(last)
  return ids
}

/** Ids without angle brackets; a quoted local part counts as the same without quotes (RFC 5256 §3, step 1). */
function idsOf(text: string, max: number): string[] {
  return messageIds(text, Math.max(2, max))
    .slice(0, max)
    .map((id) => (id.includes('"') ? id.replace(/^"([^"\\\s]*)"(?=@)/, '$1') : id))
}

function digestOf(id: string): string {
  return hash('sha256', id, 'buffer').toString('base64url', 0, ID_DIGEST_BYTES)
}
