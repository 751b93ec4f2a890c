// The runner: takes what is due from the queue and sees to it until its fate is written down.

import type { Timer } from '../../base/clock.ts'
import { randomName } from '../../base/ids.ts'
import type { Service } from '../../base/loop.ts'
import { laneOf, type Waiting } from '../queue.ts'
import type { Email } from '../records.ts'
import { Hand } from './hand.ts'
import { type Ended, type Guide, Journey } from './journey.ts'
import type { RunnerParts } from './parts.ts'
import { Places } from './places.ts'

/** A bell that was lost costs this long, in ms. */
const LOOK_EVERY_MS = 1000
/** While mails are on their way, those that have arrived make room for others so often: a look costs more than a mail. ms. */
const REFILL_MS = 15
/** How long what is in hand is nobody else's; renewed long before it ends. ms. */
const LEASE_MS = 600_000
const RENEW_EVERY_MS = 120_000
/** Rows of the queue looked at in one go, and mails claimed in one transaction. */
const PAGE = 500
const CLAIM_MAX = 200
/** How long hand-overs under way are waited for when the house closes, in ms. */
const PATIENCE_MS = 20_000

export class Runner implements Service {
  readonly name = 'deliver'
  readonly #parts: RunnerParts
  readonly #places = new Places()
  readonly #hand = new Hand()
  readonly #token = randomName()
  readonly #patience = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  /** Mails that are on their way. */
  readonly #sent = new Set<number>()
  #timers: Timer[] = []
  #unlisten: (() => void) | undefined
  #looking: Promise<void> | undefined
  #refilling: NodeJS.Timeout | undefined
  #lookAgain = false
  #stopped = false

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  /** Takes back what runners before it had in hand, and begins. There is one runner per data folder. */
  async start(): Promise<void> {
    const { queue, clock, wake, log } = this.#parts
    const back = await queue.takeBack(clock.now())
    if (back.deliveries > 0) log.info(back, 'deliveries of an earlier run are taken up again')
    this.#unlisten = wake.listen('deliver', () => this.#look())
    this.#timers = [
      clock.every(LOOK_EVERY_MS, () => this.#look()),
      clock.every(RENEW_EVERY_MS, () => void this.#renew()),
    ]
    this.#look()
  }

  /** Takes nothing new, lets what is in hand end, and gives the rest back. */
  async stop(): Promise<void> {
    const { queue, clock } = this.#parts
    this.#stopped = true
    this.#unlisten?.()
    for (const timer of this.#timers) timer.cancel()
    clearTimeout(this.#refilling)
    const patience = setTimeout(() => this.#patience.abort(), PATIENCE_MS)
    await this.#rest()
    clearTimeout(patience)
    await queue.letGo(this.#token, clock.now())
  }

  /** Resolves when nothing is in hand and nothing that is due could be taken. */
  async settle(): Promise<void> {
    for (;;) {
      this.#look()
      await this.#rest()
      const { queue, clock } = this.#parts
      const left = await queue.due(clock.now(), 1, this.#passedOver(), null)
      if (left.length === 0 && this.#underWay.size === 0 && this.#looking === undefined) return
    }
  }

  async #rest(): Promise<void> {
    while (this.#looking !== undefined || this.#underWay.size > 0) {
      await this.#looking
      await Promise.all(this.#underWay)
    }
  }

  #look(): void {
    clearTimeout(this.#refilling)
    this.#refilling = undefined
    if (this.#stopped) return
    this.#lookAgain = true
    this.#looking ??= this.#lookUntilQuiet()
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'the queue could not be looked at'))
      .finally(() => {
        this.#looking = undefined
      })
  }

  async #lookUntilQuiet(): Promise<void> {
    while (this.#lookAgain && !this.#stopped) {
      this.#lookAgain = false
      await this.#takeDue()
      await this.#parts.notices.run()
    }
  }

  /** Takes as much as there is room for, and sends it off. */
  async #takeDue(): Promise<void> {
    const { queue, clock } = this.#parts
    let after: Waiting | null = null
    while (!this.#stopped) {
      const now = clock.now()
      const page: Waiting[] = await queue.due(now, PAGE, this.#passedOver(), after)
      const taken = [...new Set(page.filter((waiting) => this.#hand.take(waiting)).map(({ email }) => email))]
      for (let at = 0; at < taken.length; at += CLAIM_MAX) await this.#claim(taken.slice(at, at + CLAIM_MAX), now)
      // What could not be taken now is passed over next time, or there is room for nobody.
      if (page.length < PAGE || taken.length === 0) return
      after = page.at(-1)!
    }
  }

  async #claim(ns: readonly number[], now: number): Promise<void> {
    const { queue, emails } = this.#parts
    try {
      const claimed = await queue.claim({ token: this.#token, until: now + LEASE_MS }, ns, now)
      const known = new Map((await emails.byN(ns)).map((email) => [email.n, email]))
      for (const [n, waiting] of Map.groupBy(claimed, ({ email }) => email)) {
        const email = known.get(n)
        if (email !== undefined) this.#sendOff(email, waiting)
      }
    } finally {
      // Somebody may have dropped it meanwhile.
      for (const n of ns) if (!this.#sent.has(n)) this.#hand.letGo(n)
    }
  }

  #sendOff(email: Email, waiting: readonly Waiting[]): void {
    this.#sent.add(email.n)
    const work = this.#see(email, waiting).finally(() => {
      this.#sent.delete(email.n)
      this.#hand.letGo(email.n)
      this.#underWay.delete(work)
      this.#refill()
    })
    this.#underWay.add(work)
  }

  #refill(): void {
    if (this.#underWay.size === 0) this.#look()
    else this.#refilling ??= setTimeout(() => this.#look(), REFILL_MS)
  }

  async #see(email: Email, waiting: readonly Waiting[]): Promise<void> {
    const guide: Guide = { parts: this.#parts, places: this.#places, token: this.#token, signal: this.#patience.signal }
    try {
      this.#note(await new Journey(guide, email).run(waiting), waiting)
    } catch (error) {
      // Nobody knows what went wrong: it is tried again when its lease ends, and not at once for ever.
      this.#parts.log.error({ err: error, email: email.id }, 'a mail could not be seen to')
    }
  }

  #note(ended: Ended, waiting: readonly Waiting[]): void {
    const [first] = waiting
    if (ended.kind === 'held') this.#hand.rest(first!.origin, ended.until)
    if (ended.kind === 'crowded') {
      for (const one of waiting) if (one.lane === ended.domain) this.#hand.passBy(laneOf(one), ended.domain)
    }
  }

  #passedOver() {
    const isCrowded = (name: string) => this.#places.isCrowded({ kind: 'domain', name, team: '' })
    return this.#hand.passedOver(this.#parts.clock.now(), isCrowded)
  }

  async #renew(): Promise<void> {
    if (this.#underWay.size === 0) return
    const until = this.#parts.clock.now() + LEASE_MS
    await this.#parts.queue
      .renew({ token: this.#token, until })
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'leases could not be renewed'))
  }
}
