// Resolves the folders for a delivered copy from the outcome of the mailbox's Sieve script and its existing folders.

import { ProductError } from '../../base/errors.ts'
import type { Tx } from '../../db/db.ts'
import { idIn } from '../../sieve/folder-path.ts'
import type { FilingTarget, SieveOutcome } from '../../sieve/outcome.ts'
import type { FolderKey, Folders } from '../rows/folders.ts'
import type { Account } from '../rows/records.ts'
import { checkFolderName, DEPTH_MAX, FOLDERS_MAX, type FolderEdits } from './folders-edits.ts'

export interface DeliveryFolders {
  /** Empty: the copy is discarded. */
  folders: FolderKey[]
  keywords: string[]
  /** Why the script was aborted, one sentence; null if it was not or there is none. */
  error: string | null
}

interface Deps {
  folders: Folders
  folderEdits: FolderEdits
}

/** The folders of an account by path and by role. */
interface FolderIndex {
  byPath: Map<string, FolderKey>
  byRole: Map<string, FolderPath>
  byId: Map<string, FolderPath>
}

type FolderPath = FolderKey & { path: string }

/** A folder that the script names does not exist or cannot be created; `message` is one sentence. */
class FolderUnavailable extends Error {}

/** A folder to create: its parent exists or is created before it. */
interface MissingFolder {
  parent: string
  name: string
}

/** Outcome of a script as shown in the inbound log. */
export interface ScriptEvidence {
  outcome: 'filed' | 'discarded' | 'failed'
  folder_ids: readonly string[]
  /** Why it was aborted, one sentence. */
  error: string | null
}

/** @returns null if no script ran or the copy was not affected by it */
export function scriptEvidence(
  copy: { outcome: string; folderIds: readonly string[]; scriptError: string | null },
  scriptOutcome: SieveOutcome | null,
): ScriptEvidence | null {
  if (scriptOutcome === null || (copy.outcome !== 'stored' && copy.outcome !== 'discarded')) return null
  const { scriptError: error, folderIds } = copy
  const outcome = copy.outcome === 'discarded' ? 'discarded' : error === null ? 'filed' : 'failed'
  return { outcome, folder_ids: folderIds, error }
}

/**
 * Finds the folders a script names and creates the missing ones if the script asks for it (`:create`, RFC 5490 §3.2).
 * If that fails, the message is filed as if there were no script (implicit keep, RFC 5228 §2.10.6).
 * @param defaultFolder folder for messages that no script files
 */
export function resolveFolders(
  tx: Tx,
  deps: Deps,
  account: Account,
  { scriptOutcome, defaultFolder }: { scriptOutcome: SieveOutcome | null; defaultFolder: FolderKey },
): DeliveryFolders {
  const implicitKeep = (error: string | null): DeliveryFolders => ({ folders: [defaultFolder], keywords: [], error })
  if (scriptOutcome === null || scriptOutcome.error !== null) return implicitKeep(scriptOutcome?.error ?? null)
  const { targets, keywords } = scriptOutcome
  try {
    const folders = targets.some(({ kind }) => kind === 'folder')
      ? findOrCreateFolders(tx, deps, account, targets, defaultFolder)
      : targets.map(() => defaultFolder)
    return { folders, keywords, error: null }
  } catch (error) {
    if (!(error instanceof FolderUnavailable)) throw error
    return implicitKeep(error.message)
  }
}

/** The paths of `paths`, and the ids in the form of `idName`, that name an existing folder. */
export function existingFolders(folders: Folders, account: Account, paths: readonly string[]): string[] {
  const index = indexFolders(folders.paths(account))
  return paths.filter((path) => {
    const id = idIn(path)
    return id === null ? findFolder(index, path) !== undefined : index.byId.has(id)
  })
}

function findOrCreateFolders(
  tx: Tx,
  { folders, folderEdits }: Deps,
  account: Account,
  targets: readonly FilingTarget[],
  defaultFolder: FolderKey,
): FolderKey[] {
  let index = indexFolders(folders.paths(account, tx))
  // All targets are checked first, so that a script that fails creates no folder.
  const missing = targets.flatMap((target) => (target.kind === 'folder' ? missingFolders(index, target) : []))
  if (index.byPath.size + missing.length > FOLDERS_MAX)
    throw new FolderUnavailable(`The mailbox already has the maximum of ${FOLDERS_MAX} folders.`)
  for (const { parent, name } of missing) {
    const path = parent === '' ? name : `${parent}/${name}`
    if (findFolder(index, path)) continue
    const parentId = parent === '' ? null : findFolder(index, parent)!.id
    folderEdits.createIn(tx, account, { name, parentId })
    index = indexFolders(folders.paths(account, tx))
  }
  const resolved = targets.map((target) => (target.kind === 'folder' ? folderOf(index, target)! : defaultFolder))
  return [...new Map(resolved.map(({ n, id, role }) => [n, { n, id, role }])).values()]
}

/** RFC 9042 §4: the folder with the id, or else the one of the name. */
function folderOf(index: FolderIndex, { path, id }: FilingTarget & { kind: 'folder' }): FolderKey | undefined {
  return (id === undefined ? undefined : index.byId.get(id)) ?? findFolder(index, path)
}

/** The missing folders of a path, outermost first. @throws FolderUnavailable */
function missingFolders(index: FolderIndex, target: FilingTarget & { kind: 'folder' }): MissingFolder[] {
  const { path, create } = target
  if (folderOf(index, target)) return []
  if (!create) throw new FolderUnavailable(`Folder "${path.slice(0, 100)}" does not exist.`)
  const names = path.split('/')
  if (names.length > DEPTH_MAX) throw new FolderUnavailable(`Folders can be nested at most ${DEPTH_MAX} levels deep.`)
  const missing = names.map((name, level) => ({ parent: names.slice(0, level).join('/'), name }))
  return missing.filter(({ name }, level) => {
    if (findFolder(index, names.slice(0, level + 1).join('/'))) return false
    checkName(name)
    return true
  })
}

function checkName(name: string): void {
  try {
    checkFolderName(name)
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    throw new FolderUnavailable(`The folder cannot be created: ${error.message}`)
  }
}

/**
 * The folder with a path. A folder with a role is also found by the role's name; "INBOX" in any letter case names the Inbox
 * (RFC 9051 §5.1), also as the first part of a path.
 */
function findFolder({ byPath, byRole }: FolderIndex, path: string): FolderKey | undefined {
  const exact = byPath.get(path)
  if (exact) return exact
  const [first = '', ...rest] = path.split('/')
  const withRole = byRole.get(first.toLowerCase())
  if (rest.length === 0 || withRole?.role !== 'inbox') return rest.length === 0 ? withRole : undefined
  return byPath.get([withRole.path, ...rest].join('/'))
}

function indexFolders(folders: readonly FolderPath[]): FolderIndex {
  const byRole = folders.flatMap((folder) => (folder.role === null ? [] : [[folder.role, folder] as const]))
  const byPath = new Map(folders.map((folder) => [folder.path, folder]))
  return { byPath, byRole: new Map(byRole), byId: new Map(folders.map((folder) => [folder.id, folder])) }
}
