// Sequence sets of commands as UIDs of the selected folder; sessions with UIDONLY (RFC 9586) neither send nor get sequence numbers.

import type { NumberRange } from '../../base/number-ranges.ts'
import { normalizeRanges, type SequenceSet, STAR } from '../grammar/sets.ts'
import { bad } from '../session/answers.ts'
import type { ImapSession } from '../session/session.ts'
import { intersectRanges, type UidView } from '../views/views.ts'

/** Whether the session has no sequence numbers. */
export function isUidOnly({ enabled }: Pick<ImapSession, 'enabled'>): boolean {
  return enabled.has('UIDONLY')
}

/** How the answer about one message begins: `* n FETCH`, or `* uid UIDFETCH` (RFC 9586 §3.3). */
export function fetchName(session: ImapSession, sequence: number, uid: number): string {
  return isUidOnly(session) ? `* ${uid} UIDFETCH` : `* ${sequence} FETCH`
}

/** Refuses a search, or known state, with sequence numbers. @throws CommandFailure UIDREQUIRED */
export function assertNumbersAllowed(session: ImapSession, usesNumbers: boolean): void {
  if (usesNumbers && isUidOnly(session))
    throw bad('Sequence numbers cannot be used after ENABLE UIDONLY.', 'UIDREQUIRED')
}

/**
 * {@link uidsWithin} for commands that name messages.
 * @throws CommandFailure BAD for sequence numbers above the number of messages
 */
export function uidsOfSet(session: ImapSession, set: SequenceSet, isUid: boolean): readonly NumberRange[] {
  const { view } = session.folder
  const isBeyond = (range: NumberRange) => !range.includes(STAR) && Math.max(...range) > view.count
  if (set !== '$' && !isUid && set.some(isBeyond)) throw bad('There is no message with this number.')
  return uidsWithin(session, set, isUid)
}

/** The UIDs of a set that exist in the session's view, as ascending ranges; others are ignored (RFC 9051 §6.4.9). */
function uidsWithin(session: ImapSession, set: SequenceSet, isUid: boolean): readonly NumberRange[] {
  return uidsInView(session.folder.view, session.saved, set, isUid)
}

/** The same in any view. @param saved what `$` stands for */
export function uidsInView(
  view: UidView,
  saved: readonly NumberRange[],
  set: SequenceSet,
  isUid: boolean,
): readonly NumberRange[] {
  if (set === '$') return intersectRanges(view.ranges(), saved)
  if (isUid) return view.within(normalizeRanges(set, view.lastUid))
  return view.uidsOf(normalizeRanges(set, view.count))
}

/** The UIDs in ascending ranges, in pieces of at most `size`. */
export function* piecesOf(ranges: readonly NumberRange[], size: number): Generator<number[]> {
  let piece: number[] = []
  for (const [first, last] of ranges) {
    for (let uid = first; uid <= last; uid++) {
      piece.push(uid)
      if (piece.length === size) {
        yield piece
        piece = []
      }
    }
  }
  if (piece.length > 0) yield piece
}
