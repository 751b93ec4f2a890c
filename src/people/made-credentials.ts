// What a member has made that gives access without them: keys, app passwords, forwards and webhooks. It stays when they leave the team.

import type { Reader, Tx } from '../db/db.ts'
import type { ApiKey } from '../directory/keys/keys.ts'
import type { AppPassword } from '../directory/mailboxes/app-passwords.ts'
import { type Forward, isLive } from '../directory/mailboxes/forwards.ts'
import type { Webhook } from '../events/webhooks/records.ts'
import type { PeopleDeps } from './deps.ts'
import type { Members } from './members.ts'

/** Former members of a team that are remembered. */
const FORMER_MAX = 200

export interface MadeByMember {
  keys: ApiKey[]
  appPasswords: AppPassword[]
  forwards: Forward[]
  webhooks: Webhook[]
}

/** A person who was removed from a team, where something they made is in use. */
export interface FormerMember {
  /** `usr_…` */
  id: string
  email: string
  removedAt: number
}

interface Deps extends Pick<PeopleDeps, 'db' | 'clock' | 'log' | 'keys' | 'appPasswords' | 'forwards' | 'webhooks'> {
  members: Pick<Members, 'get'>
}

export class MadeCredentials {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** What is in use and was made by a member or former member, or by keys that they made; newest first. */
  of(teamId: string, memberId: string, reader: Reader = this.#deps.db.read): MadeByMember {
    const { keys, appPasswords, forwards, webhooks } = this.#deps
    const makers = keys.makersFrom(teamId, memberId, reader)
    return {
      keys: keys.madeBy(teamId, makers, reader),
      appPasswords: appPasswords.madeBy(teamId, makers, reader),
      forwards: forwards.madeBy(teamId, makers, reader).filter(isLive),
      webhooks: webhooks.madeBy(teamId, makers, reader),
    }
  }

  /** Revokes the keys and app passwords, ends the forwards and disables the webhooks of `of`. @returns what they were */
  revokeIn(tx: Tx, teamId: string, memberId: string): MadeByMember {
    const { keys, appPasswords, forwards, webhooks } = this.#deps
    const made = this.of(teamId, memberId, tx)
    const makers = keys.makersFrom(teamId, memberId, tx)
    keys.revokeMadeBy(tx, teamId, makers)
    appPasswords.revokeAllMadeBy(tx, teamId, makers)
    this.#endIn(tx, forwards.madeBy(teamId, makers, tx))
    webhooks.disableMadeBy(tx, teamId, makers)
    tx.run('DELETE FROM former_members WHERE member_id = ?', [memberId])
    return made
  }

  /**
   * Ends the forwards that a member, or a key that they made, made to their own address, when their access ends: they would go on reading.
   * One that its receiver has ended can be confirmed again by them: it is removed as well.
   * @param mailboxId null for all mailboxes of the team
   */
  endOwnForwardsIn(
    tx: Tx,
    { id, teamId, email }: { id: string; teamId: string; email: string },
    mailboxId: string | null,
  ): void {
    const { keys, forwards } = this.#deps
    const made = forwards.madeBy(teamId, keys.makersFrom(teamId, id, tx), tx)
    const own = made.filter((one) => one.email.toLowerCase() === email)
    this.#endIn(tx, mailboxId === null ? own : own.filter((one) => one.mailboxId === mailboxId))
  }

  #endIn(tx: Tx, ended: readonly Forward[]): void {
    const { forwards, log } = this.#deps
    for (const { mailboxId: mailbox, id: forward, createdBy: created_by } of ended) {
      forwards.removeIn(tx, mailbox, forward)
      const fields = { event: 'forward.changed', forward, mailbox, status: 'removed', created_by }
      tx.afterCommit(() => log.info(fields, 'Forward changed'))
    }
  }

  /** Remembers who a removed member was, where something they made stays. @returns what stays */
  noteRemovedIn(tx: Tx, teamId: string, { id, email }: { id: string; email: string }): MadeByMember {
    const made = this.of(teamId, id, tx)
    if (Object.values(made).every(({ length }) => length === 0)) return made
    tx.insert('former_members', { member_id: id, team_id: teamId, email, removed_at: this.#deps.clock.now() })
    tx.run(
      `DELETE FROM former_members WHERE member_id IN
         (SELECT member_id FROM former_members WHERE team_id = ? ORDER BY removed_at DESC, member_id LIMIT -1 OFFSET ?)`,
      [teamId, FORMER_MAX],
    )
    return made
  }

  /** Who was removed from a team and has left something, the last removed first. */
  former(teamId: string, reader: Reader = this.#deps.db.read): FormerMember[] {
    const sql = 'SELECT * FROM former_members WHERE team_id = ? ORDER BY removed_at DESC, member_id'
    return reader
      .all<{ member_id: string; email: string; removed_at: number }>(sql, [teamId])
      .map(({ member_id: id, email, removed_at: removedAt }) => ({ id, email, removedAt }))
  }

  /**
   * Who made something: the address of a member or former member, or the name of a key; null for the operator and where it is not known.
   * @param createdBy `usr_…`, `key_…` or `operator`
   */
  makerOf(teamId: string, createdBy: string): string | null {
    const { db, keys, members } = this.#deps
    if (createdBy.startsWith('key_')) return keys.get(teamId, createdBy)?.name ?? null
    const sql = 'SELECT email FROM former_members WHERE team_id = ? AND member_id = ?'
    const known = members.get(teamId, createdBy) ?? db.read.get<{ email: string }>(sql, [teamId, createdBy])
    return known?.email ?? null
  }

  /** The same for several things, by `createdBy`; without those that are not known. */
  makersOf(teamId: string, made: readonly { createdBy: string }[]): Record<string, string> {
    const ids = new Set(made.map(({ createdBy }) => createdBy))
    return Object.fromEntries(
      [...ids].flatMap((id) => [[id, this.makerOf(teamId, id)]].filter(([, one]) => one !== null)),
    )
  }

  isFormer(teamId: string, memberId: string, reader: Reader = this.#deps.db.read): boolean {
    const sql = 'SELECT 1 AS found FROM former_members WHERE team_id = ? AND member_id = ?'
    return reader.get(sql, [teamId, memberId]) !== undefined
  }
}
