// SEARCH (RFC 9051 §6.4.4, RFC 4731, 5182, 6203, 7162 §3.1.5, 9394).

import type { NumberRange } from '../../base/number-ranges.ts'
import { readSearchRequest, type SearchRequest, type SearchReturn } from '../grammar/search-keys.ts'
import { rangesOf } from '../grammar/sets.ts'
import type { SearchHits } from '../search/hits.ts'
import { command, type ImapSession } from '../session/session.ts'
import { namedOf, sayExtended, sayNumbers } from '../untagged/answers.ts'
import { assertNumbersAllowed } from '../untagged/message-sets.ts'
import { searchFolder, selectedForSearch } from '../untagged/run.ts'

const ALL: SearchReturn = {
  ...{ min: false, max: false, all: true, count: false, save: false, relevancy: false },
  partial: null,
}

async function search(
  session: ImapSession,
  request: SearchRequest,
  { tag, isUid }: { tag: string; isUid: boolean },
): Promise<undefined> {
  const { key, usesModSeq, usesNumbers } = request
  assertNumbersAllowed(session, usesNumbers)
  if (usesModSeq) session.enableCondstore()
  const isSaving = request.returns?.save === true
  const folder = selectedForSearch(session)
  // RFC 5182 §2.1: a search that fails empties the result.
  if (isSaving) session.saved = []
  const { hits } = await searchFolder(session, folder, key, { withoutModSeqs: !usesModSeq })
  if (isSaving) session.saved = savedOf(hits, request.returns!)
  const options = { view: isUid ? null : folder.view, withModSeq: usesModSeq && hits.length > 0 }
  const returns = request.returns ?? (session.isRev2 ? ALL : null)
  if (returns === null) await sayNumbers(session, 'SEARCH', hits, options)
  else await sayExtended(session, hits, { correlator: tagCorrelator(tag), returns, folder: folder.n, key, ...options })
  return undefined
}

/** RFC 4466 §2.6.2: which command an ESEARCH answers. */
export function tagCorrelator(tag: string): string {
  return `TAG "${tag}"`
}

/** The UIDs that SAVE keeps: those that the answer names. */
export function savedOf(hits: SearchHits, returns: SearchReturn): NumberRange[] {
  return rangesOf(new Set(namedOf(hits, returns).uids.toSorted()))
}

export const searchCommand = command({
  name: 'SEARCH',
  in: 'selected',
  needs: 'read',
  uid: true,
  usesNumbers: true,
  keepsNumbers: true,
  read(cursor) {
    cursor.space()
    return readSearchRequest(cursor)
  },
  run: (request, session, { tag, isUid }) => search(session, request, { tag, isUid }),
})
