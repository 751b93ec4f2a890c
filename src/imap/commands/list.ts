// LIST and LSUB (RFC 9051 §6.3.9, RFC 3501 §6.3.9, RFC 5258, RFC 5819, RFC 6154, RFC 9590).

import type { Cursor } from '../grammar/cursor.ts'
import { type ListRequest, readListRequest, readPattern } from '../grammar/list-options.ts'
import { ancestorsOf, decodeName, formatName, NamePattern } from '../grammar/names.ts'
import { command, type ImapSession } from '../session/session.ts'
import { type FolderTree, type NamedFolder, readTree } from '../untagged/folder-tree.ts'
import { annotationsOf, sayMetadata } from '../untagged/metadata.ts'
import { specialUseOf } from '../views/special-use.ts'
import { sayStatus } from './status.ts'

/** Names compared between two yields to other sessions. */
const NAMES_AT_ONCE = 50

/** A name of LIST: a folder, or a subscription without one. */
interface ListedName {
  path: string
  named: NamedFolder | null
  isSubscribed: boolean
}

/** No name matches a pattern that is no valid form of the session's encoding. */
function patternOf({ utf8 }: ImapSession, reference: Buffer, pattern: Buffer): NamePattern[] {
  const paths = [reference, pattern].map((part) => decodeName(part, utf8))
  return paths.includes(null) ? [] : [new NamePattern(paths.join(''))]
}

function listedNames(session: ImapSession, tree: FolderTree): ListedName[] {
  const folders = tree.folders.map((named) => ({ path: named.path, named, isSubscribed: named.folder.isSubscribed }))
  const subscribed = session.app.store.programs.names.list(session.signedIn.account)
  const others = subscribed.filter((path) => tree.find(path) === undefined)
  return [...folders, ...others.map((path) => ({ path, named: null, isSubscribed: true }))]
}

async function list(session: ImapSession, request: ListRequest): Promise<undefined> {
  const { selection, reference, patterns, returns, isExtended } = request
  // RFC 9051 §6.3.9: an empty name asks for the delimiter.
  if (!isExtended && patterns[0]!.length === 0) {
    session.say('* LIST (\\Noselect) "/" ""\r\n')
    return undefined
  }
  const matchers = patterns.flatMap((pattern) => (pattern.length === 0 ? [] : patternOf(session, reference, pattern)))
  const isMatched = (path: string) => matchers.some((matcher) => matcher.matches(path))
  const names = listedNames(session, readTree(session))
  const subscribed = names.filter(({ isSubscribed }) => isSubscribed)
  for (const [index, listed] of names.entries()) {
    if (index % NAMES_AT_ONCE === NAMES_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve))
    if (!isMatched(listed.path)) continue
    const isChosen =
      (!selection.subscribed || listed.isSubscribed) &&
      (!selection.specialUse || specialUseOf(listed.named?.folder.role ?? null) !== null) &&
      (listed.named !== null || selection.subscribed)
    // RFC 5258 §3.5: a name is listed for the sake of subscribed children that the patterns do not match.
    const isChosenChild = ({ path }: ListedName) => path.startsWith(`${listed.path}/`) && !isMatched(path)
    const hasChosenChild = selection.recursiveMatch && subscribed.some(isChosenChild)
    if (!isChosen && !hasChosenChild) continue
    sayListed(session, listed, request, hasChosenChild)
    if (returns.status !== null && listed.named !== null && isChosen)
      await sayStatus(session, listed.named, returns.status)
    if (returns.metadata !== null && listed.named !== null && isChosen)
      sayAnnotations(session, listed.named, returns.metadata)
    await session.writer.ready()
  }
  return undefined
}

/** RFC 9590 §3: entries that are not there are NIL. */
function sayAnnotations(session: ImapSession, named: NamedFolder, entries: readonly string[]): void {
  const known = annotationsOf(session, named)
  sayMetadata(
    session,
    named.path,
    entries.map((entry) => [entry, known.get(entry) ?? null]),
  )
}

function sayListed(
  session: ImapSession,
  listed: ListedName,
  { selection, returns, isExtended }: ListRequest,
  hasChosenChild: boolean,
): void {
  const { path, named, isSubscribed } = listed
  const attributes: string[] = []
  if (named === null) attributes.push('\\NonExistent')
  if (isSubscribed && (selection.subscribed || returns.subscribed)) attributes.push('\\Subscribed')
  if (named !== null && (!isExtended || returns.children || session.isRev2))
    attributes.push(named.folder.hasChildren ? '\\HasChildren' : '\\HasNoChildren')
  const use = specialUseOf(named?.folder.role ?? null)
  if (use !== null) attributes.push(use)
  const child = hasChosenChild ? ' ("CHILDINFO" ("SUBSCRIBED"))' : ''
  session.say(`* LIST (${attributes.join(' ')}) "/" `, formatName(path, session.utf8), `${child}\r\n`)
}

function lsub(session: ImapSession, reference: Buffer, pattern: Buffer): undefined {
  const [matcher] = patternOf(session, reference, pattern)
  if (matcher === undefined) return undefined
  const subscribed = listedNames(session, readTree(session)).filter(({ isSubscribed }) => isSubscribed)
  const paths = new Set(subscribed.map(({ path }) => path))
  // RFC 3501 §6.3.9: a parent that is not subscribed itself stands for children that "%" does not match.
  const parents = new Set<string>()
  for (const { path } of subscribed) {
    if (matcher.matches(path)) session.say('* LSUB () "/" ', formatName(path, session.utf8), '\r\n')
    else for (const parent of ancestorsOf(path)) if (!paths.has(parent) && matcher.matches(parent)) parents.add(parent)
  }
  for (const path of parents) session.say('* LSUB (\\Noselect) "/" ', formatName(path, session.utf8), '\r\n')
  return undefined
}

export const listCommand = command({
  name: 'LIST',
  in: 'authenticated',
  needs: 'read',
  read(cursor: Cursor) {
    cursor.space()
    return readListRequest(cursor)
  },
  run: (request, session) => list(session, request),
})

export const lsubCommand = command({
  name: 'LSUB',
  in: 'authenticated',
  needs: 'read',
  read(cursor: Cursor) {
    cursor.space()
    const reference = readPattern(cursor)
    cursor.space()
    return { reference, pattern: readPattern(cursor) }
  },
  run: ({ reference, pattern }, session) => lsub(session, reference, pattern),
})
