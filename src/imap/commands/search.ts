// SEARCH (RFC 9051 §6.4.4, RFC 4731, 5182, 7162 §3.1.5).

import { bad } from '../answers.ts'
import { readSearchRequest, type SearchRequest, type SearchReturn } from '../grammar/search-keys.ts'
import { formatRanges, type NumberRange, rangesOf } from '../grammar/sets.ts'
import { FolderSearch, type SearchHit } from '../search/run.ts'
import { command, type ImapSession } from '../session.ts'

const ALL: SearchReturn = { min: false, max: false, all: true, count: false, save: false, partial: null }

async function search(
  session: ImapSession,
  request: SearchRequest,
  { tag, isUid }: { tag: string; isUid: boolean },
): Promise<undefined> {
  const { key, usesModSeq } = request
  if (request.returns?.partial != null) throw bad('PARTIAL is not supported.')
  if (usesModSeq) session.enableCondstore()
  const isSaving = request.returns?.save === true
  // RFC 5182 §2.1: a search that fails empties the result.
  if (isSaving) session.saved = []
  const hits = await new FolderSearch(session, key).run()
  if (isSaving) session.saved = savedOf(hits, request.returns!)
  const withModSeq = usesModSeq && hits.length > 0
  const returns = request.returns ?? (session.isRev2 ? ALL : null)
  if (returns === null) sayOldSearch(session, hits, isUid, withModSeq)
  else sayExtended(session, hits, { tag, isUid, returns, withModSeq })
  return undefined
}

/** RFC 5182 §2.1: MIN and MAX alone save only what they name. */
export function savedOf(hits: readonly SearchHit[], { min, max, all, count }: SearchReturn) {
  const uids = hits.map(({ uid }) => uid)
  if (uids.length === 0 || all || count || !(min || max)) return ascending(uids)
  return ascending([...(min ? [uids[0]!] : []), ...(max ? [uids.at(-1)!] : [])])
}

function ascending(uids: readonly number[]): NumberRange[] {
  return rangesOf([...new Set(uids)].sort((a, b) => a - b))
}

export function numberOf({ folder }: ImapSession, { uid }: SearchHit, isUid: boolean): number {
  return isUid ? uid : folder.view.sequenceOf(uid)
}

function highestOf(hits: readonly SearchHit[]): number {
  return hits.reduce((highest, { modSeq }) => Math.max(highest, modSeq), 0)
}

function sayOldSearch(session: ImapSession, hits: readonly SearchHit[], isUid: boolean, withModSeq: boolean): void {
  const numbers = hits.map((hit) => ` ${numberOf(session, hit, isUid)}`).join('')
  session.say(`* SEARCH${numbers}${withModSeq ? ` (MODSEQ ${highestOf(hits)})` : ''}\r\n`)
}

interface ExtendedAnswer {
  tag: string
  isUid: boolean
  returns: SearchReturn
  withModSeq: boolean
}

/** `* ESEARCH` (RFC 4731); nothing for SAVE alone. */
export function sayExtended(
  session: ImapSession,
  hits: readonly SearchHit[],
  { tag, isUid, returns, withModSeq }: ExtendedAnswer,
): void {
  const { min, max, all, count, save } = returns
  // SAVE alone returns nothing (RFC 5182 §2.1).
  if (save && !(min || max || all || count)) return
  const numbers = hits.map((hit) => numberOf(session, hit, isUid))
  const parts = [`* ESEARCH (TAG "${tag}")`]
  if (isUid) parts.push('UID')
  if (hits.length > 0) {
    if (min) parts.push(`MIN ${numbers[0]}`)
    if (max) parts.push(`MAX ${numbers.at(-1)}`)
    if (all) parts.push(`ALL ${formatRanges(rangesOf(numbers))}`)
  }
  if (count) parts.push(`COUNT ${hits.length}`)
  if (withModSeq) parts.push(`MODSEQ ${highestOf(named(hits, returns))}`)
  session.say(`${parts.join(' ')}\r\n`)
}

/** The messages that the answer names: their highest number is returned (RFC 7162 §3.1.10). */
function named(hits: readonly SearchHit[], { min, max, all, count }: SearchReturn): readonly SearchHit[] {
  if (all || count || !(min || max)) return hits
  return [...(min ? [hits[0]!] : []), ...(max ? [hits.at(-1)!] : [])]
}

export const searchCommand = command({
  name: 'SEARCH',
  in: 'selected',
  needs: 'read',
  uid: true,
  keepsNumbers: true,
  read(cursor) {
    cursor.space()
    return readSearchRequest(cursor)
  },
  run: (request, session, { tag, isUid }) => search(session, request, { tag, isUid }),
})
