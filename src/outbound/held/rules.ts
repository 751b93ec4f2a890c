// The policy check of a message of a program: it is refused, held for a person, or sent (docs/design/agents.md §13).

import { HOUR_MS } from '../../base/durations.ts'
import { conflict, invalid, ProductError } from '../../base/errors.ts'
import type { Reader, Tx } from '../../db/db.ts'
import type { Account } from '../../store/rows/records.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { KnownContacts } from './contacts.ts'
import { HELD_MESSAGES, type HoldReason } from './held-rows.ts'
import { isListed, SEND_APPROVALS, type SendPolicies, type SendPolicy } from './policies.ts'
import type { StrangerReads } from './stranger-reads.ts'

/** A message of a program, before it is accepted. */
export interface ProgramMessage {
  mailboxId: string
  teamId: string
  account: Pick<Account, 'n'>
  recipients: readonly string[]
}

/** The thread that a message answers in; null when it begins one. */
type AnsweredThread = { n: number; id: string } | null

/** The result of the policy check; `detail` is one sentence. */
export type PolicyVerdict =
  | { kind: 'send' }
  | { kind: 'refuse'; error: ProductError }
  | { kind: 'hold'; reason: HoldReason; detail: string }

interface Deps extends Pick<OutboundDeps, 'clock' | 'store'> {
  policies: SendPolicies
  contacts: KnownContacts
  reads: StrangerReads
  /** Addresses (lower-case) of the persons who decide about held messages of a mailbox. */
  approvers(reader: Reader, mailbox: { id: string; teamId: string }): string[]
}

/** Messages of programs in a thread within an hour. */
export const THREAD_HOURLY_MAX = 6
/** Messages of a mailbox that wait at once. */
export const HELD_MAX = 50
const NAMED_MAX = 3
const SEND: PolicyVerdict = { kind: 'send' }

export class SendRules {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Reads in the unit of work that accepts the message. @param threadOf asked only under a policy */
  rule(tx: Tx, message: ProgramMessage, threadOf: () => AnsweredThread): PolicyVerdict {
    const policy = this.#deps.policies.ofIn(tx, message.mailboxId)
    if (policy === undefined) return SEND
    const error =
      refusedByLists(policy, message) ??
      this.#refusedByThread(tx, policy, message, threadOf()) ??
      this.#exceedsLimit(tx, policy, message)
    if (error !== null) return { kind: 'refuse', error }
    const hold = this.#hold(tx, policy, message)
    if (hold === null) return SEND
    const full = this.#isFull(tx, message.mailboxId)
    return full === null ? hold : { kind: 'refuse', error: full }
  }

  /** Why a redirect or notification of a script may not go to an address; null when it may. Nothing waits: what it tells of is in the mailbox. */
  refusedOfScript(reader: Reader, { id, teamId }: { id: string; teamId: string }, address: string): string | null {
    const { policies, contacts } = this.#deps
    const policy = policies.ofIn(reader, id)
    if (policy === undefined) return null
    const folded = address.toLowerCase()
    if (isForbidden(policy, folded)) return `The policy of the mailbox forbids ${folded}.`
    const isAllowed = isListed(policy.allowTo, folded)
    if (policy.approval === 'none' || (isAllowed && policy.approval === 'first_contact')) return null
    const isKnown = contacts.among(reader, { mailboxId: id, teamId }, [folded]).has(folded)
    return isKnown && policy.approval === 'first_contact'
      ? null
      : 'A message of a script needs the approval of a person, and cannot wait for it.'
  }

  /** Whether no automatic reply may go to an address. A person wrote its text: programs under a policy write none. */
  forbidsReply(reader: Reader, mailboxId: string, address: string): boolean {
    const policy = this.#deps.policies.ofIn(reader, mailboxId)
    return policy !== undefined && isForbidden(policy, address)
  }

  #refusedByThread(
    tx: Tx,
    { repliesOnly }: SendPolicy,
    { account, recipients }: ProgramMessage,
    thread: AnsweredThread,
  ): ProductError | null {
    const { store, clock } = this.#deps
    if (repliesOnly) {
      if (thread === null)
        return forbidden('The policy of the mailbox allows replies only. Answer a message, or ask its owner.')
      const authors = store.read.messages.authorsOfThread(thread.n, tx)
      const others = recipients.filter((address) => !authors.has(address.toLowerCase()))
      if (others.length > 0) {
        return forbidden(
          `${named(others)} is no authenticated author of this thread, and the policy allows no other recipient. Ask the owner.`,
        )
      }
    }
    if (thread === null) return null
    const sent = store.sending.submissions.countOfThread(tx, account, thread.id, clock.now() - HOUR_MS)
    if (sent < THREAD_HOURLY_MAX) return null
    const sentence = `Programs may send ${THREAD_HOURLY_MAX} messages an hour in one thread. Wait, or ask the owner.`
    return new ProductError('rate_limit_exceeded', sentence, { retryAfter: HOUR_MS / 1000 })
  }

  #exceedsLimit(
    tx: Tx,
    { hourlyRecipients, dailyRecipients }: SendPolicy,
    message: ProgramMessage,
  ): ProductError | null {
    const { hours } = this.#deps.store.sending
    const { account, recipients } = message
    const over = (used: number, most: number | null) => most !== null && used + recipients.length > most
    const word = over(hours.recipientsOfHour(account, tx), hourlyRecipients)
      ? `${hourlyRecipients} recipients an hour`
      : over(hours.lastDay(account, tx).recipients, dailyRecipients)
        ? `${dailyRecipients} recipients a day`
        : null
    if (word === null) return null
    const sentence = `The policy of the mailbox allows ${word}. Wait, or ask the owner.`
    return new ProductError('rate_limit_exceeded', sentence, { retryAfter: HOUR_MS / 1000 })
  }

  #hold(tx: Tx, policy: SendPolicy, message: ProgramMessage): (PolicyVerdict & { kind: 'hold' }) | null {
    const level = SEND_APPROVALS.indexOf(policy.approval)
    if (level >= SEND_APPROVALS.indexOf('always')) {
      return { kind: 'hold', reason: 'always', detail: 'Every message of programs waits for a person.' }
    }
    const { contacts, reads } = this.#deps
    const recipients = message.recipients.map((address) => address.toLowerCase())
    if (level >= SEND_APPROVALS.indexOf('after_reading_strangers') && !this.#isToOwners(tx, message, recipients)) {
      const [last] = reads.recent(tx, message.mailboxId, 1)
      const detail = `A program has read a message of a stranger within a day: ${last?.author}.`
      if (last !== undefined) return { kind: 'hold', reason: 'after_reading_strangers', detail }
    }
    if (level < SEND_APPROVALS.indexOf('first_contact')) return null
    const known = contacts.among(tx, message, recipients)
    const first = recipients.filter((address) => !known.has(address) && !isListed(policy.allowTo, address))
    if (first.length === 0) return null
    return { kind: 'hold', reason: 'first_contact', detail: `No person has written to ${named(first)} before.` }
  }

  #isToOwners(tx: Tx, { mailboxId, teamId }: ProgramMessage, recipients: readonly string[]): boolean {
    const owners = new Set(this.#deps.approvers(tx, { id: mailboxId, teamId }))
    return recipients.every((address) => owners.has(address))
  }

  #isFull(tx: Tx, mailboxId: string): ProductError | null {
    const sql = `SELECT count(*) AS count FROM ${HELD_MESSAGES.name} WHERE mailbox_id = ? AND state = 'held'`
    const { count } = tx.get<{ count: number }>(sql, [mailboxId])!
    if (count < HELD_MAX) return null
    return conflict(`${HELD_MAX} messages of this mailbox wait for a person already. Wait for a decision.`)
  }
}

function refusedByLists({ allowTo, blockTo }: SendPolicy, { recipients }: ProgramMessage): ProductError | null {
  const blocked = recipients.filter((address) => isListed(blockTo, address))
  if (blocked.length > 0) return forbidden(`The policy of the mailbox forbids messages to ${named(blocked)}.`)
  const others = allowTo.length === 0 ? [] : recipients.filter((address) => !isListed(allowTo, address))
  return others.length === 0
    ? null
    : forbidden(`The policy of the mailbox does not allow messages to ${named(others)}.`)
}

function isForbidden({ allowTo, blockTo }: SendPolicy, address: string): boolean {
  return isListed(blockTo, address) || (allowTo.length > 0 && !isListed(allowTo, address))
}

function forbidden(sentence: string): ProductError {
  return invalid('to', 'forbidden_value', sentence)
}

function named(addresses: readonly string[]): string {
  const more = addresses.length > NAMED_MAX ? ` and ${addresses.length - NAMED_MAX} more` : ''
  return addresses.slice(0, NAMED_MAX).join(', ') + more
}
