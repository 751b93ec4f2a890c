// Where a copy of an arriving mail is filed: by what the script of its mailbox says, and by the folders there are.

import { ProductError } from '../base/errors.ts'
import type { Tx } from '../db/db.ts'
import type { FilingTarget, SieveOutcome } from '../sieve/outcome.ts'
import type { FolderKey, Folders } from './folders.ts'
import { checkFolderName, DEPTH_MAX, FOLDERS_MAX, type FolderEdits } from './folders-edit.ts'
import type { Account } from './records.ts'

/** What is to become of one copy. */
export interface DeliveryFolders {
  /** None: it is thrown away. */
  folders: FolderKey[]
  keywords: string[]
  /** Why the script was given up, one sentence; null where it was not, or where there is none. */
  fault: string | null
}

interface Deps {
  folders: Folders
  folderEdits: FolderEdits
}

/** The folders of an account. */
interface Known {
  byPath: Map<string, FolderKey>
  byRole: Map<string, Named>
}

type Named = FolderKey & { path: string }

/** Says that a script cannot be followed; its message is one sentence. */
class FolderUnavailable extends Error {}

/** A folder that is to be made: its parent is there already, or made before it. */
interface Missing {
  parent: string
  name: string
}

/** What became of a script, as the inbound log shows it. */
export interface ScriptEvidence {
  outcome: 'filed' | 'discarded' | 'failed'
  folder_ids: readonly string[]
  /** Why it was given up, one sentence. */
  error: string | null
}

/** @returns null where no script had a say */
export function scriptEvidence(
  copy: { outcome: string; folderIds: readonly string[]; scriptFault: string | null },
  ruling: SieveOutcome | null,
): ScriptEvidence | null {
  if (ruling === null || (copy.outcome !== 'stored' && copy.outcome !== 'discarded')) return null
  const { scriptFault: error, folderIds } = copy
  const outcome = copy.outcome === 'discarded' ? 'discarded' : error === null ? 'filed' : 'failed'
  return { outcome, folder_ids: folderIds, error }
}

/**
 * Finds the folders a ruling names, and makes those it wants made.
 * RFC 5228 2.10.6: where that cannot be done the mail goes where it would have gone without a script.
 * @param usual the folder a mail goes into that no script files
 */
export async function resolveFolders(
  tx: Tx,
  deps: Deps,
  account: Account,
  { ruling, usual }: { ruling: SieveOutcome | null; usual: FolderKey },
): Promise<DeliveryFolders> {
  const plainly = (fault: string | null): DeliveryFolders => ({ folders: [usual], keywords: [], fault })
  if (ruling === null || ruling.error !== null) return plainly(ruling?.error ?? null)
  const { targets: places, keywords } = ruling
  try {
    const folders = places.some(({ kind }) => kind === 'folder')
      ? await foldersOf(tx, deps, account, places, usual)
      : places.map(() => usual)
    return { folders, keywords, fault: null }
  } catch (error) {
    if (!(error instanceof FolderUnavailable)) throw error
    return plainly(error.message)
  }
}

/** Those of the paths that lead to a folder. */
export async function existing(folders: Folders, account: Account, paths: readonly string[]): Promise<string[]> {
  const known = knownOf(await folders.paths(account))
  return paths.filter((path) => find(known, path) !== undefined)
}

async function foldersOf(
  tx: Tx,
  { folders, folderEdits }: Deps,
  account: Account,
  places: readonly FilingTarget[],
  usual: FolderKey,
): Promise<FolderKey[]> {
  let known = knownOf(await folders.paths(account, tx))
  // Looked at as a whole first: nothing is made for a script that fails in the end.
  const missing = places.flatMap((place) => (place.kind === 'folder' ? missingFor(known, place) : []))
  if (known.byPath.size + missing.length > FOLDERS_MAX)
    throw new FolderUnavailable('There are too many folders to make one more.')
  for (const { parent, name } of missing) {
    const path = parent === '' ? name : `${parent}/${name}`
    if (find(known, path)) continue
    const parentId = parent === '' ? null : find(known, parent)!.id
    await folderEdits.createIn(tx, account, { name, parentId })
    known = knownOf(await folders.paths(account, tx))
  }
  const found = places.map((place) => (place.kind === 'folder' ? find(known, place.path)! : usual))
  return [...new Map(found.map(({ n, id, role }) => [n, { n, id, role }])).values()]
}

/** The folders on the way to a place that are not there, the outer ones first. @throws NoSuchPlace */
function missingFor(known: Known, { path, create }: FilingTarget & { kind: 'folder' }): Missing[] {
  if (find(known, path)) return []
  if (!create) throw new FolderUnavailable(`There is no folder "${path.slice(0, 100)}".`)
  const names = path.split('/')
  if (names.length > DEPTH_MAX) throw new FolderUnavailable(`Folders lie in one another ${DEPTH_MAX} deep at most.`)
  const missing = names.map((name, index) => ({ parent: names.slice(0, index).join('/'), name }))
  return missing.filter(({ name }, index) => {
    if (find(known, names.slice(0, index + 1).join('/'))) return false
    checkName(name)
    return true
  })
}

function checkName(name: string): void {
  try {
    checkFolderName(name)
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    throw new FolderUnavailable(`No folder can be made of that name: ${error.message}`)
  }
}

/**
 * The folder of a path; the Inbox by "INBOX" in any case (RFC 9051 5.1), also at the start of a path, and folders with a role by
 * the name of their role too.
 */
function find({ byPath, byRole }: Known, path: string): FolderKey | undefined {
  const same = byPath.get(path)
  if (same) return same
  const [first = '', ...rest] = path.split('/')
  const named = byRole.get(first.toLowerCase())
  if (rest.length === 0 || named?.role !== 'inbox') return rest.length === 0 ? named : undefined
  return byPath.get([named.path, ...rest].join('/'))
}

function knownOf(folders: readonly Named[]): Known {
  const byRole = folders.flatMap((folder) => (folder.role === null ? [] : [[folder.role, folder] as const]))
  return { byPath: new Map(folders.map((folder) => [folder.path, folder])), byRole: new Map(byRole) }
}
