// The worker that tells: spreads events over subscriptions and sends each at its time, a slow receiver delaying nobody else.

import type { Clock, Timer } from '../../base/clock.ts'
import { randomName } from '../../base/ids.ts'
import type { Service } from '../../base/lifecycle.ts'
import type { Log } from '../../base/log.ts'
import type { Wake } from '../../base/notifier.ts'
import type { Courier } from './courier.ts'
import type { Waiting } from './pending.ts'
import type { Waiting as WaitingEvent } from './records.ts'
import type { Webhooks } from './subscriptions.ts'

/** Requests under way to one subscription (decisions §9.3). */
const PER_WEBHOOK = 4
/** Requests under way in all. */
const IN_ALL = 400
/** Events taken ahead for one subscription: a fast one need not wait for the next look, and a silent one is through with them
 * before its leases end. */
const AHEAD = 16
/** When so few of them are left, the next ones are taken: a request need not wait for that. */
const FEW = 4
/** Subscriptions for which events are taken at the same time. */
const LANES_AT_ONCE = 64
/** A bell that was lost costs this long, in ms. */
const LOOK_EVERY_MS = 1000

/** One subscription with something to do. */
interface Lane {
  n: number
  inFlight: number
  taken: WaitingEvent[]
  taking: boolean
}

interface Parts {
  clock: Clock
  log: Log
  wake: Wake
  webhooks: Webhooks
  waiting: Waiting
  courier: Courier
}

export class Dispatcher implements Service {
  readonly name = 'webhooks'
  readonly #parts: Parts
  readonly #lanes = new Map<number, Lane>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #lease = randomName()
  #inFlight = 0
  #looking: Promise<void> | undefined
  #lookAgain = false
  #stopped = false
  #timer: Timer | undefined
  #unlisten: (() => void) | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    const { waiting, wake, clock } = this.#parts
    // Whoever held these died with the process.
    await waiting.giveBack()
    this.#unlisten = wake.listen('webhooks', () => this.#look())
    this.#timer = clock.every(LOOK_EVERY_MS, () => this.#look())
    this.#look()
  }

  /** What is under way ends; what was taken and not begun is given back. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    this.#unlisten?.()
    for (const lane of this.#lanes.values()) lane.taken = []
    await this.#rest()
    await this.#parts.waiting.giveBack(this.#lease)
  }

  /** Resolves when nothing is due and nothing is under way. */
  async settle(): Promise<void> {
    for (;;) {
      this.#look()
      await this.#rest()
      const { waiting } = this.#parts
      if ((await waiting.untold()) === 0 && (await waiting.due()).length === 0 && this.#underWay.size === 0) return
    }
  }

  async #rest(): Promise<void> {
    while (this.#looking !== undefined || this.#underWay.size > 0) {
      await this.#looking
      await Promise.all(this.#underWay)
    }
  }

  #look(): void {
    this.#lookAgain = true
    this.#looking ??= this.#lookUntilQuiet()
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'events could not be looked at'))
      .finally(() => {
        this.#looking = undefined
      })
  }

  async #lookUntilQuiet(): Promise<void> {
    while (this.#lookAgain && !this.#stopped) {
      this.#lookAgain = false
      const { more } = await this.#parts.waiting.spread()
      if (more) this.#lookAgain = true
      const due = await this.#parts.waiting.due()
      // What is taken at the same time is written in one transaction.
      for (let at = 0; at < due.length; at += LANES_AT_ONCE) {
        await Promise.all(due.slice(at, at + LANES_AT_ONCE).map((n) => this.#fill(this.#laneOf(n))))
      }
    }
  }

  #laneOf(n: number): Lane {
    const lane = this.#lanes.get(n) ?? { n, inFlight: 0, taken: [], taking: false }
    this.#lanes.set(n, lane)
    return lane
  }

  async #fill(lane: Lane): Promise<void> {
    if (lane.taken.length > FEW || lane.taking || this.#stopped) return
    lane.taking = true
    try {
      const { webhooks, waiting } = this.#parts
      const webhook = await webhooks.byN(lane.n)
      if (webhook === undefined || webhook.status !== 'enabled') {
        await waiting.dropUnwanted(lane.n)
      } else {
        const taken = await waiting.take(lane.n, AHEAD - lane.taken.length, this.#lease)
        lane.taken.push(...taken)
        this.#serve()
      }
    } finally {
      lane.taking = false
      if (lane.inFlight === 0 && lane.taken.length === 0) this.#lanes.delete(lane.n)
    }
  }

  /** Gives free places to the subscriptions in turn, so that none waits behind another one's silence. */
  #serve(): void {
    for (const lane of [...this.#lanes.values()]) {
      while (lane.inFlight < PER_WEBHOOK && lane.taken.length > 0 && this.#inFlight < IN_ALL && !this.#stopped) {
        this.#begin(lane, lane.taken.shift()!)
        // To the end of the line.
        this.#lanes.delete(lane.n)
        this.#lanes.set(lane.n, lane)
      }
    }
  }

  #begin(lane: Lane, item: WaitingEvent): void {
    lane.inFlight++
    this.#inFlight++
    const work = this.#tell(lane, item)
    this.#underWay.add(work)
    void work.finally(() => this.#underWay.delete(work))
  }

  async #tell(lane: Lane, item: WaitingEvent): Promise<void> {
    const { webhooks, courier, log } = this.#parts
    let writeDown: (() => Promise<void>) | undefined
    try {
      // Asked anew for each request: it may have been switched off, or lead elsewhere, since the event was taken.
      const to = await webhooks.addressee(lane.n)
      if (to?.webhook.status === 'enabled') writeDown = await courier.tell(to, item)
      else lane.taken = []
    } catch (error) {
      log.error({ err: error, event: item.event.id }, 'an event could not be told')
    } finally {
      lane.inFlight--
      this.#inFlight--
      this.#serve()
    }
    if (lane.taken.length <= FEW) this.#look()
    // The next request need not wait for the disk.
    await writeDown?.().catch((error: unknown) =>
      log.error({ err: error, event: item.event.id }, 'what became of an event could not be written down'),
    )
    // It may be wanted again soon, or nothing but this was in the way of the next one.
    if (lane.taken.length === 0) this.#look()
  }
}
