// A search in one account: filters and query with all names resolved, as input for the list statements.

import type { Reader } from '../../db/db.ts'
import { threadNumber } from '../entries/thread-rows.ts'
import { type FolderKey, type Folders, isListedIn } from '../rows/folders.ts'
import type { Account, MessageFilter } from '../rows/records.ts'
import { all, conditionOf, type ResolvedNames, type RowCondition } from './conditions.ts'
import { correspondentsLike } from './correspondents.ts'
import { filterTerm } from './filter-term.ts'
import type { TextSearch } from './hits.ts'
import { expression } from './match.ts'
import type { Leaf, Term } from './terms.ts'

/** The condition whose index a list is read from; `listed` if there is none. */
export type Path =
  | { by: 'listed' }
  | { by: 'thread' | 'folder'; n: number }
  | { by: 'unread' | 'flagged' | 'attachment' }

export interface Search {
  account: number
  /** True if nothing can match. */
  never: boolean
  text: TextSearch | null
  path: Path
  /** The condition of the path as a condition on a row. */
  onPath: RowCondition | null
  /** Bounds on received_at, ms: `from` inclusive, `before` exclusive. */
  received: { from: number | null; before: number | null }
  /** All other conditions on a message, except full-text. */
  others: RowCondition | null
  /** Trash and Junk folders that the search names; `all`: both are included anyway. */
  hidden: readonly number[] | 'all'
}

export interface SearchDeps {
  reader: Reader
  folders: Folders
  /** ms */
  now: number
}

/** @throws ProductError invalid_parameter if `q` exceeds a limit */
export function openSearch(deps: SearchDeps, account: Account, filter: MessageFilter): Search {
  const term = filterTerm(filter, deps.now)
  const leaves = [...leavesOf(term)]
  const resolved = resolveNames(deps, account, leaves)
  const top = term.kind === 'all' ? term.of : [term]
  const path = choosePath(top, resolved)
  const received = receivedRange(top)
  const rest = top.filter((child) => child !== path.term && child.kind !== 'received')
  const condition = all(rest.map((child) => conditionOf(child, resolved)))
  const onPath = path.term ? conditionOf(path.term, resolved) : null
  const text = condition.match && {
    account: account.n,
    match: expression(account.n, condition.match),
    kind: textKind(leaves),
  }
  return {
    account: account.n,
    never: condition.never || onPath?.never === true,
    text,
    path: path.path,
    onPath: onPath?.where ?? null,
    received,
    others: condition.where,
    hidden: leaves.some(({ leaf, wanted }) => wanted && leaf.kind === 'anywhere')
      ? 'all'
      : namedHiddenFolders(leaves, resolved),
  }
}

/**
 * The folders that names in `q` currently refer to, as a comparable text; "" without such names. If it differs, a list changed although
 * no message did.
 * @throws ProductError invalid_parameter if `q` exceeds a limit
 */
export function folderReferencesIn(deps: SearchDeps, account: Account, q: string | undefined): string {
  const leaves = [...leavesOf(filterTerm({ q }, deps.now))].filter(({ leaf }) => leaf.kind === 'folder')
  const resolved = resolveNames(deps, account, leaves)
  return leaves.map(({ leaf }) => (leaf.kind === 'folder' ? resolved.folders(leaf.name).join(' ') : '')).join(',')
}

interface LeafInTree {
  leaf: Leaf
  /** False under a NOT. */
  wanted: boolean
}

function* leavesOf(term: Term, wanted = true): Generator<LeafInTree> {
  if (term.kind === 'not') yield* leavesOf(term.of, !wanted)
  else if (term.kind === 'all' || term.kind === 'any') for (const child of term.of) yield* leavesOf(child, wanted)
  else yield { leaf: term as Leaf, wanted }
}

type ResolvedFolders = ResolvedNames & { hidden: ReadonlySet<number> }

function resolveNames(deps: SearchDeps, account: Account, leaves: readonly LeafInTree[]): ResolvedFolders {
  const { reader, folders } = deps
  const people = new Map<string, number[] | null>()
  const threads = new Map<string, number | undefined>()
  let keys: (FolderKey & { name: string })[] | undefined
  for (const { leaf } of leaves) {
    if (leaf.kind === 'person') people.set(leaf.text, correspondentsLike(reader, account.n, leaf.text))
    else if (leaf.kind === 'thread') threads.set(leaf.id, threadNumber(reader, account.n, leaf.id))
    else if (leaf.kind === 'folder') keys ??= folders.keys(account)
  }
  const hidden = (keys ?? []).filter((key) => !isListedIn(key))
  return {
    account: account.n,
    folders: (name) => foldersNamed(keys ?? [], name),
    correspondents: (text) => people.get(text) ?? null,
    thread: (id) => threads.get(id),
    hidden: new Set(hidden.map(({ n }) => n)),
  }
}

/** Resolves by id, else by role, else by name: a folder can have the name of a role it does not have. */
function foldersNamed(keys: readonly (FolderKey & { name: string })[], name: string): number[] {
  const folded = name.toLowerCase()
  const criteria = [
    (key: FolderKey) => key.id === name,
    (key: FolderKey) => key.role === folded,
    (key: { name: string }) => key.name.toLowerCase() === folded,
  ]
  for (const matches of criteria) {
    const matching = keys.filter(matches)
    if (matching.length > 0) return matching.map(({ n }) => n)
  }
  return []
}

function namedHiddenFolders(leaves: readonly LeafInTree[], resolved: ResolvedFolders): number[] {
  const named = leaves.flatMap(({ leaf, wanted }) =>
    wanted && leaf.kind === 'folder' ? resolved.folders(leaf.name) : [],
  )
  return [...new Set(named.filter((n) => resolved.hidden.has(n)))]
}

/** Chooses the term whose index leaves the fewest messages. */
function choosePath(top: readonly Term[], resolved: ResolvedNames): { path: Path; term: Term | null } {
  for (const term of top) {
    const n = term.kind === 'thread' ? resolved.thread(term.id) : undefined
    if (n !== undefined) return { path: { by: 'thread', n }, term }
  }
  for (const term of top) {
    const [n, more] = term.kind === 'folder' ? resolved.folders(term.name) : []
    if (n !== undefined && more === undefined) return { path: { by: 'folder', n }, term }
  }
  for (const term of top) {
    if (term.kind === 'flag' && term.flag === 'seen' && !term.on) return { path: { by: 'unread' }, term }
    if (term.kind === 'flag' && term.flag === 'flagged' && term.on) return { path: { by: 'flagged' }, term }
  }
  for (const term of top) if (term.kind === 'attachment' && term.on) return { path: { by: 'attachment' }, term }
  return { path: { by: 'listed' }, term: null }
}

function textKind(leaves: readonly LeafInTree[]): TextSearch['kind'] {
  const words = leaves.flatMap(({ leaf }) => (leaf.kind === 'words' ? leaf : []))
  if (words.some(({ prefix }) => prefix)) return 'prefix'
  return leaves.some(({ wanted }) => !wanted) || words.some(({ tokens }) => tokens.length > 1) ? 'phrase' : 'words'
}

function receivedRange(top: readonly Term[]): { from: number | null; before: number | null } {
  const bounds = top.filter((term) => term.kind === 'received')
  const froms = bounds.flatMap(({ from }) => from ?? [])
  const befores = bounds.flatMap(({ before }) => before ?? [])
  return {
    from: froms.length === 0 ? null : Math.max(...froms),
    before: befores.length === 0 ? null : Math.min(...befores),
  }
}
