// What happened to the things of one type since a state, told the same by each type's own list and by the list of several (decisions
// §10.3, §10.11).

import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import { type Route, route } from '../../http/route.ts'
import type { Account, ChangeType } from '../../store/records.ts'
import { Changes, CountedChanges, changesQuery, presentChanges, presentCounted } from '../schemas/changes.ts'
import { accountOf } from './account.ts'

type Shown = Static<typeof Changes> | Static<typeof CountedChanges>

/** What mail alone changes of a folder. */
const FOLDER_COUNTS = ['total_messages', 'unread_messages', 'total_threads', 'unread_threads']

/** How the list of each type is called and where it stands in the description. */
const LISTS: Record<ChangeType, { operation: string; tag: string; counts?: string }> = {
  messages: { operation: 'listMessageChanges', tag: 'Messages' },
  threads: { operation: 'listThreadChanges', tag: 'Threads' },
  folders: {
    operation: 'listFolderChanges',
    tag: 'Folders',
    counts: '`updated_properties` names the counts when nothing else changed of them.',
  },
  submissions: { operation: 'listSubmissionChanges', tag: 'Submissions' },
  identities: { operation: 'listIdentityChanges', tag: 'Submissions' },
  quotas: {
    operation: 'listQuotaChanges',
    tag: 'Usage',
    counts: '`updated_properties` is `["used"]` when no limit changed.',
  },
}

/** `GET /mailbox/<type>/changes`. */
export function changesRoute(type: ChangeType): Route {
  const { operation, tag, counts } = LISTS[type]
  const tooOld = 'A state that is too old is answered with 409: fetch the list again.'
  return route({
    method: 'GET',
    path: `/mailbox/${type}/changes`,
    operation,
    tag,
    summary: `Tells which ${type} came, changed and went since a state.`,
    description: counts === undefined ? tooOld : `${counts} ${tooOld}`,
    as: 'mailbox',
    permission: 'mailbox.read',
    query: changesQuery,
    reply: counts === undefined ? Changes : CountedChanges,
    async handle({ query: { since_state: since, limit }, principal, app }) {
      return changesOf(app, await accountOf(app, principal), type, { since, limit })
    },
  })
}

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
