// The folders of an outside account, as people see them.

import type { Db } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import type { FolderRole } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { RemoteAccount } from '../records.ts'

/** Times in ms. */
export interface FollowedFolder {
  /** As its server names it. */
  path: string
  folderId: string | null
  role: FolderRole | null
  state: 'followed' | 'ignored'
  reason: string | null
  total: number
  done: number
  lookedAt: number | null
}

/** In the order in which they were found. */
export function followedFolders(
  { db, store }: { db: Db; store: Pick<Store, 'accounts' | 'folders'> },
  { n, mailboxId }: Pick<RemoteAccount, 'n' | 'mailboxId'>,
  { limit, after }: { limit: number; after: PageKey | null },
): Page<FollowedFolder> {
  const account = store.accounts.byMailbox(mailboxId)
  const ids = new Map(account === undefined ? [] : store.folders.keys(account).map((folder) => [folder.n, folder.id]))
  const rows = db.read.all(
    `SELECT n, path, folder, role, state, reason, total, done, looked_at FROM remote_folders
     WHERE remote = ?${after === null ? '' : ' AND n > ?'} ORDER BY n LIMIT ?`,
    [n, ...(after ?? []), limit + 1],
  )
  return pageOf(
    rows,
    limit,
    (row) => [row.n as number],
    (row) => ({
      path: row.path as string,
      folderId: ids.get(row.folder as number) ?? null,
      role: row.role as FolderRole | null,
      state: row.state === 'ignored' ? 'ignored' : 'followed',
      reason: row.reason as string | null,
      total: row.total as number,
      done: row.done as number,
      lookedAt: row.looked_at as number | null,
    }),
  )
}
