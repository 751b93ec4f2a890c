// Outside accounts that were ended while their messages stayed: what is known of them, for when they are attached again.

import type { Db, Reader, Row, Tx } from '../../db/db.ts'
import type { ImapSettings, RemoteAccount, RemoteMode } from '../model/records.ts'

/** What an account that is attached again goes on with. */
const CARRIED = [
  ...['pushed_seq', 'removal', 'removal_there', 'import_state', 'import_total', 'import_done', 'import_bytes'],
  ...['import_folders_total', 'import_folders_done', 'import_started_at', 'import_finished_at'],
] as const

/** An account that was ended. */
export interface EndedAccount {
  /** Its number, under which its folders and messages are known. */
  remote: number
  mailboxId: string
  host: string | null
  username: string | null
  /** Columns of `remote_accounts`. */
  carried: Row
}

interface EndedRow {
  remote: number
  mailbox_id: string
  imap_host: string | null
  imap_username: string | null
  carried: string
}

const COLUMNS = 'remote, mailbox_id, imap_host, imap_username, carried'

export class EndedAccounts {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Remembers an account whose record is about to be deleted. */
  remember(tx: Tx, { n }: Pick<RemoteAccount, 'n'>, now: number): void {
    const members = CARRIED.map((column) => `'${column}', ${column}`).join(', ')
    tx.run(
      `INSERT OR REPLACE INTO remote_ended (remote, mailbox_id, mode, email, imap_host, imap_username, carried, ended_at)
       SELECT n, mailbox_id, mode, email, imap_host, imap_username, json_object(${members}), ? FROM remote_accounts WHERE n = ?`,
      [now, n],
    )
  }

  /** The account with this address that a mailbox was, or collected from, last. */
  of(
    reader: Reader,
    { mailboxId, mode, email }: { mailboxId: string; mode: RemoteMode; email: string },
  ): EndedAccount | undefined {
    const row = reader.get<EndedRow>(
      `SELECT ${COLUMNS} FROM remote_ended WHERE mailbox_id = ? AND mode = ? AND email = ? ORDER BY ended_at DESC LIMIT 1`,
      [mailboxId, mode, email],
    )
    return row && present(row)
  }

  numbers(): number[] {
    return this.#db.read.all<{ remote: number }>('SELECT remote FROM remote_ended').map(({ remote }) => remote)
  }

  /** @param mailboxId of a mailbox that is deleted */
  forgetOf(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM remote_ended WHERE mailbox_id = ?', [mailboxId])
  }

  forget(tx: Tx, remote: number): void {
    tx.run('DELETE FROM remote_ended WHERE remote = ?', [remote])
  }
}

/** Whether settings name the server and user of an account that was ended. */
export function isSameService(ended: EndedAccount, imap: ImapSettings | null): boolean {
  return ended.host === (imap?.host ?? null) && ended.username === (imap?.username ?? null)
}

function present({ remote, mailbox_id: mailboxId, imap_host: host, imap_username: username, carried }: EndedRow) {
  return { remote, mailboxId, host, username, carried: JSON.parse(carried) as Row }
}
