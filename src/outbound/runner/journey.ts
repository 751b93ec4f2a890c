// One mail on its way: admitted, routed, signed, handed over, and what was said of each recipient written down.

import { bounceAddress } from '../bounce-address.ts'
import type { DeliveryState } from '../log/emails.ts'
import type { Waiting } from '../queue.ts'
import type { Carrier, DelayCause, Email, Outcome, Provider, Reply } from '../records.ts'
import type { Handed, Transport } from '../transports/transport.ts'
import { admit } from './admission.ts'
import { Content, hiddenOf } from './content.ts'
import { outcomeOf, ownReply, putOff, type Standing } from './outcomes.ts'
import type { Decision, RunnerParts } from './parts.ts'
import type { Places, Spot } from './places.ts'

/** A window that opens this soon is waited for without a word in the log, in ms. */
const SHORT_WAIT_MS = 60_000
const LOCAL: Carrier = { id: null, name: 'Local delivery' }
const DIRECT: Carrier = { id: null, name: 'Direct delivery' }

/** One delivery in hand. */
interface Item {
  waiting: Waiting
  delivery: DeliveryState
}

/** How a mail came back: it is done with, or waits as before because its time was not come. */
export type Ended = { kind: 'done' } | { kind: 'held'; until: number } | { kind: 'crowded'; domain: string }

/** What a hand-over that failed before anything was accepted leaves behind. */
interface Failure {
  reply: Reply
  cause: DelayCause
  retryAfterMs: number | null
}

/** What a journey needs of the runner that sends it off. */
export interface Guide {
  parts: RunnerParts
  places: Places
  /** Name of the hand that holds the leases. */
  token: string
  /** Aborted when patience with what is under way has run out. */
  signal: AbortSignal
}

/** How long mail of a suspended sender is left alone, in ms. */
const HOLD_MS = 30_000

export class Journey {
  readonly #guide: Guide
  readonly #parts: RunnerParts
  readonly #email: Email
  readonly #content: Content
  /** Deliveries whose try has been counted. */
  readonly #counted = new Set<number>()

  constructor(guide: Guide, email: Email) {
    this.#guide = guide
    this.#parts = guide.parts
    this.#email = email
    this.#content = new Content(guide.parts, guide.places, email)
  }

  /** Takes what is due of the mail as far as it gets. Nothing of it is in this hand afterwards. */
  async run(waiting: readonly Waiting[]): Promise<Ended> {
    const { clock, emails } = this.#parts
    const states = new Map((await emails.deliveriesOf(this.#email.n)).map((delivery) => [delivery.n, delivery]))
    const items = waiting.flatMap((one) => {
      const delivery = states.get(one.delivery)
      return delivery ? [{ waiting: one, delivery }] : []
    })
    const admission = await admit(this.#parts, this.#email)
    if (admission.kind === 'hold') {
      await this.#giveBack(items, clock.now())
      return { kind: 'held', until: clock.now() + HOLD_MS }
    }
    if (admission.kind === 'cancelled') return this.#settleAll(items, { kind: 'cancelled' }, null)
    if (admission.kind === 'expired') {
      const text = items[0]?.delivery.lastReply ?? 'It could not be handed over for two days.'
      return this.#settleAll(items, { kind: 'expired', reply: ownReply(text) }, null)
    }
    const [near, far] = await this.#split(items, admission.isProven)
    if (near.length > 0) await this.#handTo(near, this.#parts.transports.local(), LOCAL, 'The mailbox is here.')
    return far.length === 0 ? { kind: 'done' } : this.#send(far)
  }

  /** Only a sender who has proven the domain is believed to be who he says; others go out and come in by the door. */
  async #split(items: readonly Item[], isProven: boolean): Promise<[near: Item[], far: Item[]]> {
    if (!isProven) return [[], [...items]]
    const { domains } = this.#parts.directory
    const names = new Set(items.map(({ waiting }) => waiting.lane))
    const here = new Set<string>()
    for (const name of names) if ((await domains.byName(name)) !== undefined) here.add(name)
    const { near = [], far = [] } = Object.groupBy(items, ({ waiting }) => (here.has(waiting.lane) ? 'near' : 'far'))
    return [near, far]
  }

  /** Tries one account after another until one has looked at the mail. */
  async #send(items: readonly Item[]): Promise<Ended> {
    const { router, providers, transports } = this.#parts
    const failed = new Set<string>()
    let failure: Failure | undefined
    for (;;) {
      const decision = await router.decide(this.#email, items.length, failed)
      if (decision.kind === 'reject') {
        return this.#settleAll(items, { kind: 'rejected', reason: decision.reason, detail: decision.detail }, null)
      }
      if (decision.kind === 'wait') {
        if (failure !== undefined) return this.#defer(items, failure)
        return this.#wait(items, decision)
      }
      if (decision.kind === 'direct') return this.#sendDirect(items, decision.reason)
      const { provider, reason } = decision
      const transport = await transports.of(provider)
      const handed = await this.#handTo(items, transport, provider, reason, provider)
      if (handed.kind !== 'unavailable') return { kind: 'done' }
      await providers.noteFailure(provider, handed.stage, handed.reply.text)
      failed.add(provider.id)
      failure = handed
    }
  }

  /** Servers of different domains are nothing to one another. */
  async #sendDirect(items: readonly Item[], reason: string): Promise<Ended> {
    const { places } = this.#guide
    const transport = this.#parts.transports.direct()
    const lanes = [...Map.groupBy(items, ({ waiting }) => waiting.lane)]
    const crowded = lanes.filter(([name]) => places.isCrowded({ kind: 'domain', name, team: this.#email.teamId }))
    for (const [, own] of crowded) await this.#giveBack(own)
    const open = lanes.filter((lane) => !crowded.includes(lane))
    await Promise.all(
      open.map(async ([, own]) => {
        const handed = await this.#handTo(own, transport, DIRECT, reason)
        if (handed.kind === 'unavailable') await this.#defer(own, handed)
      }),
    )
    return crowded.length === 0 ? { kind: 'done' } : { kind: 'crowded', domain: crowded[0]![0] }
  }

  /** Hands over, and writes down what was said; what was not looked at is left to the caller. */
  async #handTo(
    items: readonly Item[],
    transport: Transport,
    carrier: Carrier,
    reason: string,
    provider?: Provider,
  ): Promise<Handed> {
    const { places } = this.#guide
    const leave = await places.take(this.#spotOf(carrier, items))
    try {
      const [kept, handed] = await this.#content.lend(async (bytes) => {
        const marked = await this.#mark(items, carrier, reason)
        if (marked.length === 0) return [marked, NOBODY]
        return [marked, await transport.hand(this.#handover(marked, bytes, carrier, provider))]
      })
      if (kept.length === 0 || handed.kind === 'unavailable') return handed
      await this.#writeDown(kept, handed, carrier)
      if (provider !== undefined) await this.#noteWell(provider)
      return handed
    } finally {
      leave()
    }
  }

  #spotOf(carrier: Carrier, items: readonly Item[]): Spot {
    const team = this.#email.teamId
    if (carrier === LOCAL) return { kind: 'local', name: '', team }
    if (carrier === DIRECT) return { kind: 'domain', name: items[0]!.waiting.lane, team }
    return { kind: 'provider', name: carrier.id!, team }
  }

  /** Before anything leaves it is written down that it is about to: after a crash nobody could say. */
  async #mark(items: readonly Item[], carrier: Carrier, reason: string): Promise<Item[]> {
    const { db, queue, emails } = this.#parts
    const byN = new Map(items.map((item) => [item.delivery.n, item]))
    const held = await db.write(async (tx) => {
      const ns = await queue.markHanded(tx, this.#guide.token, [...byN.keys()])
      const fresh = ns.filter((n) => !this.#counted.has(n))
      await emails.noteAttempt(tx, fresh, null)
      await emails.noteRoute(tx, ns, carrier, reason)
      return ns
    })
    return held.map((n) => {
      const item = byN.get(n)!
      if (!this.#counted.has(n)) item.delivery = { ...item.delivery, attempts: item.delivery.attempts + 1 }
      this.#counted.add(n)
      return item
    })
  }

  #handover(items: readonly Item[], bytes: Uint8Array, carrier: Carrier, provider: Provider | undefined) {
    const { vault, config } = this.#parts
    const { id, n, from, returnPath, internetMessageId } = this.#email
    const recipients = items.map(({ delivery }) => delivery.to)
    const own = carrier === LOCAL ? from.email : bounceAddress(vault, config, n)
    return {
      emailId: id,
      from: from.email,
      mailFrom: returnPath ?? own,
      recipients,
      hidden: provider !== undefined && provider.type !== 'smtp' ? hiddenOf(bytes, recipients) : [],
      bytes,
      internetMessageId,
      uncertain: items.some(({ waiting }) => waiting.uncertain),
      signal: this.#guide.signal,
    }
  }

  async #writeDown(items: readonly Item[], handed: Extract<Handed, { kind: 'answered' }>, carrier: Carrier) {
    const { db, fate, emails, clock } = this.#parts
    const now = clock.now()
    const outcomes = items.map(({ delivery }, index) => outcomeOf(handed, index, this.#standing(delivery, now)))
    await db.write(async (tx) => {
      await emails.rememberIds(tx, this.#email.n, handed.remoteIds)
      for (const [index, { delivery }] of items.entries()) await fate.apply(tx, delivery.n, outcomes[index]!, carrier)
    })
  }

  async #noteWell(provider: Provider): Promise<void> {
    await this.#parts.providers.noteSuccess(provider)
    await this.#parts.providers.noteUsed(provider)
  }

  /** A quota that opens soon is waited for in silence; another wait is told. */
  async #wait(items: readonly Item[], { until, cause, reason }: Extract<Decision, { kind: 'wait' }>): Promise<Ended> {
    const now = this.#parts.clock.now()
    if (until - now <= SHORT_WAIT_MS) {
      await this.#giveBack(items, until)
      return { kind: 'held', until }
    }
    const nextAt = Math.min(until, this.#email.expiresAt)
    return this.#settleAll(items, { kind: 'deferred', reply: ownReply(reason), cause, nextAt }, null)
  }

  async #defer(items: readonly Item[], { reply, cause, retryAfterMs }: Failure): Promise<Ended> {
    const now = this.#parts.clock.now()
    const outcomes = items.map(({ delivery }) =>
      putOff(reply, cause, this.#standing(delivery, now), now + (retryAfterMs ?? 0)),
    )
    await this.#settle(items, outcomes, null)
    return { kind: 'done' }
  }

  #standing(delivery: DeliveryState, now: number): Standing {
    return { attempts: delivery.attempts, now, expiresAt: this.#email.expiresAt }
  }

  async #settleAll(items: readonly Item[], outcome: Outcome, carrier: Carrier | null): Promise<Ended> {
    await this.#settle(items, Array<Outcome>(items.length).fill(outcome), carrier)
    return { kind: 'done' }
  }

  #settle(items: readonly Item[], outcomes: readonly Outcome[], carrier: Carrier | null): Promise<void> {
    return this.#parts.db.write(async (tx) => {
      for (const [index, { delivery }] of items.entries()) {
        await this.#parts.fate.apply(tx, delivery.n, outcomes[index]!, carrier)
      }
    })
  }

  #giveBack(items: readonly Item[], dueAt?: number): Promise<void> {
    const waiting = items.map((item) => (dueAt === undefined ? item.waiting : { ...item.waiting, dueAt }))
    return this.#parts.queue.giveBack(this.#guide.token, waiting)
  }
}

/** Nothing was left to hand over: all of it was given up meanwhile. */
const NOBODY: Handed = { kind: 'answered', verdicts: [], confirmation: 'relay', remoteIds: [], peer: '' }
