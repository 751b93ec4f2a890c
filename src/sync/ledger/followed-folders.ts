// The folders of an outside account, as people see them.

import type { Db } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import type { FolderRole } from '../../store/rows/records.ts'
import type { Store } from '../../store/store.ts'
import type { RemoteAccount } from '../model/records.ts'
import { skippedByFolder, skippedSentence } from './skipped-messages.ts'

/** Times in ms. */
export interface FollowedFolder {
  /** As its server names it. */
  path: string
  folderId: string | null
  role: FolderRole | null
  state: 'followed' | 'ignored'
  reason: string | null
  total: number
  /** Messages that are known. */
  done: number
  /** Those of them that are not here. */
  skipped: number
  lookedAt: number | null
}

const NOTHING_SKIPPED = { messages: 0, tooLarge: 0, nextTryAt: null }

/** In the order in which they were found. */
export function followedFolders(
  { db, store }: { db: Db; store: Pick<Store, 'accounts' | 'read'> },
  { n, mailboxId }: Pick<RemoteAccount, 'n' | 'mailboxId'>,
  { limit, after }: { limit: number; after: PageKey | null },
): Page<FollowedFolder> {
  const account = store.accounts.byMailbox(mailboxId)
  const ids = new Map(
    account === undefined ? [] : store.read.folders.keys(account).map((folder) => [folder.n, folder.id]),
  )
  const skipped = new Map(skippedByFolder(db.read, n).map((one) => [one.folder, one]))
  const sentenceOf = (folder: number) => skippedSentence(skipped.get(folder) ?? NOTHING_SKIPPED)
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
      reason: (row.reason as string | null) ?? sentenceOf(row.n as number),
      total: row.total as number,
      done: row.done as number,
      skipped: skipped.get(row.n as number)?.messages ?? 0,
      lookedAt: row.looked_at as number | null,
    }),
  )
}
