// One search of one account: the filters of a list and its query, looked up and ready to become SQL.

import type { Reader } from '../../db/db.ts'
import { type FolderKey, type Folders, HIDDEN_ROLES } from '../folders.ts'
import { peopleLike } from '../messages/correspondents.ts'
import type { Account, MessageFilter } from '../records.ts'
import { threadNumber } from '../threads/numbers.ts'
import { filterTerm } from './ask.ts'
import { all, conditionOf, type Known, type Where } from './filter.ts'
import type { TextSearch } from './hits.ts'
import { expression } from './match.ts'
import type { Leaf, Term } from './terms.ts'

/** The one condition a list can be walked by; `listed` where there is none. */
export type Path =
  | { by: 'listed' }
  | { by: 'thread' | 'folder'; n: number }
  | { by: 'unread' | 'flagged' | 'attachment' }

export interface Search {
  account: number
  /** True when nothing can be found. */
  never: boolean
  text: TextSearch | null
  path: Path
  /** The condition of the path as a condition on a row. */
  onPath: Where | null
  /** Bounds on received_at in ms: `from` is inside, `before` is not. */
  received: { from: number | null; before: number | null }
  /** Everything else that is asked of a message, text aside. */
  others: Where | null
  /** Folders of Trash and Junk that are asked for by name; `all` for both without a name. */
  hidden: readonly number[] | 'all'
}

/** What is needed to look things up. */
export interface SearchDeps {
  reader: Reader
  folders: Folders
  /** ms */
  now: number
}

/** @throws ProductError invalid_parameter when `q` is out of bounds */
export async function openSearch(deps: SearchDeps, account: Account, filter: MessageFilter): Promise<Search> {
  const term = filterTerm(filter, deps.now)
  const leaves = [...leavesOf(term)]
  const known = await lookUp(deps, account, leaves)
  const top = term.kind === 'all' ? term.of : [term]
  const path = pathOf(top, known)
  const received = receivedOf(top)
  const rest = top.filter((child) => child !== path.term && child.kind !== 'received')
  const condition = all(rest.map((child) => conditionOf(child, known)))
  const onPath = path.term ? conditionOf(path.term, known) : null
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
    hidden: leaves.some(({ leaf, wanted }) => wanted && leaf.kind === 'anywhere') ? 'all' : namedHidden(leaves, known),
  }
}

/**
 * What the names of folders in `q` stand for now, as a text that is equal for equal meanings; "" where there are none. With it a
 * list changes although no message does.
 * @throws ProductError invalid_parameter when `q` is out of bounds
 */
export async function namedIn(deps: SearchDeps, account: Account, q: string | undefined): Promise<string> {
  const leaves = [...leavesOf(filterTerm({ q }, deps.now))].filter(({ leaf }) => leaf.kind === 'folder')
  const known = await lookUp(deps, account, leaves)
  return leaves.map(({ leaf }) => (leaf.kind === 'folder' ? known.folders(leaf.name).join(' ') : '')).join(',')
}

interface Placed {
  leaf: Leaf
  /** False under a NOT. */
  wanted: boolean
}

function* leavesOf(term: Term, wanted = true): Generator<Placed> {
  if (term.kind === 'not') yield* leavesOf(term.of, !wanted)
  else if (term.kind === 'all' || term.kind === 'any') for (const child of term.of) yield* leavesOf(child, wanted)
  else yield { leaf: term as Leaf, wanted }
}

type KnownFolders = Known & { hidden: ReadonlySet<number> }

async function lookUp(deps: SearchDeps, account: Account, leaves: readonly Placed[]): Promise<KnownFolders> {
  const { reader, folders } = deps
  const people = new Map<string, number[] | null>()
  const threads = new Map<string, number | undefined>()
  let keys: (FolderKey & { name: string })[] | undefined
  for (const { leaf } of leaves) {
    if (leaf.kind === 'person') people.set(leaf.text, await peopleLike(reader, account.n, leaf.text))
    else if (leaf.kind === 'thread') threads.set(leaf.id, await threadNumber(reader, account.n, leaf.id))
    else if (leaf.kind === 'folder') keys ??= await folders.keys(account)
  }
  const hidden = (keys ?? []).filter(({ role }) => role !== null && HIDDEN_ROLES.includes(role))
  return {
    account: account.n,
    folders: (name) => foldersNamed(keys ?? [], name),
    people: (text) => people.get(text) ?? null,
    thread: (id) => threads.get(id),
    hidden: new Set(hidden.map(({ n }) => n)),
  }
}

/** By id, else by role, else by name: a folder may be called like a role it does not have. */
function foldersNamed(keys: readonly (FolderKey & { name: string })[], name: string): number[] {
  const folded = name.toLowerCase()
  const ways = [
    (key: FolderKey) => key.id === name,
    (key: FolderKey) => key.role === folded,
    (key: { name: string }) => key.name.toLowerCase() === folded,
  ]
  for (const way of ways) {
    const found = keys.filter(way)
    if (found.length > 0) return found.map(({ n }) => n)
  }
  return []
}

function namedHidden(leaves: readonly Placed[], known: KnownFolders): number[] {
  const named = leaves.flatMap(({ leaf, wanted }) => (wanted && leaf.kind === 'folder' ? known.folders(leaf.name) : []))
  return [...new Set(named.filter((n) => known.hidden.has(n)))]
}

/** The term that leaves the fewest messages to look at. */
function pathOf(top: readonly Term[], known: Known): { path: Path; term: Term | null } {
  for (const term of top) {
    const n = term.kind === 'thread' ? known.thread(term.id) : undefined
    if (n !== undefined) return { path: { by: 'thread', n }, term }
  }
  for (const term of top) {
    const [n, more] = term.kind === 'folder' ? known.folders(term.name) : []
    if (n !== undefined && more === undefined) return { path: { by: 'folder', n }, term }
  }
  for (const term of top) {
    if (term.kind === 'flag' && term.flag === 'seen' && !term.on) return { path: { by: 'unread' }, term }
    if (term.kind === 'flag' && term.flag === 'flagged' && term.on) return { path: { by: 'flagged' }, term }
  }
  for (const term of top) if (term.kind === 'attachment' && term.on) return { path: { by: 'attachment' }, term }
  return { path: { by: 'listed' }, term: null }
}

function textKind(leaves: readonly Placed[]): TextSearch['kind'] {
  const words = leaves.flatMap(({ leaf }) => (leaf.kind === 'words' ? leaf : []))
  if (words.some(({ prefix }) => prefix)) return 'prefix'
  return leaves.some(({ wanted }) => !wanted) || words.some(({ tokens }) => tokens.length > 1) ? 'phrase' : 'words'
}

function receivedOf(top: readonly Term[]): { from: number | null; before: number | null } {
  const bounds = top.filter((term) => term.kind === 'received')
  const froms = bounds.flatMap(({ from }) => from ?? [])
  const befores = bounds.flatMap(({ before }) => before ?? [])
  return {
    from: froms.length === 0 ? null : Math.max(...froms),
    before: befores.length === 0 ? null : Math.min(...befores),
  }
}
