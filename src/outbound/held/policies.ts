// What programs of a mailbox may send without a person: the policy of the mailbox (docs/design/agents.md §13).

import { invalid } from '../../base/errors.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { RowCache } from '../../db/row-cache.ts'
import { flag, integer, json, type RecordOf, table, text, time } from '../../db/table.ts'
import { domainOf, parseMailbox } from '../../mime/address.ts'
import type { OutboundDeps } from '../model/deps.ts'

/** Which messages of programs wait for a person; each includes the ones before. */
export const SEND_APPROVALS = ['none', 'first_contact', 'after_reading_strangers', 'always'] as const
export type SendApproval = (typeof SEND_APPROVALS)[number]

export const SEND_POLICIES = table('send_policies', {
  mailbox_id: text(),
  team_id: text(),
  approval: text<SendApproval>(),
  /** Addresses, or `@domain`: if any is set, programs write to no other address. */
  allow_to: json<readonly string[]>(),
  block_to: json<readonly string[]>(),
  /** Programs write only to authenticated authors of the thread they answer. */
  replies_only: flag(),
  /** Recipients per hour and per day; null: only the limits of the appliance. */
  hourly_recipients: integer().orNull(),
  daily_recipients: integer().orNull(),
  updated_at: time(),
})
export type SendPolicy = RecordOf<typeof SEND_POLICIES>

/** What a person sets. */
export type SendPolicyInput = Omit<SendPolicy, 'mailboxId' | 'teamId' | 'updatedAt'>

/** Entries of a list. */
export const LISTED_MAX = 1000
const KNOWN_MAX = 1000

export class SendPolicies {
  readonly #deps: Pick<OutboundDeps, 'db' | 'clock'>
  /** Read with each request of a program. */
  readonly #known: RowCache<string, SendPolicy>
  /** Whether there is any policy: without one, a request of a program costs no statement. */
  readonly #any: RowCache<'any', boolean>

  constructor(deps: Pick<OutboundDeps, 'db' | 'clock'>) {
    this.#deps = deps
    this.#known = new RowCache(deps.db, KNOWN_MAX)
    this.#any = new RowCache(deps.db, 1)
  }

  /** The policy of a mailbox; undefined where programs send freely. */
  of(mailboxId: string): SendPolicy | undefined {
    const reader = this.#deps.db.readWarm
    const isAny = this.#any.get('any', () => SEND_POLICIES.get(reader, 'LIMIT 1') !== undefined)
    return isAny ? this.#known.get(mailboxId, () => this.ofIn(reader, mailboxId)) : undefined
  }

  ofIn(reader: Reader, mailboxId: string): SendPolicy | undefined {
    return SEND_POLICIES.get(reader, 'WHERE mailbox_id = ?', [mailboxId])
  }

  /** Whether the mailbox's programs may not write freely to everybody: then they make no credentials, scripts, forwards or identities. */
  isUnder(mailboxId: string): boolean {
    const policy = this.of(mailboxId)
    if (policy === undefined) return false
    return policy.approval !== 'none' || policy.repliesOnly || policy.allowTo.length + policy.blockTo.length > 0
  }

  /** Replaces the policy of a mailbox. @throws ProductError validation_error for an entry that is no address or `@domain` */
  put(tx: Tx, { id, teamId }: { id: string; teamId: string }, input: SendPolicyInput): SendPolicy {
    const allowTo = entriesOf('allow_to', input.allowTo)
    const blockTo = entriesOf('block_to', input.blockTo)
    const policy = { ...input, allowTo, blockTo, mailboxId: id, teamId, updatedAt: this.#deps.clock.now() }
    tx.run('DELETE FROM send_policies WHERE mailbox_id = ?', [id])
    SEND_POLICIES.insert(tx, policy)
    return policy
  }

  /** Erases the policy of a deleted mailbox. */
  eraseOf(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM send_policies WHERE mailbox_id = ?', [mailboxId])
  }
}

/** Whether a list names an address, or its domain. @param address in any case */
export function isListed(entries: readonly string[], address: string): boolean {
  const folded = address.toLowerCase()
  return entries.includes(folded) || entries.includes(`@${domainOf(folded)}`)
}

function entriesOf(field: string, entries: readonly string[]): string[] {
  const checked = entries.map((written, index) => {
    const entry = written.trim().toLowerCase()
    const address = entry.startsWith('@') ? `x${entry}` : entry
    if (parseMailbox(address) !== null) return entry
    throw invalid(`${field}.${index}`, 'invalid_format', 'Write an address, or @domain.')
  })
  return [...new Set(checked)]
}
