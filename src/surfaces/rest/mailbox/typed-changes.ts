// The changes of one type, shown the same by the list of the type and by the list of several (decisions §10.3, §10.11).

import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import type { Account, ChangeType } from '../../../store/records.ts'
import { type Changes, type CountedChanges, presentChanges, presentCounted } from '../schemas/changes.ts'

type Shown = Static<typeof Changes> | Static<typeof CountedChanges>

/** What mail alone changes of a folder. */
const FOLDER_COUNTS = ['total_messages', 'unread_messages', 'total_threads', 'unread_threads']

/** @throws ProductError conflict for a state that is none, lies ahead, or is too old */
export async function changesOf(
  app: Context,
  account: Account,
  type: ChangeType,
  { since, limit }: { since: string; limit: number },
): Promise<Shown> {
  if (type === 'quotas') {
    const changes = await app.store.quotas.changesSince(account, since, limit)
    return presentCounted(changes, changes.updatedProperties)
  }
  const changes = await app.store.changes.since(account, type, since, limit)
  if (type !== 'folders') return presentChanges(changes)
  return presentCounted(changes, changes.countsOnly ? FOLDER_COUNTS : null)
}
