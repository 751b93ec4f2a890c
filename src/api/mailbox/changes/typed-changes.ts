// Changes of one type since a state: the same for the list of the type and for the list of several types (docs/design/mailbox.md
// §3, §11).

import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import { type Route, route } from '../../../http/route.ts'
import type { Account, ChangeType } from '../../../store/rows/records.ts'
import { accountOf } from '../../rules/account.ts'
import { Changes, CountedChanges, changesQuery, presentChanges, presentCounted } from '../../schemas/changes.ts'

type Shown = Static<typeof Changes> | Static<typeof CountedChanges>

/** Properties of a folder that change with its messages. */
const FOLDER_COUNTS = ['total_messages', 'unread_messages', 'total_threads', 'unread_threads']

/** Operation id and tag of the list of each type. */
const LISTS: Record<ChangeType, { operation: string; tag: string; counts?: string }> = {
  messages: { operation: 'listMessageChanges', tag: 'Messages' },
  threads: { operation: 'listThreadChanges', tag: 'Threads' },
  folders: {
    operation: 'listFolderChanges',
    tag: 'Folders',
    counts: '`updated_properties` names the counts when nothing else changed.',
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
  const tooOld = '409 when the state is too old: fetch the list again.'
  return route({
    method: 'GET',
    path: `/mailbox/${type}/changes`,
    docs: {
      operation,
      tag,
      summary: `List the changes of ${type} since a state`,
      description: counts === undefined ? tooOld : `${counts} ${tooOld}`,
    },
    access: { as: 'mailbox', permission: 'mailbox.read' },
    query: changesQuery,
    reply: { schema: counts === undefined ? Changes : CountedChanges },
    handle({ query: { since_state: since, limit }, principal, app }) {
      return changesOf(app, accountOf(app, principal), type, { since, limit })
    },
  })
}

/** @throws ProductError conflict for a state that is malformed, in the future, or too old */
export function changesOf(
  app: Context,
  account: Account,
  type: ChangeType,
  { since, limit }: { since: string; limit: number },
): Shown {
  if (type === 'quotas') {
    const changes = app.store.sending.quotas.changesSince(account, since, limit)
    return presentCounted(changes, changes.updatedProperties)
  }
  const changes = app.store.read.changes.since(account, type, since, limit)
  if (type !== 'folders') return presentChanges(changes)
  return presentCounted(changes, changes.countsOnly ? FOLDER_COUNTS : null)
}
