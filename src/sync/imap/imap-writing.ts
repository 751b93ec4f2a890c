// What is changed at the server: flags, labels, moves, copies, new messages and removals, never more than what was asked for.

import { countOf, rangesInclude } from '../../base/number-ranges.ts'
import { type RemoteFlagChange, ServerError, type UidSpan } from '../model/server.ts'
import { searched } from './imap-reading.ts'
import { type RemoteSession, SET_CHARACTERS } from './imap-session.ts'
import {
  atom,
  type CommandValue,
  codeOf,
  dateText,
  type ImapResponse,
  quoted,
  type ResponseCode,
  sequence,
  setsOf,
  spansOf,
  spansOfNumbers,
  textOf,
  uidOf,
} from './imap-values.ts'

/** UIDs that one response may name. */
const NAMED_MAX = 10_000
/** Timeout in ms of APPEND: 32 KiB a second, and 2 minutes. */
const APPEND_MS = 120_000
const APPEND_BYTES_PER_MS = 32

/** RFC 9051 flag: an atom, with a backslash for those of the system. */
const FLAG = /^\\?[^\s(){%*"\\\]\p{C}]{1,100}$/u

/** @returns the UIDs that changed since `unchangedSince` (RFC 7162), which were left alone */
export async function storeFlags(
  session: RemoteSession,
  runs: readonly UidSpan[],
  change: RemoteFlagChange,
  unchangedSince?: number,
): Promise<number[]> {
  const bad = [...change.add, ...change.remove].find((flag) => !FLAG.test(flag))
  if (bad !== undefined) throw new ServerError('refused', 'A keyword has characters that IMAP does not allow.')
  const modified = new Set<number>()
  const isConditional = unchangedSince !== undefined && session.folder().hasModSeq
  for (const set of setsOf(runs, SET_CHARACTERS)) {
    // The first of two commands changes the modification sequence that the second would compare with.
    let left = set
    let condition = isConditional ? [[atom('UNCHANGEDSINCE'), atom(String(unchangedSince))]] : []
    for (const [sign, flags] of [
      ['+', change.add],
      ['-', change.remove],
    ] as const) {
      if (flags.length === 0 || left === '') continue
      const answer = await session.channel.run('UID STORE', [
        sequence(left),
        ...condition,
        atom(`${sign}FLAGS.SILENT`),
        flags.map(atom),
      ])
      const refused = condition.length === 0 ? [] : modifiedIn(answer)
      for (const uid of refused) modified.add(uid)
      left = without(left, modified)
      condition = []
    }
  }
  return [...modified]
}

function modifiedIn({ name, values }: ResponseCode): number[] {
  if (name !== 'MODIFIED') return []
  return numbersIn(spansOf(textOf(values[0]), NAMED_MAX)) ?? []
}

function without(set: string, uids: ReadonlySet<number>): string {
  if (uids.size === 0) return set
  const numbers = numbersIn(spansOf(set, NAMED_MAX))
  if (numbers === null) return set
  return setsOf(spansOfNumbers(numbers.filter((uid) => !uids.has(uid))), Number.POSITIVE_INFINITY)[0] ?? ''
}

/** Gmail's labels (X-GM-EXT-1). */
export async function storeLabels(
  session: RemoteSession,
  runs: readonly UidSpan[],
  change: RemoteFlagChange,
): Promise<void> {
  const labelValue = (label: string) => (label.startsWith('\\') ? atom(label) : session.path(label))
  for (const set of setsOf(runs, SET_CHARACTERS)) {
    for (const [sign, labels] of [
      ['+', change.add],
      ['-', change.remove],
    ] as const) {
      if (labels.length === 0) continue
      await session.channel.run('UID STORE', [sequence(set), atom(`${sign}X-GM-LABELS`), labels.map(labelValue)])
    }
  }
}

/** Where messages are moved or copied to, with its UIDVALIDITY as far as it is known. */
interface CopyTarget {
  path: string
  uidValidity: number | null
}

/** @returns new UIDs by old ones; null without COPYUID, or when the folder was numbered again */
export async function moveMessages(
  session: RemoteSession,
  uids: readonly number[],
  to: CopyTarget,
): Promise<Map<number, number> | null> {
  if (session.facts.hasMove) return transferred(session, 'UID MOVE', uids, to)
  const copied = await transferred(session, 'UID COPY', uids, to)
  await expungeMessages(session, uids)
  return copied
}

export function copyMessages(
  session: RemoteSession,
  uids: readonly number[],
  to: CopyTarget,
): Promise<Map<number, number> | null> {
  return transferred(session, 'UID COPY', uids, to)
}

async function transferred(
  session: RemoteSession,
  command: 'UID MOVE' | 'UID COPY',
  uids: readonly number[],
  { path, uidValidity }: CopyTarget,
): Promise<Map<number, number> | null> {
  const pairs = new Map<number, number>()
  const asked = new Set(uids)
  let isNamed = true
  for (const set of setsOf(spansOfNumbers(uids), SET_CHARACTERS)) {
    let code: ResponseCode | null = null
    const answer = await session.channel.run(command, [sequence(set), session.path(path)], {
      // MOVE names them before its tagged response (RFC 6851 §4.3).
      OK: (response: ImapResponse) => {
        const untagged = codeOf(response)
        if (untagged.name === 'COPYUID') code = untagged
      },
    })
    const named = copiedIn(answer.name === 'COPYUID' ? answer : code, uidValidity)
    isNamed &&= named !== null
    for (const [from, to] of named ?? []) if (asked.has(from)) pairs.set(from, to)
  }
  return isNamed ? pairs : null
}

function copiedIn(code: ResponseCode | null, uidValidity: number | null): [number, number][] | null {
  // The new UIDs are of another numbering than those that are known.
  if (uidValidity !== null && uidOf(code?.values[0]) !== uidValidity) return null
  const from = numbersIn(spansOf(textOf(code?.values[1]), NAMED_MAX))
  const to = numbersIn(spansOf(textOf(code?.values[2]), NAMED_MAX))
  if (from === null || to === null || from.length !== to.length) return null
  return from.map((uid, at) => [uid, to[at]!])
}

/** In their order; null when there are too many. */
function numbersIn(spans: readonly UidSpan[] | null): number[] | null {
  if (spans === null || countOf(spans) > NAMED_MAX) return null
  return spans.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at))
}

/** @returns the UID; null without APPENDUID */
export async function appendMessage(
  session: RemoteSession,
  path: string,
  message: { bytes: Uint8Array; flags: readonly string[]; receivedAt: number },
): Promise<number | null> {
  const { bytes, receivedAt } = message
  const flags = message.flags.filter((flag) => FLAG.test(flag) && flag.toLowerCase() !== '\\recent')
  const literal: CommandValue = {
    type: 'LITERAL',
    value: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  }
  const values = [session.path(path), flags.map(atom), quoted(dateText(receivedAt)), literal]
  const ms = APPEND_MS + bytes.length / APPEND_BYTES_PER_MS
  const { name, values: named } = await session.channel.run('APPEND', values, {}, { ms })
  return name === 'APPENDUID' ? uidOf(named[1]) : null
}

/**
 * \Deleted and UID EXPUNGE; without UIDPLUS, EXPUNGE only when nothing else is marked.
 * @returns the UIDs that are marked and still there
 */
export async function expungeMessages(session: RemoteSession, uids: readonly number[]): Promise<number[]> {
  const runs = spansOfNumbers(uids)
  await storeFlags(session, runs, { add: ['\\Deleted'], remove: [] })
  if (session.facts.hasUidPlus) {
    for (const set of setsOf(runs, SET_CHARACTERS)) await session.channel.run('UID EXPUNGE', [sequence(set)])
    return []
  }
  const marked = await searched(session, [atom('DELETED')])
  const ours = new Set(uids)
  if (countOf(marked) > ours.size || numbersIn(marked)?.every((uid) => ours.has(uid)) !== true) {
    return uids.filter((uid) => rangesInclude(marked, uid))
  }
  await session.channel.run('EXPUNGE')
  return []
}
