// Maps rows of `remote_accounts` to records.

import type { Row, SqlValue } from '../../db/db.ts'
import type { HeldRemoval, RemoteAccount, RemoteDifference, RemoteProtocol, SkippedMessages } from '../model/records.ts'

export function presentRemote(row: Row): RemoteAccount {
  return {
    ...identityOf(row),
    ...connectionOf(row),
    ...stateOf(row),
    import: {
      state: row.import_state as RemoteAccount['import']['state'],
      foldersTotal: row.import_folders_total as number,
      foldersDone: row.import_folders_done as number,
      messagesTotal: row.import_total as number,
      messagesDone: row.import_done as number,
      bytesDone: row.import_bytes as number,
      startedAt: row.import_started_at as number | null,
      finishedAt: row.import_finished_at as number | null,
    },
  }
}

function identityOf(row: Row) {
  return {
    n: row.n as number,
    id: row.id as string,
    teamId: row.team_id as string,
    mailboxId: row.mailbox_id as string,
    account: row.account as number,
    mode: row.mode as RemoteAccount['mode'],
    name: row.name as string,
    email: row.email as string,
    folderId: row.folder_id as string | null,
    since: row.since as number | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  }
}

function connectionOf(row: Row) {
  const host = row.imap_host as string | null
  return {
    auth: row.auth as RemoteAccount['auth'],
    imap:
      host === null
        ? null
        : {
            host,
            port: row.imap_port as number,
            protocol: row.imap_protocol as RemoteProtocol,
            username: row.imap_username as string,
          },
    hasSecret: row.secret_sealed !== null,
    providerId: row.provider_id as string | null,
    settingsVersion: row.settings_version as number,
    kind: row.kind as RemoteAccount['kind'],
    push: row.push as RemoteAccount['push'],
  }
}

function stateOf(row: Row) {
  return {
    status: row.status as RemoteAccount['status'],
    statusReason: row.status_reason as string | null,
    errorKind: row.error_kind as RemoteAccount['errorKind'],
    statusSince: row.status_since as number,
    resumesAs: row.resumes_as as RemoteAccount['resumesAs'],
    nextTryAt: row.next_try_at as number | null,
    failures: row.failures as number,
    wantedAt: row.wanted_at as number,
    pushedSeq: row.pushed_seq as number,
    treeAt: row.tree_at as number | null,
    syncedAt: row.synced_at as number | null,
    removal: removalOf(row.removal),
    removalThere: removalOf(row.removal_there),
    taken: row.taken as number,
    takenAt: row.taken_at as number | null,
    skipped: skippedOf(row.skipped),
    differences: row.differences == null ? [] : (JSON.parse(row.differences as string) as RemoteDifference[]),
    day: row.day as number,
    dayBytes: row.day_bytes as number,
  }
}

function skippedOf(value: SqlValue | undefined): SkippedMessages {
  return value == null
    ? { messages: 0, tooLarge: 0, nextTryAt: null }
    : (JSON.parse(value as string) as SkippedMessages)
}

function removalOf(value: SqlValue | undefined): HeldRemoval | null {
  return value == null ? null : (JSON.parse(value as string) as HeldRemoval)
}
