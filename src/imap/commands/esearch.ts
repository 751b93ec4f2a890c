// ESEARCH (RFC 7377, MULTISEARCH): one search over several mailboxes, each with a result of its own, in UIDs.

import { type Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import { FILTER_NAMES, SEARCH_SOURCES } from '../grammar/limits.ts'
import { type MailboxSpecifier, readMailboxFilter } from '../grammar/mailbox-filters.ts'
import { formatName } from '../grammar/names.ts'
import { readSearchRequest, type SearchKey, type SearchRequest, type SearchReturn } from '../grammar/search-keys.ts'
import { leavesOf } from '../search/key-kinds.ts'
import { bad, no } from '../session/answers.ts'
import { testOf } from '../session/notify-settings.ts'
import { command, type ImapSession } from '../session/session.ts'
import { sayExtended } from '../untagged/answers.ts'
import { readTree } from '../untagged/folder-tree.ts'
import { assertNumbersAllowed } from '../untagged/message-sets.ts'
import { type SearchedFolder, searchFolder, selectedForSearch } from '../untagged/run.ts'
import { savedOf, tagCorrelator } from './search.ts'

interface EsearchArguments extends SearchRequest {
  /** Empty for the selected mailbox. */
  sources: MailboxSpecifier[]
}

/** A mailbox to search, as the session names it. */
interface SearchSourceFolder {
  path: string
  n: number
  uidValidity: number
  isSelected: boolean
}

const ALL: SearchReturn = {
  ...{ min: false, max: false, all: true, count: false, save: false, relevancy: false },
  partial: null,
}

function readEsearch(cursor: Cursor): EsearchArguments {
  cursor.space()
  const sources: MailboxSpecifier[] = []
  if (cursor.skipWord('IN')) {
    cursor.space()
    cursor.expect('(')
    do {
      if (sources.length === SEARCH_SOURCES) throw new ImapSyntaxError('Too many mailbox specifiers.')
      sources.push(readSource(cursor))
    } while (cursor.skip(' '))
    cursor.expect(')')
    cursor.space()
  }
  return { sources, ...readSearchRequest(cursor) }
}

/** RFC 7377 §2.2: `selected-delayed` is for NOTIFY only. */
function readSource(cursor: Cursor): MailboxSpecifier {
  const source = readMailboxFilter(cursor)
  if (source.kind === 'selected-delayed') throw new ImapSyntaxError('Unknown mailbox specifier.')
  return source
}

async function search(session: ImapSession, request: EsearchArguments, tag: string): Promise<undefined> {
  const { sources, key, usesModSeq, usesNumbers } = request
  assertNumbersAllowed(session, usesNumbers)
  const returns = request.returns ?? ALL
  const isSelectedOnly = sources.every(({ kind }) => kind === 'selected')
  if (session.selected === null && isSelectedOnly) throw bad('Select a mailbox first, or name others.')
  checkKeys(key, returns, isSelectedOnly)
  if (usesModSeq) session.enableCondstore()
  const selected = session.selected === null ? null : selectedForSearch(session)
  if (returns.save) session.saved = []
  for (const source of foldersOf(session, sources)) {
    const folder = source.isSelected ? selected : await otherFolder(session, source.n)
    if (folder === null) continue
    const { hits } = await searchFolder(session, folder, key, { withoutModSeqs: !usesModSeq })
    if (returns.save) session.saved = savedOf(hits, returns)
    // RFC 7377 §2: mailboxes without matches are left out.
    if (hits.length > 0)
      await sayExtended(session, hits, { ...answerOf(session, source, tag), returns, key, withModSeq: usesModSeq })
    session.assertRunning()
  }
  return undefined
}

function answerOf({ utf8 }: ImapSession, { path, n, uidValidity }: SearchSourceFolder, tag: string) {
  const name = formatName(path, utf8)
  const mailbox = typeof name === 'string' ? name : Buffer.from(name).toString()
  return { correlator: `${tagCorrelator(tag)} MAILBOX ${mailbox} UIDVALIDITY ${uidValidity}`, view: null, folder: n }
}

/** Sequence numbers and `$` mean the selected mailbox, and only its result can be saved (RFC 7377 §2.1). */
function checkKeys(key: SearchKey, { save }: SearchReturn, isSelectedOnly: boolean): void {
  if (isSelectedOnly) return
  if (save) throw bad('SAVE is for the selected mailbox only.')
  for (const leaf of leavesOf(key)) {
    if (leaf.kind !== 'set') continue
    if (leaf.set === '$') throw no(null, 'The saved result is of the selected mailbox only.')
    if (!leaf.isUid) throw bad('Sequence numbers are of the selected mailbox only.')
  }
}

/** The folders that the sources mean, each once. Names without a folder are ignored. */
function foldersOf(session: ImapSession, sources: readonly MailboxSpecifier[]): SearchSourceFolder[] {
  const names = sources.reduce((sum, source) => sum + ('names' in source ? source.names.length : 0), 0)
  if (names > FILTER_NAMES) throw no('LIMIT', 'Too many mailbox names.')
  const { selected } = session
  const takesSelected = sources.length === 0 || sources.some(({ kind }) => kind === 'selected')
  const tests = sources.filter(({ kind }) => kind !== 'selected').map((source) => testOf(source, session.utf8))
  return readTree(session).folders.flatMap(({ path, folder: { n, uidValidity, isSubscribed, messages } }) => {
    const isSelected = n === selected?.n
    const isMeant = (isSelected && takesSelected) || tests.some((test) => test({ path, isSubscribed }))
    // The selected folder is searched as the session knows it.
    return isMeant && (isSelected || messages > 0) ? [{ path, n, uidValidity, isSelected }] : []
  })
}

/** @returns null when it is gone */
async function otherFolder({ app }: ImapSession, n: number): Promise<SearchedFolder | null> {
  const current = await app.views.current(n)
  return current === undefined ? null : { n, view: current.view, recent: [], saved: [] }
}

export const esearch = command({
  name: 'ESEARCH',
  in: 'authenticated',
  needs: 'read',
  keepsNumbers: true,
  read: readEsearch,
  run: (request, session, { tag }) => search(session, request, tag),
})
