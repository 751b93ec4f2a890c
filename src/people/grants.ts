// Which members of a team may open which of its mailboxes. No role opens a mailbox by itself.

import type { Reader, Row, Tx } from '../db/db.ts'
import type { MAILBOX_SCOPES } from '../directory/names/permissions.ts'
import type { PeopleDeps } from './deps.ts'

export const MAILBOX_ACCESS = ['owner', 'editor', 'reader'] as const
export type MailboxAccess = (typeof MAILBOX_ACCESS)[number]

/** What each access permits: an editor reads, files and answers, and has no scope that changes settings or deletes for good. */
export const ACCESS_SCOPES: Readonly<Record<MailboxAccess, readonly (typeof MAILBOX_SCOPES)[number][]>> = {
  owner: ['mailbox.read', 'email.receive', 'mailbox.write', 'email.send'],
  editor: ['mailbox.read', 'email.receive', 'email.send'],
  reader: ['mailbox.read'],
}

/** A member who may open a mailbox. */
export interface MailboxGrant {
  mailboxId: string
  /** `usr_…` */
  memberId: string
  access: MailboxAccess
  createdAt: number
  /** The key or the member that granted it. */
  createdBy: string
}

export class MailboxGrants {
  readonly #db: PeopleDeps['db']
  readonly #clock: PeopleDeps['clock']
  readonly #appPasswords: PeopleDeps['appPasswords']

  constructor({ db, clock, appPasswords }: Pick<PeopleDeps, 'db' | 'clock' | 'appPasswords'>) {
    this.#db = db
    this.#clock = clock
    this.#appPasswords = appPasswords
  }

  get(mailboxId: string, memberId: string, reader: Reader = this.#db.read): MailboxGrant | undefined {
    const row = reader.get('SELECT * FROM mailbox_grants WHERE mailbox_id = ? AND member_id = ?', [mailboxId, memberId])
    return row && grantOf(row)
  }

  /** The grants of a mailbox, the oldest first. */
  ofMailbox(mailboxId: string, reader: Reader = this.#db.read): MailboxGrant[] {
    const sql = 'SELECT * FROM mailbox_grants WHERE mailbox_id = ? ORDER BY created_at, member_id'
    return reader.all(sql, [mailboxId]).map(grantOf)
  }

  /** The first grants of each of these mailboxes, the oldest first, and how many there are. @param most grants of one mailbox */
  ofMailboxes(mailboxIds: readonly string[], most: number): Map<string, { first: MailboxGrant[]; count: number }> {
    const rows = this.#db.read.all(
      `SELECT * FROM (
         SELECT *, row_number() OVER one AS position, count(*) OVER (PARTITION BY mailbox_id) AS count FROM mailbox_grants
         WHERE mailbox_id IN (SELECT value FROM json_each(?)) WINDOW one AS (PARTITION BY mailbox_id ORDER BY created_at, member_id)
       ) WHERE position <= ? ORDER BY mailbox_id, position`,
      [JSON.stringify(mailboxIds), most],
    )
    const found = new Map<string, { first: MailboxGrant[]; count: number }>()
    for (const row of rows) {
      const grant = grantOf(row)
      const known = found.get(grant.mailboxId)
      if (known === undefined) found.set(grant.mailboxId, { first: [grant], count: row.count as number })
      else known.first.push(grant)
    }
    return found
  }

  /** The mailboxes a member may open, the oldest grant first. */
  ofMember(memberId: string, reader: Reader = this.#db.read): MailboxGrant[] {
    const sql = 'SELECT * FROM mailbox_grants WHERE member_id = ? ORDER BY created_at, mailbox_id'
    return reader.all(sql, [memberId]).map(grantOf)
  }

  /** Grants access, or changes it; an owner who is one no longer loses their app passwords. @returns true when the member had none before */
  put(tx: Tx, grant: Omit<MailboxGrant, 'createdAt'>): boolean {
    const isNew = this.get(grant.mailboxId, grant.memberId, tx) === undefined
    if (!isNew && grant.access !== 'owner') this.#appPasswords.revokeMadeBy(tx, grant.mailboxId, grant.memberId)
    tx.run(
      `INSERT INTO mailbox_grants (mailbox_id, member_id, access, created_at, created_by) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (mailbox_id, member_id) DO UPDATE SET access = excluded.access`,
      [grant.mailboxId, grant.memberId, grant.access, this.#clock.now(), grant.createdBy],
    )
    return isNew
  }

  /** Takes access back, with the app passwords the member made. @returns false when the member had no access */
  delete(tx: Tx, mailboxId: string, memberId: string): boolean {
    const sql = 'DELETE FROM mailbox_grants WHERE mailbox_id = ? AND member_id = ?'
    if (tx.run(sql, [mailboxId, memberId]).changes === 0) return false
    this.#appPasswords.revokeMadeBy(tx, mailboxId, memberId)
    return true
  }

  /** The same for every mailbox of a member. */
  deleteOfMember(tx: Tx, memberId: string): void {
    for (const { mailboxId } of this.ofMember(memberId, tx)) this.#appPasswords.revokeMadeBy(tx, mailboxId, memberId)
    tx.run('DELETE FROM mailbox_grants WHERE member_id = ?', [memberId])
  }

  deleteOfMailbox(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM mailbox_grants WHERE mailbox_id = ?', [mailboxId])
  }
}

function grantOf(row: Row): MailboxGrant {
  return {
    mailboxId: row.mailbox_id as string,
    memberId: row.member_id as string,
    access: row.access as MailboxAccess,
    createdAt: row.created_at as number,
    createdBy: row.created_by as string,
  }
}
