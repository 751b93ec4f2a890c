// Follows the import of an outside account, with a progress bar at a terminal and lines elsewhere.

import { pause } from '../../base/clock.ts'
import type { Context } from '../../context.ts'
import type { RemoteAccount } from '../../sync/model/records.ts'
import type { Call } from '../frame/command.ts'

export const FOLLOW_OPTION = { follow: { says: 'wait until the import is done, and show how far it is' } }

/** Between two looks, ms. */
const LOOK_MS = 500

/** Waits until the import is done, a person has to act, or Ctrl-C. @returns the account as it is then */
export async function followImport(
  call: Call,
  { sync, clock }: Context,
  account: RemoteAccount,
): Promise<RemoteAccount> {
  const stop = call.untilStopped()
  let current = account
  let shown = { total: -1, done: 0 }
  while (!isSettled(current) && !stop.aborted) {
    const { messagesTotal: total, messagesDone: done } = current.import
    if (total !== shown.total) {
      call.progress.begin(`Importing ${current.email}`, 'messages', total)
      shown = { total, done: 0 }
    }
    call.progress.add(done - shown.done)
    shown.done = done
    await pause(clock, LOOK_MS, stop)
    const next = sync.accounts.byId(current.id)
    if (next === undefined) break
    current = next
  }
  call.progress.end()
  return current
}

function isSettled({ status, import: progress }: RemoteAccount): boolean {
  return progress.state === 'done' || status === 'paused' || status === 'error'
}
