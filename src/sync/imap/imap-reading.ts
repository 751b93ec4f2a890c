// What is read of the selected folder: UIDs, flags, heads and contents, each within bounds.

import { countOf, joinRanges, rangesInclude } from '../../base/number-ranges.ts'
import {
  MESSAGE_BYTES_MAX,
  MessageTooLarge,
  PIECE_BYTES,
  type RemoteFlags,
  type RemoteHead,
  ServerError,
  type UidSpan,
} from '../model/server.ts'
import { within } from '../model/uid-spans.ts'
import { RESPONSES_MAX } from './imap-channel.ts'
import { type RemoteSession, SET_CHARACTERS, SPANS_MAX } from './imap-session.ts'
import {
  atom,
  body,
  bytesOf,
  type CommandValue,
  type Decode,
  FIELD_BYTES,
  fetchedItems,
  flagsIn,
  headIn,
  type ImapResponse,
  listOf,
  quoted,
  type ResponseValue,
  sequence,
  setsOf,
  spansOf,
  spansOfNumbers,
  textOf,
  uidOf,
} from './imap-values.ts'

/** Contents in one answer: the caller asks for 4 MiB by sizes that may be estimates. */
const CONTENTS_BYTES = 24 * 1024 * 1024
const PART_BYTES = 1024 * 1024
/** Timeout of contents in ms: a server that gives less than 32 KiB a second is not waited for. */
const CONTENTS_MS = 240_000

/** UIDs of the folder: all, or those that are there of some. */
export async function readUids(session: RemoteSession, of?: readonly UidSpan[]): Promise<UidSpan[]> {
  if (of === undefined) return searched(session, [atom('ALL')])
  const found: UidSpan[] = []
  for (const set of setsOf(of, SET_CHARACTERS)) found.push(...(await searched(session, [atom('UID'), sequence(set)])))
  const asked = joinRanges(of)
  return joinRanges(found).flatMap(([first, last]) => within(asked, first, last))
}

/** UIDs of all messages of the folder, by FETCH. */
export async function readFetchedUids(session: RemoteSession): Promise<UidSpan[]> {
  const uids = await fetchRows(session, ['1:*'], [atom('UID')], (uid) => uid, {})
  return spansOfNumbers(uids)
}

/** UIDs with this Message-ID. */
export async function findMessageId(session: RemoteSession, messageId: string): Promise<number[]> {
  const spans = await searched(session, [atom('HEADER'), quoted('Message-ID'), quoted(messageId)])
  return spans.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at))
}

export async function searched(session: RemoteSession, keys: CommandValue[]): Promise<UidSpan[]> {
  const { channel } = session
  session.folder()
  const spans: UidSpan[] = []
  const add = (found: readonly UidSpan[] | null) => {
    if (found === null || spans.length + found.length > SPANS_MAX)
      return channel.violate('sent a list of messages that cannot be read')
    for (const span of found) spans.push(span)
  }
  const options = session.has('ESEARCH') ? [atom('RETURN'), [atom('ALL')]] : []
  await channel.run('UID SEARCH', [...options, ...keys], {
    SEARCH: ({ numbers, attributes = [] }) =>
      add(spansOfNumbers(numbers ?? attributes.flatMap((value) => uidOf(value) ?? []))),
    ESEARCH: ({ attributes = [] }) => {
      const at = attributes.findIndex((value) => textOf(value)?.toUpperCase() === 'ALL')
      if (at >= 0) add(spansOf(textOf(attributes[at + 1]), SPANS_MAX))
    },
  })
  const joined = joinRanges(spans)
  session.checkCount(joined)
  return joined
}

/** FETCH 1:* (FLAGS) (CHANGEDSINCE modSeq). */
export async function readChangedSince(session: RemoteSession, modSeq: number): Promise<RemoteFlags[]> {
  if (!session.folder().hasModSeq)
    throw new ServerError('refused', `${session.channel.host} does not number changes of the folder.`)
  const modifier = [atom('CHANGEDSINCE'), atom(String(modSeq))]
  return fetchRows(session, ['1:*'], flagItems(session), (uid, items) => flagsIn(uid, items, session.decode), {
    modifier,
  })
}

export async function readFlags(session: RemoteSession, runs: readonly UidSpan[]): Promise<RemoteFlags[]> {
  const sets = setsOf(runs, SET_CHARACTERS)
  return fetchRows(session, sets, flagItems(session), (uid, items) => flagsIn(uid, items, session.decode), { runs })
}

export async function readHeads(session: RemoteSession, runs: readonly UidSpan[]): Promise<RemoteHead[]> {
  const { facts } = session
  const id = facts.hasLabels ? ['X-GM-MSGID'] : session.has('OBJECTID') ? ['EMAILID'] : []
  const names = ['RFC822.SIZE', 'INTERNALDATE', ...id].map(atom)
  const items = [...flagItems(session), ...names, body([atom('HEADER.FIELDS'), [atom('MESSAGE-ID')]])]
  const now = session.clock.now()
  const read = (uid: number, values: Map<string, ResponseValue>, decode: Decode) => headIn(uid, values, decode, now)
  return fetchRows(session, setsOf(runs, SET_CHARACTERS), items, read, { runs })
}

function flagItems(session: RemoteSession): CommandValue[] {
  const names = ['UID', 'FLAGS']
  if (session.folder().hasModSeq) names.push('MODSEQ')
  if (session.facts.hasLabels) names.push('X-GM-LABELS')
  return names.map(atom)
}

/** One row for each UID that was asked for; responses about others are left out. */
async function fetchRows<Row>(
  session: RemoteSession,
  sets: readonly string[],
  items: CommandValue[],
  read: (uid: number, items: Map<string, ResponseValue>, decode: Decode) => Row | null,
  { runs, modifier }: { runs?: readonly UidSpan[]; modifier?: CommandValue[] },
): Promise<Row[]> {
  const folder = session.folder()
  const asked = runs === undefined ? null : joinRanges(runs)
  const most = asked === null ? folder.exists + 10_000 : countOf(asked)
  const rows = new Map<number, Row>()
  const onFetch = (response: ImapResponse) => {
    const fetched = fetchedItems(response)
    if (fetched === null || (asked !== null && !rangesInclude(asked, fetched.uid))) return
    const row = read(fetched.uid, fetched.items, session.decode)
    if (row === null) return
    rows.set(fetched.uid, row)
    if (rows.size > most) session.channel.violate('names more messages than the folder holds')
  }
  for (const set of sets) {
    const values = [sequence(set), items, ...(modifier === undefined ? [] : [modifier])]
    const options = { most: 2 * most + RESPONSES_MAX, keeps: FIELD_BYTES }
    await session.channel.run('UID FETCH', values, { FETCH: onFetch }, options)
  }
  return [...rows.values()]
}

/** Contents of messages, by UID; what the server does not give is missing. */
export async function readContents(session: RemoteSession, uids: readonly number[]): Promise<Map<number, Uint8Array>> {
  const groups = session.quirks.hasSlowBodies ? uids.map((uid) => [uid]) : uids.length === 0 ? [] : [uids]
  const found = new Map<number, Uint8Array>()
  for (const group of groups) {
    await fetchBodies(session, group, found)
    // iCloud and others give an empty content now and then.
    const empty = group.filter((uid) => found.get(uid)?.length === 0)
    if (empty.length > 0) await fetchBodies(session, empty, found)
  }
  for (const [uid, bytes] of found) if (bytes.length === 0) found.delete(uid)
  return found
}

/** The beginnings of messages, by UID; what the server does not give is missing. */
export async function readPieces(session: RemoteSession, uids: readonly number[]): Promise<Map<number, Uint8Array>> {
  const found = new Map<number, Uint8Array>()
  if (uids.length > 0) await fetchBodies(session, uids, found, [0, PIECE_BYTES])
  // A server that ignores the range gives everything.
  const given = [...found].filter(([, bytes]) => bytes.length > 0)
  return new Map(given.map(([uid, bytes]) => [uid, bytes.subarray(0, PIECE_BYTES)]))
}

async function fetchBodies(
  session: RemoteSession,
  uids: readonly number[],
  found: Map<number, Uint8Array>,
  range?: [start: number, length: number],
): Promise<void> {
  const { channel, throttle } = session
  const asked = spansOfNumbers(uids)
  let bytes = 0
  const onFetch = (response: ImapResponse) => {
    const fetched = fetchedItems(response)
    if (fetched === null || !rangesInclude(asked, fetched.uid)) return
    const content = bytesOf(fetched.items.get('BODY[]'))
    if (content === null) return
    bytes += content.length
    if (bytes > CONTENTS_BYTES) return channel.violate('sent much more content than the sizes it had named')
    found.set(fetched.uid, content)
  }
  for (const set of setsOf(asked, SET_CHARACTERS)) {
    const before = { bytes, messages: found.size }
    const items = [atom('UID'), body([], range)]
    await channel.run('UID FETCH', [sequence(set), items], { FETCH: onFetch }, { ms: CONTENTS_MS })
    throttle.count(found.size - before.messages, bytes - before.bytes)
  }
}

/** One message in pieces; null when the server does not give it. @throws MessageTooLarge */
export async function readContent(session: RemoteSession, uid: number): Promise<AsyncIterable<Uint8Array> | null> {
  const first = await readPiece(session, uid, 0)
  return first === null || first.length === 0 ? null : pieces(session, uid, first)
}

async function* pieces(session: RemoteSession, uid: number, first: Uint8Array): AsyncGenerator<Uint8Array> {
  let size = 0
  for (let piece: Uint8Array | null = first; piece !== null && piece.length > 0; ) {
    size += piece.length
    if (size > MESSAGE_BYTES_MAX) throw new MessageTooLarge()
    yield piece
    // A server that ignores the range gives everything at once; a shorter piece is the last one.
    if (piece.length !== PART_BYTES) return
    piece = await readPiece(session, uid, size)
  }
}

async function readPiece(session: RemoteSession, uid: number, start: number): Promise<Uint8Array | null> {
  const { channel, throttle } = session
  let piece: Uint8Array | null = null
  const onFetch = (response: ImapResponse) => {
    const fetched = fetchedItems(response)
    if (fetched?.uid !== uid) return
    piece = bytesOf(fetched.items.get('BODY[]')) ?? piece
    if (start > 0 && originIn(response) !== start)
      channel.violate('sent another part of a message than it was asked for')
  }
  const item = body([], [start, PART_BYTES])
  await channel.run('UID FETCH', [sequence(String(uid)), [atom('UID'), item]], { FETCH: onFetch }, { ms: CONTENTS_MS })
  const read: Uint8Array | null = piece
  throttle.count(start === 0 ? 1 : 0, (read as Uint8Array | null)?.length ?? 0)
  return read
}

function originIn(response: ImapResponse): number | undefined {
  const items = listOf(response.attributes?.[1])
  for (const item of items)
    if (item !== null && !Array.isArray(item) && item.partial !== undefined) return item.partial[0]
  return undefined
}
