// SORT and THREAD (RFC 5256, RFC 5957, RFC 5267 for the results of SORT).

import { type Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import { SORT_CRITERIA, SORT_MESSAGES } from '../grammar/limits.ts'
import {
  readCharset,
  readReturnOptions,
  readSearchProgram,
  type SearchKey,
  type SearchProgram,
  type SearchReturn,
} from '../grammar/search-keys.ts'
import type { Ordered, ThreadAlgorithm } from '../search/hit-facts.ts'
import { SearchHits } from '../search/hits.ts'
import type { SortCriterion, SortKey } from '../search/sort.ts'
import { command, type ImapSession } from '../session/session.ts'
import { sayExtended, sayNumbers } from '../untagged/answers.ts'
import { assertNumbersAllowed } from '../untagged/message-sets.ts'
import { type SearchedFolder, searchFolder, selectedForSearch } from '../untagged/run.ts'
import { ORDERED_FROM, sortedByOrder } from '../untagged/sort-folder.ts'
import { threadText } from '../untagged/thread-folder.ts'
import { savedOf, tagCorrelator } from './search.ts'

const SORT_KEYS = new Set<string>([
  'arrival',
  'cc',
  'date',
  'from',
  'size',
  'subject',
  'to',
  'displayfrom',
  'displayto',
  'relevancy',
])

interface SortArguments extends SearchProgram {
  returns: SearchReturn | null
  criteria: SortCriterion[]
}

function readCriterion(cursor: Cursor): SortCriterion {
  const isReverse = cursor.skipWord('REVERSE')
  if (isReverse) cursor.space()
  const key = cursor.word().toLowerCase()
  if (!SORT_KEYS.has(key)) throw new ImapSyntaxError('Unknown sort criterion.')
  return { key: key as SortKey, isReverse }
}

function readSort(cursor: Cursor): SortArguments {
  cursor.space()
  let returns: SearchReturn | null = null
  if (cursor.skipWord('RETURN')) {
    cursor.space()
    returns = readReturnOptions(cursor)
    cursor.space()
  }
  const criteria = cursor.list(() => readCriterion(cursor), { most: SORT_CRITERIA })
  cursor.space()
  readCharset(cursor)
  cursor.space()
  const needsFuzzy = returns?.relevancy === true || criteria.some((one) => one.key === 'relevancy')
  return { returns, criteria, ...readSearchProgram(cursor, needsFuzzy) }
}

async function sorted(
  session: ImapSession,
  folder: SearchedFolder,
  key: SearchKey,
  { criteria, usesModSeq }: Pick<SortArguments, 'criteria' | 'usesModSeq'>,
): Promise<SearchHits> {
  const isKept = !usesModSeq && folder.view.count >= ORDERED_FROM && criteria.every((one) => one.key !== 'relevancy')
  if (isKept) return sortedByOrder(session, folder, key, criteria)
  const { ordered } = await searchFolder(session, folder, key, {
    collects: { kind: 'sort', criteria, key },
    most: SORT_MESSAGES,
  })
  return new SearchHits(ordered as Extract<Ordered, { kind: 'sort' }>)
}

export const sort = command({
  name: 'SORT',
  in: 'selected',
  needs: 'read',
  uid: true,
  usesNumbers: true,
  keepsNumbers: true,
  read: readSort,
  async run({ returns, criteria, key, usesModSeq, usesNumbers }, session, { tag, isUid }) {
    assertNumbersAllowed(session, usesNumbers)
    if (usesModSeq) session.enableCondstore()
    const folder = selectedForSearch(session)
    if (returns?.save) session.saved = []
    const hits = await sorted(session, folder, key, { criteria, usesModSeq })
    if (returns?.save) session.saved = savedOf(hits, returns)
    const options = { view: isUid ? null : folder.view, withModSeq: usesModSeq && hits.length > 0 }
    if (returns === null) await sayNumbers(session, 'SORT', hits, options)
    else
      await sayExtended(session, hits, { correlator: tagCorrelator(tag), returns, folder: folder.n, key, ...options })
    return undefined
  },
})

const ALGORITHMS = new Set<string>(['REFERENCES', 'ORDEREDSUBJECT'] satisfies ThreadAlgorithm[])
/** A piece of the answer, bytes. */
const PIECE_BYTES = 64 * 1024

interface ThreadArguments extends SearchProgram {
  algorithm: ThreadAlgorithm
}

function readThread(cursor: Cursor): ThreadArguments {
  cursor.space()
  const algorithm = cursor.word()
  if (!ALGORITHMS.has(algorithm)) throw new ImapSyntaxError('Unknown threading algorithm.')
  cursor.space()
  readCharset(cursor)
  cursor.space()
  return { algorithm: algorithm as ThreadAlgorithm, ...readSearchProgram(cursor) }
}

export const thread = command({
  name: 'THREAD',
  in: 'selected',
  needs: 'read',
  uid: true,
  usesNumbers: true,
  keepsNumbers: true,
  read: readThread,
  async run({ algorithm, key, usesModSeq, usesNumbers }, session, { isUid }) {
    assertNumbersAllowed(session, usesNumbers)
    if (usesModSeq) session.enableCondstore()
    const folder = selectedForSearch(session)
    const text = await threadText(session, folder, key, { algorithm, isUid })
    session.progress.isWithinResponse = true
    session.say('* THREAD', text.length > 0 ? ' ' : '')
    for (let at = 0; at < text.length; at += PIECE_BYTES) {
      session.say(text.subarray(at, at + PIECE_BYTES))
      await session.writer.ready()
    }
    session.progress.isWithinResponse = false
    session.say('\r\n')
    return undefined
  },
})
