// Stores messages that mailboxes receive, and forwards them: to the addresses of a script (RFC 5228 §4.2) and of a forwarding setting.

import { DAY_MS } from '../../base/durations.ts'
import { newId } from '../../base/ids.ts'
import type { Reader, Tx } from '../../db/db.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { domainOf, parseMailbox } from '../../mime/address.ts'
import { SUBJECT_MAX } from '../../mime/compose/draft-rules.ts'
import { clean } from '../../mime/one-line.ts'
import { decidedOutcome, type SieveOutcome } from '../../sieve/outcome.ts'
import { levelAnswer, spamLevel } from '../../sieve/spam-level.ts'
import type { DeliveryResult, DeliveryTarget, IncomingMessage, RecordResults } from '../../store/mailbox/delivery.ts'
import type { ForwardingRecord } from '../../store/mailbox/forwarded.ts'
import type { Account } from '../../store/rows/records.ts'
import type { InspectedContent } from '../../workers/inspection.ts'
import type { Meter } from '../billing/meter.ts'
import type { SendRules } from '../held/rules.ts'
import type { Emails, NewEmail } from '../log/emails.ts'
import type { OutboundDeps, SendLimit } from '../model/deps.ts'
import { isBounceDomain } from '../model/envelope-sender.ts'
import { forwardMark } from '../model/forward-mark.ts'
import { LIFETIME_MS } from '../model/limits.ts'
import type { Queue } from '../queue/queue.ts'
import type { Suppressions } from '../queue/suppressions.ts'
import type { Router } from '../routing/router.ts'

interface Deps extends OutboundDeps {
  allowance: SendLimit
  emails: Pick<Emails, 'insert'>
  queue: Pick<Queue, 'add'>
  suppressions: Pick<Suppressions, 'of'>
  meter: Pick<Meter, 'refusal' | 'hold'>
  router: Pick<Router, 'canForward'>
  rules: Pick<SendRules, 'refusedOfScript'>
}

interface RefusedAddress {
  to: string
  /** One sentence. */
  reason: string
}

/** A target with the outcome of its script that holds, the content that is stored, and whom it is forwarded to. */
interface PlannedTarget extends DeliveryTarget {
  /** Addresses that get the message. */
  to: readonly string[]
  /** Ids that the script has asked for and that were not seen. */
  unseen: readonly string[]
  /** Addresses that got the very same bytes before: the client has sent them again. */
  done: readonly string[]
  refused: readonly RefusedAddress[]
}

/** Recipients of forwarded messages, per mailbox within 24 hours. */
export const FORWARDS_PER_DAY = 1000
/** Received fields from which on a message counts as looping here; RFC 5321 §6.3 has 100 for rejecting one. */
export const HOPS_MAX = 50

/** A delivery whose message can no longer be forwarded: it is repeated with a copy in the mailbox. */
interface KeptInstead {
  kept: { target: PlannedTarget; refused: readonly RefusedAddress[] }
}

/** The outcome of a delivery as planned, or why another plan is needed; then nothing is stored. */
type Attempt<R> = { outcome: R } | KeptInstead | 'seen'

export class ReceivedDelivery {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Looks up the forwarding of each mailbox and alias. Stores one copy per target, as `Store.deliver` does, and queues what is forwarded in the same unit of work. An address that is
   * refused gets nothing; a message that no folder keeps is then kept in the default folder. `forwarding` of the results says which.
   * @param recordCopies see `Store.deliver`
   */
  async deliver<R>(
    message: IncomingMessage,
    received: readonly DeliveryTarget[],
    recordCopies: RecordResults<R>,
  ): Promise<R> {
    const { db, directory, store } = this.#deps
    const record = this.#notingPatterns(received, recordCopies)
    const targets = received.map((target) => {
      const forward = directory.forwards.settingFor(target.mailboxId, target.reached)
      return forward === undefined || isDiscarded(target.scriptOutcome) ? target : { ...target, forward }
    })
    if (targets.every(isPlain)) return store.delivery.deliver(message, targets, record)
    const refused = targets.map((): RefusedAddress[] => [])
    for (;;) {
      const planned = targets.map((target, index) => this.#plan(db.read, message, target, refused[index]!))
      const attempt = await this.#deliver(message, planned, record)
      // Each repetition knows one message more, or refuses one address more.
      if (attempt === 'seen') continue
      if ('outcome' in attempt) return attempt.outcome
      refused[planned.indexOf(attempt.kept.target)]!.push(...attempt.kept.refused)
    }
  }

  /** Adds to the unit of work: addresses that a pattern matched are remembered. */
  #notingPatterns<R>(targets: readonly DeliveryTarget[], record: RecordResults<R>): RecordResults<R> {
    const { patternAddresses } = this.#deps.directory
    if (targets.every(({ patternOf }) => patternOf === null)) return record
    return (tx, delivered) => {
      for (const { patternOf, reached } of targets)
        if (patternOf !== null) patternAddresses.noteIn(tx, patternOf, reached)
      return record(tx, delivered)
    }
  }

  async #deliver<R>(
    message: IncomingMessage,
    targets: readonly PlannedTarget[],
    record: RecordResults<R>,
  ): Promise<Attempt<R>> {
    const { store } = this.#deps
    // The store writes no content for a message without a copy.
    for (const target of targets) {
      const { hash, sizeBytes, chunks } = contentOf(message, target)
      if (target.to.length > 0) await store.blobs.put(hash, sizeBytes, chunks)
    }
    return store.delivery.deliver(message, targets, (tx, delivered): Attempt<R> => {
      // Of two messages with an id only one is new, also when they are stored together.
      const isSeen = (target: PlannedTarget) => target.unseen.some((id) => this.#wasSeen(tx, target, id))
      if (targets.some(isSeen)) return tx.undo('seen')
      const results: DeliveryResult[] = []
      for (const [index, target] of targets.entries()) {
        this.#rememberIds(tx, delivered[index]!, target)
        const result = this.#forward(tx, message, delivered[index]!, target)
        if ('kept' in result) return tx.undo(result)
        const { vacation, notifications } = target.scriptOutcome ?? {}
        results.push({ ...result, ...(vacation ? { vacation } : {}), ...(notifications ? { notifications } : {}) })
      }
      return { outcome: record(tx, results) }
    })
  }

  #plan(
    reader: Reader,
    message: IncomingMessage,
    asked: DeliveryTarget,
    earlier: readonly RefusedAddress[],
  ): PlannedTarget {
    const target = this.#decided(reader, message, asked)
    const addresses = addressesOf(target)
    const filed = withoutCopy(target)
    const unseen = (target.scriptOutcome?.ids ?? [])
      .map(({ id }) => id)
      .filter((id) => !this.#wasSeen(reader, target, id))
    if (addresses.length === 0) return { ...filed, to: [], unseen, done: [], refused: [] }
    const refused: RefusedAddress[] = [...earlier]
    const [to, done]: [string[], string[]] = [[], []]
    for (const address of addresses) {
      if (earlier.some(({ to: refusedTo }) => refusedTo === address)) continue
      const state = this.#stateOf(reader, message, target, address)
      if (state === 'new') to.push(address)
      else if (state === 'done') done.push(address)
      else refused.push({ to: address, reason: state.reason })
    }
    return { ...(refused.length > 0 ? withCopy(filed) : filed), to, unseen, done, refused }
  }

  /** The target with the outcome of its script that holds, and with the message as the script has changed it. */
  #decided(reader: Reader, { inspection }: IncomingMessage, target: DeliveryTarget): DeliveryTarget {
    const { scriptOutcome } = target
    if (!scriptOutcome) return target
    const level = spamLevel(target.spam, this.#deps.config.SPAM_JUNK_SCORE)
    const answer = (id: string) => levelAnswer(id, level) ?? this.#wasSeen(reader, target, id)
    const outcome = decidedOutcome(scriptOutcome, answer)
    const content = outcome.edited === undefined ? undefined : inspection.edited?.[outcome.edited]
    const { forward, ...rest } = target
    const isForwarded = forward !== undefined && !isDiscarded(outcome)
    return { ...rest, scriptOutcome: outcome, ...(isForwarded ? { forward } : {}), ...(content ? { content } : {}) }
  }

  #wasSeen(reader: Reader, { mailboxId }: DeliveryTarget, id: string): boolean {
    const { store, clock } = this.#deps
    return store.delivery.scriptIds.has(reader, this.#accountOf(reader, mailboxId), id, clock.now())
  }

  /** RFC 7352 §3: in the unit of work that stores the message. */
  #rememberIds(tx: Tx, { outcome }: DeliveryResult, target: DeliveryTarget): void {
    const { ids = [] } = target.scriptOutcome ?? {}
    if (ids.length === 0 || outcome === 'duplicate' || outcome === 'full') return
    const { store, clock } = this.#deps
    store.delivery.scriptIds.record(tx, this.#accountOf(tx, target.mailboxId), ids, clock.now())
  }

  #forward(
    tx: Tx,
    message: IncomingMessage,
    result: DeliveryResult,
    target: PlannedTarget,
  ): DeliveryResult | KeptInstead {
    const { done } = target
    if (addressesOf(target).length === 0 && target.to.length + target.refused.length + done.length === 0) return result
    // A duplicate was forwarded the first time, and a message that exceeds the quota will come again.
    if (result.outcome === 'duplicate' || result.outcome === 'full') return result
    const { to, refused } = this.#admit(tx, message, target)
    if (refused.length > 0 && result.outcome === 'discarded') return { kept: { target, refused } }
    const emailId = to.length === 0 ? null : this.#queue(tx, message, target, to)
    const forwarding: ForwardingRecord = { emailId, to: [...to, ...done], refused: [...target.refused, ...refused] }
    return { ...result, forwarding }
  }

  /** Checks the addresses of a target in the unit of work: another message may have used up a limit. Takes what the limits give. */
  #admit(tx: Tx, message: IncomingMessage, target: PlannedTarget): Pick<PlannedTarget, 'to' | 'refused'> {
    const refused: RefusedAddress[] = []
    const open = target.to.filter((address) => {
      const state = this.#stateOf(tx, message, target, address)
      if (state !== 'new' && state !== 'done') refused.push({ to: address, reason: state.reason })
      return state === 'new'
    })
    const reason = open.length === 0 ? null : this.#limit(tx, target, open.length)
    if (reason === null) return { to: open, refused }
    return { to: [], refused: [...refused, ...open.map((address) => ({ to: address, reason }))] }
  }

  #limit(tx: Tx, { mailboxId }: DeliveryTarget, recipients: number): string | null {
    const { allowance, clock, meter, store } = this.#deps
    const account = this.#accountOf(tx, mailboxId)
    if (store.delivery.forwarded.countSince(tx, account, clock.now() - DAY_MS) + recipients > FORWARDS_PER_DAY) {
      return `The mailbox has forwarded to ${FORWARDS_PER_DAY} recipients within a day.`
    }
    const mailbox = this.#deps.directory.mailboxes.byId(mailboxId, tx)!
    const refusal = meter.refusal(tx, mailbox.teamId, recipients) ?? allowance.take(tx, mailboxId, recipients)
    return refusal?.message ?? null
  }

  /** Reads only, by key: outside the unit of work, and again in it. */
  #stateOf(
    reader: Reader,
    message: IncomingMessage,
    target: DeliveryTarget,
    address: string,
  ): 'new' | 'done' | { reason: string } {
    const { directory, store, suppressions } = this.#deps
    const mailbox = directory.mailboxes.byId(target.mailboxId, reader)
    if (mailbox === undefined) return { reason: 'The mailbox is deleted.' }
    const isByScript =
      target.scriptOutcome?.redirects?.some((one) => one.toLowerCase() === address.toLowerCase()) === true
    const refused = isByScript ? this.#deps.rules.refusedOfScript(reader, mailbox, address) : null
    const reason = this.#unfit(message, target) ?? this.#unreachable(mailbox, address) ?? refused
    if (reason !== null) return { reason }
    const account = this.#accountOf(reader, mailbox.id)
    const content = message.inspection.arrivedHash
    const earlier = store.delivery.forwarded.earlier(reader, account, {
      messageId: identityOf(message),
      address,
      content,
    })
    if (earlier === 'same_content') return 'done'
    if (earlier === 'other_content') return { reason: 'This message was forwarded there before (mail loop).' }
    if (suppressions.of(reader, mailbox.teamId, [address]).size === 0) return 'new'
    return { reason: 'The address is on the suppression list of the team.' }
  }

  /** Why this message is not forwarded at all; null when it may be. */
  #unfit({ inspection, mailFrom, emailId, isToReportAddress }: IncomingMessage, target: DeliveryTarget): string | null {
    const { dmarc } = target.authentication
    if (target.junk) return 'The message is classified as spam.'
    if (dmarc !== 'pass' && dmarc !== 'none') return `The DMARC result of the message is ${dmarc}.`
    // A report about a forwarded message, or an automatic answer to it, must reach the mailbox.
    if (isToReportAddress === true) return 'The message was sent to the bounce address of another one.'
    if (mailFrom === '' && emailId !== undefined) return 'The message is a report of this server.'
    const mark = forwardMark(this.#deps.vault, target.mailboxId)
    if (inspection.forwardMarks.includes(mark)) return 'The message was forwarded from this mailbox before (mail loop).'
    const hops = inspection.traits.receivedCount
    return hops > HOPS_MAX ? `The message has passed ${hops} hosts (mail loop).` : null
  }

  /** Why nothing is forwarded from the mailbox to that address; null when it may be. */
  #unreachable(mailbox: Mailbox, address: string): string | null {
    const { config, directory, router } = this.#deps
    const parsed = parseMailbox(address)
    if (parsed === null || isBounceDomain(config, parsed.domain)) return 'This is no address to forward to.'
    const receiver = directory.mailboxes.receiver(parsed.local, parsed.domain)
    if ('mailbox' in receiver && receiver.mailbox?.id === mailbox.id) return 'The address is one of this mailbox.'
    const isLocal = receiver.reason !== 'unknown_domain'
    const from = { email: mailbox.email, name: '' }
    const sender = { teamId: mailbox.teamId, mailboxId: mailbox.id, scope: mailbox.sendScope, from }
    return router.canForward(sender, isLocal) ? null : 'No sending account of the mailbox forwards messages.'
  }

  /** Queues the message in the unit of work. @returns `eml_…` */
  #queue(tx: Tx, message: IncomingMessage, target: DeliveryTarget, to: readonly string[]): string {
    const { clock, directory, emails, meter, notifier, queue, store } = this.#deps
    const mailbox = directory.mailboxes.byId(target.mailboxId, tx)!
    const email = this.#emailOf(tx, message, target, mailbox, to)
    const accepted = emails.insert(tx, email)
    meter.hold(tx, mailbox.teamId, accepted.deliveries.length)
    queue.add(tx, accepted.email, accepted.deliveries, email.queuedAt)
    store.delivery.forwarded.record(tx, this.#accountOf(tx, mailbox.id), {
      messageId: identityOf(message),
      content: message.inspection.arrivedHash,
      addresses: to,
      at: clock.now(),
    })
    tx.afterCommit(() => notifier.notify('deliver'))
    return email.id
  }

  #emailOf(
    tx: Tx,
    message: IncomingMessage,
    target: DeliveryTarget,
    mailbox: Mailbox,
    to: readonly string[],
  ): NewEmail {
    const { clock, directory } = this.#deps
    const now = clock.now()
    const id = newId('email')
    const sender = { teamId: mailbox.teamId, mailboxId: mailbox.id }
    const content = contentOf(message, target)
    const { hash, sizeBytes } = content
    const { subject, messageId } = content.message
    const isChanged = target.content !== undefined
    return {
      id,
      ...sender,
      source: 'forward',
      scope: mailbox.sendScope,
      // The mailbox forwards: its domain, scope and accounts decide. The From field stays that of the author.
      from: { email: mailbox.email, name: mailbox.displayName ?? '' },
      // Our own address receives the bounces; RFC 5321 §4.5.5: a report keeps the null reverse-path, so that it causes none.
      returnPath: message.mailFrom === '' ? '' : null,
      subject: clean(subject, SUBJECT_MAX),
      internetMessageId: messageId ?? `${id}@${domainOf(mailbox.email)}`,
      domainId: directory.domains.statusFor(tx, sender, mailbox.email)?.id ?? null,
      hash,
      sizeBytes,
      isChanged,
      queuedAt: now,
      expiresAt: now + LIFETIME_MS,
      recipients: to,
    }
  }

  #accountOf(reader: Reader, mailboxId: string): Account {
    return this.#deps.store.accounts.byMailbox(mailboxId, reader)!
  }
}

/** The script and the settings of a target ask for nothing that the store does not do alone. */
function isPlain(target: DeliveryTarget): boolean {
  const { question, edited, ids } = target.scriptOutcome ?? {}
  return !question && edited === undefined && !ids && addressesOf(target).length === 0
}

function contentOf({ inspection }: IncomingMessage, { content }: DeliveryTarget): InspectedContent {
  return content ?? inspection
}

/** A script that keeps no copy has decided: the setting forwards what the mailbox would keep. One that asks has not decided yet. */
function isDiscarded(outcome: SieveOutcome | null | undefined): boolean {
  return outcome?.targets.length === 0 && outcome.question === undefined
}

/** Each address once, those of the script first. */
function addressesOf({ forward, scriptOutcome }: DeliveryTarget): string[] {
  const all = [...(scriptOutcome?.redirects ?? []), ...(forward?.to ?? [])]
  return [...new Map(all.map((address) => [address.toLowerCase(), address])).values()]
}

/** The target without the copy that a forwarding setting does not want. Folders that a script names keep theirs. */
function withoutCopy(target: DeliveryTarget): DeliveryTarget {
  if (target.forward === undefined || target.forward.keepsCopy || target.forward.to.length === 0) return target
  const outcome: SieveOutcome = target.scriptOutcome ?? { ...KEPT, targets: [] }
  // After an error the message is filed as if there were no script.
  if (outcome.error !== null) return target
  return { ...target, scriptOutcome: { ...outcome, targets: outcome.targets.filter(({ kind }) => kind === 'folder') } }
}

function withCopy(target: DeliveryTarget): DeliveryTarget {
  const { scriptOutcome } = target
  if (!scriptOutcome || scriptOutcome.targets.length > 0) return target
  return { ...target, scriptOutcome: { ...scriptOutcome, targets: KEPT.targets } }
}

const KEPT: SieveOutcome = { targets: [{ kind: 'default' }], keywords: [], error: null }

/** The Message-ID; a message without one is identified by its bytes. */
function identityOf({ inspection }: IncomingMessage): string {
  return inspection.message.messageId ?? Buffer.from(inspection.arrivedHash).toString('hex')
}
