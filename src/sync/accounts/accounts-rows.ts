// Maps rows of `remote_accounts` to records.

import type { Row } from '../../db/db.ts'
import type { RowOf } from '../../db/table.ts'
import { REMOTE_ACCOUNTS, type RemoteAccount } from '../model/records.ts'

/** @param row with all columns */
export function presentRemote(row: Row): RemoteAccount {
  const { imapHost, imapPort, imapProtocol, imapUsername, ...stored } = REMOTE_ACCOUNTS.record(
    row as RowOf<typeof REMOTE_ACCOUNTS>,
  )
  const { importState, importTotal, importDone, importBytes, ...rest } = stored
  const { importFoldersTotal, importFoldersDone, importStartedAt, importFinishedAt, ...account } = rest
  return {
    ...account,
    imap:
      imapHost === null ? null : { host: imapHost, port: imapPort!, protocol: imapProtocol!, username: imapUsername! },
    hasSecret: row.secret_sealed !== null,
    import: {
      state: importState,
      foldersTotal: importFoldersTotal,
      foldersDone: importFoldersDone,
      messagesTotal: importTotal,
      messagesDone: importDone,
      bytesDone: importBytes,
      startedAt: importStartedAt,
      finishedAt: importFinishedAt,
    },
    skipped: account.skipped ?? { messages: 0, tooLarge: 0, nextTryAt: null },
    differences: account.differences ?? [],
  }
}
