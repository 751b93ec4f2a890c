// Messages that were removed at the server of an outside account, for those who manage it (docs/design/outside-accounts.md §8).

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import type { Account } from '../../store/rows/records.ts'
import { restoreRemoved } from '../../sync/accounts/restored-messages.ts'
import {
  presentFiling,
  presentRestored,
  presentTotals,
  RemovedFilingJson,
  RemovedRestore,
  RestoredJson,
  readChoice,
} from '../schemas/removed-message.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const PATH = '/remote-accounts/{remote_account_id}/removed'
const TAG = 'Outside accounts'
const params = Type.Object({ remote_account_id: Id('remoteAccount') })
/** Each reads up to 100 messages. */
const RESTORES_AT_ONCE = 2

/** @throws ProductError not_found */
function accountOf(app: Context, teamId: string, id: string): Account {
  const remote = app.sync.accounts.get(teamId, id)
  const account = remote && app.store.accounts.byMailbox(remote.mailboxId)
  if (account === undefined) throw notFound('outside account')
  return account
}

const listRemoved = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'listRemovedMessages',
    tag: TAG,
    summary: 'List messages that were removed at the server, the last removed first',
    description:
      'Messages that were erased here because they were removed at the server can be restored for 30 days. At most as many bytes as ' +
      'the quota of the mailbox and 100,000 messages are held; beyond that messages of Trash and Junk are forgotten first, then those ' +
      'that were removed first. Subjects and authors are in `GET /mailbox/remote-account/removed`, for keys of the mailbox. ' +
      '`meta.total_messages` and `meta.total_bytes` count all of them.',
  },
  access: { as: 'team', permission: 'remote.manage' },
  params,
  query: pageQuery({ limit: MANAGEMENT_PAGE }),
  reply: { schema: listOf(RemovedFilingJson) },
  handle({ params: { remote_account_id: id }, query: { limit }, after, principal, app }) {
    const { removed } = app.store.edit
    const account = accountOf(app, principal.teamId, id)
    const page = removed.list(account, { limit, after })
    return { items: page.items.map(presentFiling), next: page.next, meta: presentTotals(removed.totals(account)) }
  },
})

const restore = route({
  method: 'POST',
  path: `${PATH}/restore`,
  docs: {
    operation: 'restoreRemovedMessages',
    tag: TAG,
    summary: 'Restore messages that were removed at the server',
    description:
      'They are stored here again with new ids, in the folders they were in, and then at the server. One request restores at most 100 ' +
      'messages and about 64 MiB: `remaining` says how many are left. 409 when the mailbox is suspended or full.',
    errors: ['conflict'],
  },
  access: { as: 'team', permission: 'remote.manage' },
  params,
  limits: { maxConcurrent: RESTORES_AT_ONCE },
  body: { schema: RemovedRestore, optional: true },
  reply: { schema: RestoredJson },
  async handle({ params: { remote_account_id: id }, body, principal, app }) {
    const account = accountOf(app, principal.teamId, id)
    return presentRestored(await restoreRemoved(app, account, readChoice(body)))
  },
})

export const removedMessages = [listRemoved, restore]
