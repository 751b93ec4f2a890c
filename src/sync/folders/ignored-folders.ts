// Why folders of a server are not followed.

import { DEPTH_MAX, FOLDERS_MAX } from '../../store/mailbox/folders-edits.ts'
import type { FolderRole } from '../../store/rows/records.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { PlannedFolder } from '../model/tree-names.ts'
import type { SyncSession } from '../session/sync-session.ts'

/** ... a folder that cannot be selected. */
export const HOLDS_FOLDERS = 'It holds folders only.'
const SHOWS_OTHERS = 'It shows messages of other folders.'
export const NO_ROOM = 'The mailbox cannot have more folders.'
export const BELOW_NONE = 'The folder that it is in is not in the mailbox.'
export const GONE = 'It is gone at the server.'
/** ... after it was missing in the list once. */
export const MISSED = 'It was missing in the last list of the server.'
/** ... although it is at the server. */
export const UNLISTED = 'The server has it, and leaves it out of its list.'
const IN_ALL_MAIL = 'Its messages are in All Mail.'
const COLLECTS_NOTHING = 'Mail is not collected from it.'
/** Why folders are ignored whose messages are not missing here. */
const EXPECTED: readonly (string | null)[] = [HOLDS_FOLDERS, SHOWS_OTHERS, IN_ALL_MAIL, COLLECTS_NOTHING, GONE, MISSED]

/** Whether a folder is missing in the list of the server, and is not known to be gone: its messages wait. */
export function isUnlisted({ reason }: Pick<RemoteFolder, 'reason'>): boolean {
  return reason === MISSED || reason === UNLISTED
}

/** Whether messages of an ignored folder are missing here: its server refuses it, or it is beyond the limits. */
export function isLeftOut({ state, reason }: Pick<RemoteFolder, 'state' | 'reason'>): boolean {
  return state === 'ignored' && !EXPECTED.includes(reason)
}

/** Roles whose folders are not collected from: what is in them is not new mail. */
const NOT_COLLECTED: readonly (FolderRole | null)[] = ['junk', 'trash', 'drafts', 'sent']

/** What is known while a list is compared. */
export interface KnownTree {
  rows: Map<string, RemoteFolder>
  /** How many of them are followed. */
  followed: number
  /** Paths of folders that cannot be selected and have some below them that are shown. */
  holders: ReadonlySet<string>
  /** Numbers of the folders here. */
  here: Set<number>
}

/** @returns null for a folder that is followed */
export function whyIgnored(
  { account, areLabels }: SyncSession,
  folder: PlannedFolder,
  { rows, followed, here }: KnownTree,
): string | null {
  if (!folder.canSelect) return folder.isView ? SHOWS_OTHERS : HOLDS_FOLDERS
  if (folder.names.length > DEPTH_MAX) return `It is nested more than ${DEPTH_MAX} levels deep.`
  const row = rows.get(folder.path)
  // Not tried again with each list.
  if (row?.reason === NO_ROOM && here.size >= FOLDERS_MAX) return NO_ROOM
  if (followed - (row?.state === 'followed' ? 1 : 0) >= FOLDERS_MAX) return `Only ${FOLDERS_MAX} folders are followed.`
  if (account.mode !== 'collect') return null
  if (areLabels && folder.role !== 'archive') return IN_ALL_MAIL
  return NOT_COLLECTED.includes(folder.role) ? COLLECTS_NOTHING : null
}
