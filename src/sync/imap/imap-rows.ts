// Reads FETCH, LIST and STATUS responses.

import type { FolderRole } from '../../store/rows/records.ts'
import type { ListedFolder, RemoteFlags, RemoteFolderStatus, RemoteHead } from '../model/server.ts'
import {
  bytesOf,
  dateOf,
  type ImapResponse,
  listOf,
  numberOf,
  pairsOf,
  type ResponseValue,
  textOf,
  textsOf,
  uidOf,
} from './imap-values.ts'

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
