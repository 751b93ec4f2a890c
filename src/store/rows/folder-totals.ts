// Lengths of lists that are one folder, from its maintained counts.

import type { Folders } from './folders.ts'
import type { Account, MessageFilter } from './records.ts'

/** Number of messages or threads of a filter that only names a folder, and perhaps asks for unread ones; undefined for others. */
export function folderTotal(
  folders: Folders,
  account: Account,
  filter: MessageFilter,
  entries: 'messages' | 'threads',
): number | undefined {
  // Messages in Trash and Junk are in the list of their folder anyway.
  const { folderId, isUnread, inTrashOrJunk: _, ...others } = filter
  if (folderId === undefined || isUnread === false || isRestricted(others)) return undefined
  return folders.total(account, folderId, entries, isUnread === true)
}

/** Whether one of the filters is set. */
export function isRestricted(filter: Omit<MessageFilter, 'folderId' | 'isUnread' | 'inTrashOrJunk'>): boolean {
  return Object.values(filter).some((value) => value !== undefined)
}
