// Writes what a search found in pieces, so that other sessions get their turn: untagged SEARCH and SORT, ESEARCH (RFC 4731).

import type { NumberRange } from '../../base/number-ranges.ts'
import { positionsOf } from '../grammar/partial.ts'
import type { SearchKey, SearchReturn } from '../grammar/search-keys.ts'
import { formatRanges, rangesOf } from '../grammar/sets.ts'
import type { SearchHits } from '../search/hits.ts'
import { scoresOf } from '../search/relevancy.ts'
import type { ImapSession } from '../session/session.ts'
import { TimeSlice } from '../session/time-slice.ts'
import type { UidView } from '../views/views.ts'

/** How hits are written. */
export interface AnswerOptions {
  /** The folder as the session knows it, for sequence numbers; null for UIDs. */
  view: UidView | null
  withModSeq: boolean
}

/** Numbers between two looks at the clock. */
const AT_ONCE = 500

/** `* SEARCH` or `* SORT` with all numbers. */
export async function sayNumbers(
  session: ImapSession,
  name: 'SEARCH' | 'SORT',
  hits: SearchHits,
  { view, withModSeq }: AnswerOptions,
): Promise<void> {
  // Nothing else may be said in the middle of the line.
  session.progress.isWithinResponse = true
  session.say(`* ${name}`)
  for await (const numbers of numbersOf(session, hits.uids, view)) session.say(` ${numbers.join(' ')}`)
  session.progress.isWithinResponse = false
  session.say(withModSeq ? ` (MODSEQ ${hits.highestModSeq})\r\n` : '\r\n')
}

export interface ExtendedOptions extends AnswerOptions {
  /** What precedes the results, in parentheses: the tag, and for RFC 7377 the mailbox. */
  correlator: string
  returns: SearchReturn
  /** For RELEVANCY: the folder, and what was searched for. */
  folder: number
  key: SearchKey
}

/** `* ESEARCH`; nothing for SAVE alone (RFC 5182 §2.1). */
export async function sayExtended(session: ImapSession, hits: SearchHits, options: ExtendedOptions): Promise<void> {
  const { correlator, view, returns, withModSeq, folder, key } = options
  const { min, max, all, count, save, partial } = returns
  if (save && !(min || max || all || count || partial !== null)) return
  const part = partial === null ? null : hits.uids.subarray(...positionsOf(partial, hits.length))
  const scored = returns.relevancy ? Array.from(part ?? namedOf(hits, returns).uids) : []
  const scores = await scoresOf(session, folder, scored, key)
  const numberAt = (at: number) => (view === null ? hits.uids.at(at)! : view.sequenceOf(hits.uids.at(at)!))
  session.progress.isWithinResponse = true
  session.say(`* ESEARCH (${correlator})${view === null ? ' UID' : ''}`)
  if (hits.length > 0) {
    if (min) session.say(` MIN ${numberAt(0)}`)
    if (max) session.say(` MAX ${numberAt(-1)}`)
    if (all) await saySet(session, ' ALL ', numbersOf(session, hits.uids, view))
  }
  if (count) session.say(` COUNT ${hits.length}`)
  if (part !== null) {
    if (part.length === 0) session.say(` PARTIAL (${partial!.join(':')} NIL`)
    else await saySet(session, ` PARTIAL (${partial!.join(':')} `, numbersOf(session, part, view))
    session.say(')')
  }
  const modSeq = withModSeq ? namedOf(hits, returns).highestModSeq : 0
  if (modSeq > 0) session.say(` MODSEQ ${modSeq}`)
  if (returns.relevancy) session.say(` RELEVANCY (${scored.map((uid) => scores.get(uid)!).join(' ')})`)
  session.progress.isWithinResponse = false
  session.say('\r\n')
}

/** A set behind what names it. Ranges at the seam of two pieces are joined. */
async function saySet(session: ImapSession, name: string, pieces: AsyncIterable<readonly number[]>): Promise<void> {
  let text = name
  let open: NumberRange | null = null
  for await (const numbers of pieces) {
    const ranges = rangesOf(numbers)
    const [first] = ranges
    if (open !== null && first !== undefined && first[0] === open[1] + 1) ranges[0] = [open[0], first[1]]
    else if (open !== null) ranges.unshift(open)
    open = ranges.pop() ?? null
    if (ranges.length > 0) {
      session.say(`${text}${formatRanges(ranges)}`)
      text = ','
    }
  }
  if (open !== null) session.say(`${text}${formatRanges([open])}`)
}

/** The numbers of hits in pieces: gives way between them, and waits for a client that reads slowly. */
async function* numbersOf(session: ImapSession, uids: Uint32Array, view: UidView | null): AsyncGenerator<number[]> {
  const slice = new TimeSlice()
  for (let at = 0; at < uids.length; at += AT_ONCE) {
    const piece = Array.from(uids.subarray(at, at + AT_ONCE))
    yield view === null ? piece : piece.map((uid) => view.sequenceOf(uid))
    await session.writer.ready()
    await slice.pause()
    session.assertOpen()
  }
}

/**
 * The messages that the answer names, all unless MIN, MAX and PARTIAL are alone: SAVE keeps them (RFC 5182 §2.1, RFC 9394 §3.2), and the
 * highest of their numbers is returned (RFC 7162 §3.1.10).
 */
export function namedOf(hits: SearchHits, { min, max, all, count, partial }: SearchReturn): SearchHits {
  if (all || count || !(min || max || partial !== null) || hits.length === 0) return hits
  const [from, to] = partial === null ? [0, 0] : positionsOf(partial, hits.length)
  const positions = [...(min ? [0] : []), ...(max ? [hits.length - 1] : [])]
  for (let at = from; at < to; at++) positions.push(at)
  return hits.at(positions)
}
