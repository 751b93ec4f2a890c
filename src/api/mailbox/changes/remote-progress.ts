// How far the outside accounts of a mailbox are, for its event stream.

import type { RemoteAccountReads } from '../../../sync/accounts/accounts-reads.ts'
import type { RemoteAccount } from '../../../sync/model/records.ts'

/** Data of the event `remote.progress` (docs/design/outside-accounts.md §6). */
export interface ProgressData {
  remote_account_id: string
  status: RemoteAccount['status']
  messages_total: number
  messages_done: number
}

/** Events are at least so far apart, ms. */
export const PROGRESS_EVERY_MS = 1_000

export class RemoteProgress {
  readonly #accounts: Pick<RemoteAccountReads, 'ofMailbox'>
  readonly #mailboxId: string
  /** What the client knows, by account. */
  readonly #known = new Map<string, string>()

  constructor(accounts: Pick<RemoteAccountReads, 'ofMailbox'>, mailboxId: string) {
    this.#accounts = accounts
    this.#mailboxId = mailboxId
    for (const data of this.#read()) this.#known.set(data.remote_account_id, JSON.stringify(data))
  }

  /** Whether there is anything to follow. */
  get isNeeded(): boolean {
    return this.#known.size > 0
  }

  /** @param send returns false when the client does not read: the same is tried again */
  report(send: (data: ProgressData) => boolean): void {
    for (const data of this.#read()) {
      const text = JSON.stringify(data)
      if (this.#known.get(data.remote_account_id) === text || !send(data)) continue
      this.#known.set(data.remote_account_id, text)
    }
  }

  #read(): ProgressData[] {
    return this.#accounts.ofMailbox(this.#mailboxId).map(({ id, status, import: progress }) => ({
      ...{ remote_account_id: id, status },
      ...{ messages_total: progress.messagesTotal, messages_done: progress.messagesDone },
    }))
  }
}
