// Who follows a mailbox is told that it changed: one ear for the whole process, however many follow.

import type { Clock, Timer } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Log } from '../base/log.ts'
import type { Notifier } from '../base/notifier.ts'
import type { ReceivedEvents, ReceivedMessage } from '../events/received-events.ts'
import type { Accounts } from './accounts.ts'
import type { Account } from './records.ts'

/** Somebody who follows a mailbox. */
export interface ChangeSubscriber {
  /** Something changed, or may have. @param received mails that came meanwhile; of very many the first */
  moved(account: Account, received: readonly ReceivedMessage[]): void
  /** The house closes: nothing more is told. */
  closing(): void
}

/** Changes within this time are told as one (decisions §10.12): whoever follows is told at most so often, ms. */
export const COALESCE_MS = 250
/** A bell that was not heard, of a command beside the appliance, costs this long, ms. */
export const LOOK_EVERY_MS = 5_000
/** Mails told one by one at a time; of more the state alone tells. */
export const RECEIVED_MAX = 100

interface Deps {
  clock: Clock
  log: Log
  notifier: Notifier
  accounts: Pick<Accounts, 'byNumbers'>
  received: Pick<ReceivedEvents, 'newest' | 'after'>
}

/** A mailbox somebody follows. */
interface SubscribedAccount {
  /** As it was told the last time. */
  account: Account
  followers: Set<ChangeSubscriber>
  received: ReceivedMessage[]
}

export class ChangeFeed implements Service {
  readonly name = 'following'
  readonly #deps: Deps
  /** By number of the account. */
  readonly #followed = new Map<number, SubscribedAccount>()
  /** Last event that was looked at; null while nobody follows. */
  #last: number | null = null
  /** Accounts that changed, or may have, and the time until they are told. */
  readonly #moved = new Set<number>()
  #telling: Timer | undefined
  /** One telling after another. */
  #turn: Promise<void> = Promise.resolve()
  #unlisten = () => {}
  #looking: Timer | undefined
  #stopped = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async start(): Promise<void> {
    this.#unlisten = this.#deps.notifier.listen('accounts', (numbers) => {
      for (const n of numbers) this.#mark(n)
    })
  }

  /** Tells everybody that it ends, and waits for what is being told. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unlisten()
    for (const { followers } of this.#followed.values()) {
      for (const follower of followers) follower.closing()
    }
    this.#followed.clear()
    this.#rest()
    await this.#turn
  }

  /**
   * Follows a mailbox from now on. What changed since the account was read is told as well.
   * @returns what ends it
   * @throws ProductError service_unavailable when the house is closing
   */
  async follow(account: Account, follower: ChangeSubscriber): Promise<() => void> {
    if (this.#last === null) {
      const newest = await this.#deps.received.newest()
      this.#last ??= newest
    }
    if (this.#stopped) throw new ProductError('service_unavailable', 'The appliance is closing.')
    const followed = this.#followed.get(account.n) ?? { account, followers: new Set(), received: [] }
    this.#followed.set(account.n, followed)
    followed.followers.add(follower)
    this.#looking ??= this.#deps.clock.every(LOOK_EVERY_MS, () => this.#inTurn(() => this.#look()))
    this.#mark(account.n)
    return () => this.#leave(account.n, follower)
  }

  #leave(n: number, follower: ChangeSubscriber): void {
    const followed = this.#followed.get(n)
    if (followed === undefined) return
    followed.followers.delete(follower)
    if (followed.followers.size > 0) return
    this.#followed.delete(n)
    if (this.#followed.size === 0) this.#rest()
  }

  /** Nobody follows. */
  #rest(): void {
    this.#last = null
    this.#moved.clear()
    this.#looking?.cancel()
    this.#telling?.cancel()
    this.#looking = undefined
    this.#telling = undefined
  }

  #mark(n: number): void {
    if (!this.#followed.has(n)) return
    this.#moved.add(n)
    // Everybody is told in one go: what that costs does not depend on how many mailboxes change.
    this.#telling ??= this.#deps.clock.after(COALESCE_MS, () => {
      this.#telling = undefined
      this.#inTurn(() => this.#tell())
    })
  }

  #inTurn(work: () => Promise<void>): void {
    this.#turn = this.#turn.then(work).catch((error: unknown) => {
      this.#deps.log.error({ err: error }, 'followers of a mailbox were not told')
    })
  }

  /** What no bell told of. */
  async #look(): Promise<void> {
    for (const account of await this.#deps.accounts.byNumbers([...this.#followed.keys()])) {
      const known = this.#followed.get(account.n)?.account
      if (known !== undefined && !isSame(known, account)) this.#mark(account.n)
    }
  }

  async #tell(): Promise<void> {
    const moved = [...this.#moved]
    this.#moved.clear()
    await this.#gather()
    for (const account of await this.#deps.accounts.byNumbers(moved)) {
      const followed = this.#followed.get(account.n)
      if (followed === undefined) continue
      followed.account = account
      const received = followed.received.splice(0)
      for (const follower of followed.followers) follower.moved(account, received)
    }
  }

  /** Reads the mails that came, for everybody at once. */
  async #gather(): Promise<void> {
    const byMailbox = new Map([...this.#followed.values()].map((followed) => [followed.account.mailboxId, followed]))
    for (let more = true; more && this.#last !== null; ) {
      const from = this.#last
      const page = await this.#deps.received.after(from, [...byMailbox.keys()])
      // Meanwhile the last one may have left, and another one come.
      if (this.#last !== from) return
      this.#last = page.last
      more = page.more
      for (const mail of page.messages) {
        const received = byMailbox.get(mail.mailboxId)?.received
        if (received !== undefined && received.length < RECEIVED_MAX) received.push(mail)
      }
    }
  }
}

function isSame({ states: one }: Account, { states: other }: Account): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
