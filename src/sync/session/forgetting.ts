// Forgets what was known of outside accounts that were deleted, unless their messages stayed.

import { EndedAccounts } from '../accounts/accounts-ended.ts'
import type { RoundDeps } from './sync-session.ts'

type Deps = Pick<RoundDeps, 'db' | 'states' | 'folders' | 'messages' | 'intents'>

/** Rows removed in one unit of work. */
const ROWS_PER_BATCH = 500

export async function forgetDeleted(
  { db, states, folders, messages, intents }: Deps,
  signal: AbortSignal,
): Promise<void> {
  const kept = new Set(new EndedAccounts(db).numbers())
  const deleted = folders.remotes().filter((remote) => !states.exists(remote) && !kept.has(remote))
  for (const remote of deleted) {
    for (const { n } of folders.list(remote)) {
      for (let left = ROWS_PER_BATCH; left === ROWS_PER_BATCH && !signal.aborted; )
        left = await db.write((tx) => messages.removeSome(tx, n, ROWS_PER_BATCH))
      if (signal.aborted) return
      await db.write((tx) => folders.remove(tx, n))
    }
    await db.write((tx) => intents.removeOf(tx, remote))
  }
}
