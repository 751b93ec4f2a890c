// SORT and THREAD (RFC 5256, RFC 5957, RFC 5267 for the results of SORT).

import { bad, no } from '../answers.ts'
import { type Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import {
  readCharset,
  readReturnOptions,
  readSearchProgram,
  type SearchKey,
  type SearchReturn,
} from '../grammar/search-keys.ts'
import { SORT_CRITERIA, SORT_MESSAGES, THREAD_MESSAGES } from '../limits.ts'
import { envelopesOf } from '../search/envelopes.ts'
import { FolderSearch, type SearchHit } from '../search/run.ts'
import { MessageSorter, needsHeaders, type SortCriterion, type SortKey, sentDate } from '../search/sort.ts'
import { type ThreadMessage, threadByOrderedSubject, threadByReferences } from '../search/thread.ts'
import { command, type ImapSession } from '../session.ts'
import { numberOf, savedOf, sayExtended } from './search.ts'

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
])

interface SortArguments {
  returns: SearchReturn | null
  criteria: SortCriterion[]
  key: SearchKey
  usesModSeq: boolean
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
  return { returns, criteria, ...readSearchProgram(cursor) }
}

async function sorted(
  session: ImapSession,
  hits: readonly SearchHit[],
  criteria: readonly SortCriterion[],
): Promise<SearchHit[]> {
  const sorter = new MessageSorter(criteria)
  const byUid = new Map(hits.map((hit) => [hit.uid, hit]))
  const add = ({ uid, receivedAt, sizeBytes }: SearchHit, fields = {}) =>
    sorter.add({ number: uid, receivedAt, sizeBytes, fields })
  if (needsHeaders(criteria)) for await (const { hit, fields } of envelopesOf(session, hits)) add(hit, fields)
  else for (const hit of hits) add(hit)
  return sorter.numbers().map((uid) => byUid.get(uid)!)
}

export const sort = command({
  name: 'SORT',
  in: 'selected',
  needs: 'read',
  uid: true,
  keepsNumbers: true,
  read: readSort,
  async run({ returns, criteria, key, usesModSeq }, session, { tag, isUid }) {
    if (usesModSeq) session.enableCondstore()
    if (returns?.partial != null) throw bad('PARTIAL is not supported.')
    if (returns?.save) session.saved = []
    const hits = await new FolderSearch(session, key).run()
    if (hits.length > SORT_MESSAGES) throw no('LIMIT', 'Too many messages to sort.')
    const order = await sorted(session, hits, criteria)
    if (returns?.save) session.saved = savedOf(order, returns)
    const withModSeq = usesModSeq && hits.length > 0
    if (returns !== null) sayExtended(session, order, { tag, isUid, returns, withModSeq })
    else {
      const highest = Math.max(...order.map(({ modSeq }) => modSeq))
      const numbers = order.map((hit) => ` ${numberOf(session, hit, isUid)}`).join('')
      session.say(`* SORT${numbers}${withModSeq ? ` (MODSEQ ${highest})` : ''}\r\n`)
    }
    return undefined
  },
})

type ThreadAlgorithm = (messages: Iterable<ThreadMessage>) => string

const ALGORITHMS = new Map<string, ThreadAlgorithm>([
  ['REFERENCES', threadByReferences],
  ['ORDEREDSUBJECT', threadByOrderedSubject],
])

interface ThreadArguments {
  algorithm: ThreadAlgorithm
  key: SearchKey
}

function readThread(cursor: Cursor): ThreadArguments {
  cursor.space()
  const algorithm = ALGORITHMS.get(cursor.word())
  if (algorithm === undefined) throw new ImapSyntaxError('Unknown threading algorithm.')
  cursor.space()
  readCharset(cursor)
  cursor.space()
  return { algorithm, key: readSearchProgram(cursor).key }
}

export const thread = command({
  name: 'THREAD',
  in: 'selected',
  needs: 'read',
  uid: true,
  keepsNumbers: true,
  read: readThread,
  async run({ algorithm, key }, session, { isUid }) {
    const hits = await new FolderSearch(session, key).run()
    if (hits.length > THREAD_MESSAGES) throw no('LIMIT', 'Too many messages to thread.')
    const messages: ThreadMessage[] = []
    for await (const { hit, fields, references } of envelopesOf(session, hits)) {
      const { subject, messageId, inReplyTo } = fields
      const date = sentDate(fields, hit.receivedAt)
      messages.push({ number: numberOf(session, hit, isUid), date, subject, messageId, inReplyTo, references })
    }
    const threads = algorithm(messages)
    session.say(`* THREAD${threads === '' ? '' : ` ${threads}`}\r\n`)
    return undefined
  },
})
