// Attributes of folders in LIST, with their uses (RFC 6154).

import type { FolderStatus } from '../../store/entries/folders-views.ts'
import type { FolderRole } from '../../store/rows/records.ts'

const SPECIAL_USE: Partial<Record<FolderRole, string>> = {
  drafts: '\\Drafts',
  sent: '\\Sent',
  junk: '\\Junk',
  trash: '\\Trash',
  archive: '\\Archive',
}

/** The attribute of a role; null without one. */
export function specialUseOf(role: FolderRole | null): string | null {
  return role === null ? null : (SPECIAL_USE[role] ?? null)
}

/** The attributes of a folder in an untagged LIST that no command asked for. */
export function listAttributes(folder: Pick<FolderStatus, 'role' | 'isSubscribed' | 'hasChildren'>): string[] {
  const use = specialUseOf(folder.role)
  return [
    ...(folder.isSubscribed ? ['\\Subscribed'] : []),
    folder.hasChildren ? '\\HasChildren' : '\\HasNoChildren',
    ...(use === null ? [] : [use]),
  ]
}
