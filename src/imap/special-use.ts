// Uses of folders (RFC 6154).

import type { FolderRole } from '../store/records.ts'

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
