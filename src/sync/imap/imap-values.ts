// Reads values of parsed IMAP responses, and builds those of commands. Whatever is not in its expected form is null or left out.

import { joinRanges } from '../../base/number-ranges.ts'
import type { FolderRole } from '../../store/rows/records.ts'
import type { ListedFolder, RemoteFlags, RemoteFolderStatus, RemoteHead, UidSpan } from '../model/server.ts'

/** A value of a response as imapflow parses it; NIL is null. */
export type ResponseValue = ResponseToken | ResponseValue[] | null

interface ResponseToken {
  type: string
  value: string | Uint8Array
  section?: ResponseValue[]
  /** Origin of a part of a body: `BODY[]<0>`. */
  partial?: number[]
}

/** One response: `command` is its first word or number. */
export interface ImapResponse {
  tag: string
  command: string
  attributes?: ResponseValue[]
  /** A SEARCH of plain numbers. */
  numbers?: number[]
}

/** A value of a command as imapflow writes it. */
export type CommandValue = CommandToken | CommandValue[]

interface CommandToken {
  type: string
  value: string | Uint8Array
  section?: CommandValue[]
  /** First byte and number of bytes. */
  partial?: [number, number]
}

export interface ResponseCode {
  /** Upper-case; null without one. */
  name: string | null
  values: ResponseValue[]
  /** The text after it. */
  text: string
}

const UID_MAX = 0xff_ff_ff_ff
const TEXT_MAX = 1000

export const atom = (value: string): CommandValue => ({ type: 'ATOM', value })
export const quoted = (value: string): CommandValue => ({ type: 'STRING', value })
/** `BODY.PEEK[section]<partial>` */
export const body = (section: CommandValue[], partial?: [number, number]): CommandValue => ({
  type: 'ATOM',
  value: 'BODY.PEEK',
  section,
  partial,
})
export const sequence = (value: string): CommandValue => ({ type: 'SEQUENCE', value })

export function textOf(value: ResponseValue | undefined): string | null {
  if (value === null || value === undefined || Array.isArray(value)) return null
  return typeof value.value === 'string' ? value.value : Buffer.from(value.value).toString('utf8')
}

export function bytesOf(value: ResponseValue | undefined): Uint8Array | null {
  if (value === null || value === undefined || Array.isArray(value)) return null
  return typeof value.value === 'string' ? Buffer.from(value.value) : value.value
}

/** A whole number up to 2^53 - 1. */
export function numberOf(value: ResponseValue | undefined): number | null {
  const text = textOf(Array.isArray(value) ? value[0] : value)
  if (text === null || !/^\d{1,16}$/.test(text)) return null
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : null
}

/** A number of 32 bits other than 0 (RFC 9051 nz-number). */
export function uidOf(value: ResponseValue | undefined): number | null {
  const number = numberOf(value)
  return number !== null && number > 0 && number <= UID_MAX ? number : null
}

export function listOf(value: ResponseValue | undefined): ResponseValue[] {
  return Array.isArray(value) ? value : []
}

export function textsOf(value: ResponseValue | undefined): string[] {
  return listOf(value).flatMap((item) => textOf(item) ?? [])
}

/** The response code and text of a status response. */
export function codeOf(response: ImapResponse): ResponseCode {
  const [first, ...rest] = response.attributes ?? []
  const section = first !== null && first !== undefined && !Array.isArray(first) ? first.section : undefined
  const values = section === undefined ? [first ?? null, ...rest] : rest
  const text = values.flatMap((value) => textOf(value) ?? []).join(' ')
  const name = textOf(section?.[0])?.toUpperCase() ?? null
  return { name, values: section?.slice(1) ?? [], text: text.slice(0, TEXT_MAX) }
}

/** Names and values in turns, by upper-case name; a name with a section ends in `[]`, with its contents left out. */
export function pairsOf(values: readonly ResponseValue[]): Map<string, ResponseValue> {
  const pairs = new Map<string, ResponseValue>()
  for (let at = 0; at + 1 < values.length; at += 2) {
    const key = values[at]!
    const name = textOf(key)
    if (name === null) continue
    const hasSection = !Array.isArray(key) && key.section !== undefined
    pairs.set(hasSection ? `${name.toUpperCase()}[]` : name.toUpperCase(), values[at + 1]!)
  }
  return pairs
}

/** @returns null when the text is not a set of numbers, or has more than `most` spans */
export function spansOf(text: string | null, most: number): UidSpan[] | null {
  if (text === null) return null
  const spans: UidSpan[] = []
  for (const part of text.split(',')) {
    const [, from, to] = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(part) ?? []
    if (from === undefined || spans.length >= most) return null
    const [one, other] = [Number(from), Number(to ?? from)]
    if (one === 0 || other === 0 || one > UID_MAX || other > UID_MAX) return null
    spans.push([Math.min(one, other), Math.max(one, other)])
  }
  return spans
}

/** Spans of numbers in any order, each once. */
export function spansOfNumbers(numbers: readonly number[]): UidSpan[] {
  const spans: [number, number][] = []
  for (const uid of Uint32Array.from(numbers).sort()) {
    const before = spans.at(-1)
    if (uid === 0) continue
    if (before !== undefined && uid <= before[1] + 1) before[1] = uid
    else spans.push([uid, uid])
  }
  return spans
}

/** How the spans are written in commands of at most `length` characters each. */
export function setsOf(spans: readonly UidSpan[], length: number): string[] {
  const sets: string[] = []
  let set = ''
  for (const [first, last] of joinRanges(spans)) {
    const part = first === last ? String(first) : `${first}:${last}`
    if (set.length + part.length + 1 > length) {
      sets.push(set)
      set = ''
    }
    set = set === '' ? part : `${set},${part}`
  }
  return set === '' ? sets : [...sets, set]
}

/** INTERNALDATE (RFC 9051 date-time) as ms; null when it is not one. */
function dateOf(text: string | null): number | null {
  if (text === null) return null
  const ms = Date.parse(text.trim().replaceAll(/-(?=\w{3}-|\d{4} )/g, ' '))
  return Number.isFinite(ms) && ms >= 0 ? ms : null
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The date-time of APPEND, in UTC. */
export function dateText(ms: number): string {
  const date = new Date(ms)
  const two = (number: number) => String(number).padStart(2, '0')
  const day = `${two(date.getUTCDate())}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()}`
  return `${day} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`
}

/** Bounds of what is kept of one message; the rest of a longer list is left out. */
const FLAGS_MAX = 200
const FLAG_CHARACTERS = 200
const LABELS_MAX = 500
const LABEL_CHARACTERS = 1000
const MESSAGE_ID_CHARACTERS = 998
/** What is read of a header field or label that comes as a literal. */
export const FIELD_BYTES = 4 * MESSAGE_ID_CHARACTERS
/** RFC 8474 §4: `objectid`; X-GM-MSGID is a number. */
const OBJECT_ID = /^[A-Za-z0-9_-]{1,255}$/
const PATH_CHARACTERS = 2000

export type Decode = (path: string) => string

/** The items of a FETCH response; null without a UID. */
export function fetchedItems(response: ImapResponse): { uid: number; items: Map<string, ResponseValue> } | null {
  const items = pairsOf(listOf(response.attributes?.[1]))
  const uid = uidOf(items.get('UID'))
  return uid === null ? null : { uid, items }
}

/** @returns null when the response has no flags */
export function flagsIn(uid: number, items: Map<string, ResponseValue>, decode: Decode): RemoteFlags | null {
  const flags = items.get('FLAGS')
  if (!Array.isArray(flags)) return null
  const labels = items.get('X-GM-LABELS')
  return {
    uid,
    flags: textsOf(flags)
      .filter((flag) => flag.length <= FLAG_CHARACTERS && flag.toLowerCase() !== '\\recent')
      .slice(0, FLAGS_MAX),
    labels: Array.isArray(labels)
      ? textsOf(labels)
          .filter((label) => label.length <= LABEL_CHARACTERS)
          .slice(0, LABELS_MAX)
          .map((label) => (label.startsWith('\\') ? label : decode(label)))
      : null,
    modSeq: numberOf(items.get('MODSEQ')),
  }
}

/** @returns null when size or flags are missing @param now ms, for a message without a date */
export function headIn(uid: number, items: Map<string, ResponseValue>, decode: Decode, now: number): RemoteHead | null {
  const flags = flagsIn(uid, items, decode)
  const sizeBytes = numberOf(items.get('RFC822.SIZE'))
  if (flags === null || sizeBytes === null) return null
  const objectId = textOf(items.get('X-GM-MSGID')) ?? textsOf(items.get('EMAILID'))[0] ?? null
  return {
    ...flags,
    sizeBytes,
    receivedAt: dateOf(textOf(items.get('INTERNALDATE'))) ?? now,
    messageId: messageIdIn(bytesOf(items.get('BODY[]'))),
    objectId: objectId !== null && OBJECT_ID.test(objectId) ? objectId : null,
  }
}

function messageIdIn(header: Uint8Array | null): string | null {
  if (header === null) return null
  const text = Buffer.from(header.subarray(0, FIELD_BYTES)).toString('utf8')
  const id = /^message-id:\s*(\S[^\r\n]*)/im.exec(text.replaceAll(/\r?\n(?=[ \t])/g, ''))?.[1]?.trim()
  if (id === undefined || id.length > MESSAGE_ID_CHARACTERS) return null
  return /<[^<>\s]+>/.exec(id)?.[0] ?? id
}

/** LIST or LSUB; null when it has no usable name. */
export function listedIn(response: ImapResponse, decode: Decode, isGmail: boolean): ListedFolder | null {
  const [flags, delimiter, name] = response.attributes ?? []
  const raw = textOf(name)
  // A name with a line break cannot be sent back as it is.
  if (raw === null || raw === '' || raw.length > PATH_CHARACTERS || /\p{Cc}/u.test(raw)) return null
  const marks = new Set(textsOf(flags).map((flag) => flag.toLowerCase()))
  // INBOX in any case is the one folder (RFC 9051 §5.1).
  const path = /^inbox$/i.test(raw) ? 'INBOX' : decode(raw)
  // Gmail's All Mail has the messages themselves.
  const isView = VIEWS.some((mark) => marks.has(mark)) && !(isGmail && marks.has('\\all'))
  return {
    path,
    delimiter: textOf(delimiter)?.slice(0, 1) ?? null,
    objectId: null,
    role: path === 'INBOX' ? 'inbox' : roleIn(marks, isGmail),
    canSelect: !isView && !UNREADABLE.some((mark) => marks.has(mark)),
    isView,
    isSubscribed: marks.has('\\subscribed'),
    status: null,
  }
}

const ROLES = new Map<string, FolderRole>([
  ['\\drafts', 'drafts'],
  ['\\sent', 'sent'],
  ['\\junk', 'junk'],
  ['\\spam', 'junk'],
  ['\\trash', 'trash'],
  ['\\archive', 'archive'],
])

const UNREADABLE = ['\\noselect', '\\nonexistent']
/** Folders that show messages of others (RFC 6154 §2): following them would double everything. */
const VIEWS = ['\\all', '\\flagged', '\\important']

/** SPECIAL-USE (RFC 6154), and the names of XLIST. */
function roleIn(marks: ReadonlySet<string>, isGmail: boolean): FolderRole | null {
  // All Mail: what has no label is archived.
  if (isGmail && marks.has('\\all')) return 'archive'
  for (const mark of marks) {
    const role = ROLES.get(mark)
    if (role !== undefined) return role
  }
  return null
}

export interface StatusRow {
  path: string
  objectId: string | null
  /** Null where a number is missing. */
  status: RemoteFolderStatus | null
}

export function statusIn(response: ImapResponse, decode: Decode): StatusRow | null {
  const [name, values] = response.attributes ?? []
  const raw = textOf(name)
  if (raw === null || raw.length > PATH_CHARACTERS) return null
  const items = pairsOf(listOf(values))
  const uidValidity = uidOf(items.get('UIDVALIDITY'))
  const uidNext = numberOf(items.get('UIDNEXT'))
  const messages = numberOf(items.get('MESSAGES'))
  const isWhole = uidValidity !== null && uidNext !== null && messages !== null
  return {
    path: /^inbox$/i.test(raw) ? 'INBOX' : decode(raw),
    objectId: textsOf(items.get('MAILBOXID')).find((id) => OBJECT_ID.test(id)) ?? null,
    status: isWhole ? { uidValidity, uidNext, messages, modSeq: numberOf(items.get('HIGHESTMODSEQ')) || null } : null,
  }
}
