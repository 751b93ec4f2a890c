// Reading outside accounts: by id, by mailbox, and in lists.

import type { Db, Reader, Row } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { placeholders, Where } from '../../db/sql-text.ts'
import type { RowOf } from '../../db/table.ts'
import {
  type CarryDirection,
  REMOTE_ACCOUNTS,
  type RemoteAccount,
  type RemoteMode,
  type RemoteStatus,
} from '../model/records.ts'

interface RemoteFilter {
  status?: RemoteStatus
  mode?: RemoteMode
  mailboxId?: string
  limit: number
  after: PageKey | null
}

/** The read-only half of `RemoteAccounts`. */
export class RemoteAccountReads {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  get(teamId: string, id: string): RemoteAccount | undefined {
    return this.getIn(this.#db.read, teamId, id)
  }

  /** As `get`, inside a unit of work of the caller. */
  getIn(reader: Reader, teamId: string, id: string): RemoteAccount | undefined {
    const row = reader.get('SELECT * FROM remote_accounts WHERE id = ? AND team_id = ?', [id, teamId])
    return row && presentRemote(row)
  }

  byId(id: string, reader: Reader = this.#db.read): RemoteAccount | undefined {
    const row = reader.get('SELECT * FROM remote_accounts WHERE id = ?', [id])
    return row && presentRemote(row)
  }

  /** The accounts with this lower-case address: at most one of each team, oldest first. */
  byEmail(email: string): RemoteAccount[] {
    return this.#db.read.all('SELECT * FROM remote_accounts WHERE email = ? ORDER BY n', [email]).map(presentRemote)
  }

  /** Newest first. */
  list(teamId: string, { status, mode, mailboxId, limit, after }: RemoteFilter): Page<RemoteAccount> {
    const where = new Where().add('team_id = ?', teamId)
    if (status !== undefined) where.add('status = ?', status)
    if (mode !== undefined) where.add('mode = ?', mode)
    if (mailboxId !== undefined) where.add('mailbox_id = ?', mailboxId)
    if (after !== null) where.add('(created_at, n) < (?, ?)', ...after)
    const rows = this.#db.read.all(
      `SELECT * FROM remote_accounts WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...where.values, limit + 1],
    )
    return pageOf(rows, limit, (row) => [row.created_at as number, row.n as number], presentRemote)
  }

  /** The accounts of a mailbox, oldest first: one that it is, or those it collects from. */
  ofMailbox(mailboxId: string, reader: Reader = this.#db.read): RemoteAccount[] {
    return reader.all('SELECT * FROM remote_accounts WHERE mailbox_id = ? ORDER BY n', [mailboxId]).map(presentRemote)
  }

  /** The account that a mailbox is. */
  mirrorOf(mailboxId: string, reader: Reader = this.#db.read): RemoteAccount | undefined {
    const row = reader.get(`SELECT * FROM remote_accounts WHERE mailbox_id = ? AND mode = 'mirror'`, [mailboxId])
    return row && presentRemote(row)
  }

  /** Ids of the accounts that the given mailboxes are, by mailbox. */
  mirrorsOf(mailboxIds: readonly string[], reader: Reader = this.#db.read): Map<string, string> {
    const rows = reader.all<{ id: string; mailbox_id: string }>(
      `SELECT id, mailbox_id FROM remote_accounts WHERE mode = 'mirror' AND mailbox_id IN (${placeholders(mailboxIds)})`,
      mailboxIds,
    )
    return new Map(rows.map(({ id, mailbox_id }) => [mailbox_id, id]))
  }

  /** The account of a team with this address. */
  attached(reader: Reader, teamId: string, email: string): RemoteAccount | undefined {
    const row = reader.get('SELECT * FROM remote_accounts WHERE team_id = ? AND email = ?', [teamId, email])
    return row && presentRemote(row)
  }

  /** The accounts that need a person. */
  inError(): RemoteAccount[] {
    return this.#db.read.all(`SELECT * FROM remote_accounts WHERE status = 'error' ORDER BY n`).map(presentRemote)
  }

  /** The accounts that are in error or delayed, or hold back a removal. */
  inTrouble(): RemoteAccount[] {
    const sql = `SELECT * FROM remote_accounts WHERE status IN ('error', 'delayed') OR removal IS NOT NULL OR removal_there IS NOT NULL
      ORDER BY n`
    return this.#db.read.all(sql).map(presentRemote)
  }

  /** When (ms) the account that was compared longest ago, of those that are followed, was compared; null without any. */
  comparedLast(): number | null {
    const sql = `SELECT min(coalesce(synced_at, created_at)) AS at FROM remote_accounts WHERE status NOT IN ('paused', 'error')`
    return this.#db.read.get<{ at: number | null }>(sql)!.at
  }

  /** How many accounts of the appliance are in each status. */
  countByStatus(): Map<RemoteStatus, number> {
    const sql = 'SELECT status, count(*) AS count FROM remote_accounts GROUP BY status'
    const rows = this.#db.read.all<{ status: RemoteStatus; count: number }>(sql)
    return new Map(rows.map(({ status, count }) => [status, count]))
  }

  /**
   * The mailbox into which sign-in links to an address arrive, as far as it is proved: by the issuer that named the address, or by a link
   * that arrived. Anyone may name any address with a server of their own; that must not keep its owner from signing in.
   * @param email lower-case
   */
  linksArriveIn(email: string): string | null {
    const sql = `SELECT mailbox_id AS id FROM remote_accounts WHERE email = ? AND (auth <> 'password' OR links_at IS NOT NULL)
      ORDER BY n LIMIT 1`
    return this.#db.read.get<{ id: string }>(sql, [email])?.id ?? null
  }

  /** How many accounts a team has. */
  count(teamId: string, reader: Reader = this.#db.read): number {
    const sql = 'SELECT count(*) AS count FROM remote_accounts WHERE team_id = ?'
    return reader.get<{ count: number }>(sql, [teamId])!.count
  }

  /** How many messages were stored here and there, of all accounts that ever were. */
  carried(): { direction: CarryDirection; messages: number }[] {
    return this.#db.read.all('SELECT direction, messages FROM remote_totals ORDER BY direction')
  }

  /** Whether there is any account on this appliance. */
  any(): boolean {
    return this.#db.read.get('SELECT 1 FROM remote_accounts LIMIT 1') !== undefined
  }
}

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
