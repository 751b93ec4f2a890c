// Messages that were removed at the server of the outside account that the mailbox is (docs/design/outside-accounts.md §8).

import { route } from '../../../http/route.ts'
import { listOf, pageQuery } from '../../../http/schema.ts'
import { restoreRemoved } from '../../../sync/accounts/restored-messages.ts'
import { accountOf, writableAccountOf } from '../../rules/account.ts'
import { MAILBOX_PAGE } from '../../schemas/limits.ts'
import {
  presentRemoved,
  presentRestored,
  presentTotals,
  RemovedMessageJson,
  RemovedRestore,
  RestoredJson,
  readChoice,
} from '../../schemas/removed-message.ts'

const PATH = '/mailbox/remote-account/removed'
/** Each reads up to 100 messages. */
const RESTORES_AT_ONCE = 2

const listRemoved = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'listMailboxRemovedMessages',
    tag: 'Mailbox',
    summary: 'List messages that were removed at the server, the last removed first',
    description:
      'Messages that were erased here because they were removed at the server of the outside account can be restored for 30 days. ' +
      'Empty for a mailbox that is hosted here. `meta.total_messages` and `meta.total_bytes` count all of them.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: pageQuery({ limit: MAILBOX_PAGE }),
  reply: { schema: listOf(RemovedMessageJson) },
  handle({ query: { limit }, after, principal, app }) {
    const { removed } = app.store.edit
    const account = accountOf(app, principal)
    const page = removed.list(account, { limit, after })
    return { items: page.items.map(presentRemoved), next: page.next, meta: presentTotals(removed.totals(account)) }
  },
})

const restore = route({
  method: 'POST',
  path: `${PATH}/restore`,
  docs: {
    operation: 'restoreMailboxRemovedMessages',
    tag: 'Mailbox',
    summary: 'Restore messages that were removed at the server',
    description:
      'They are stored here again with new ids, in the folders they were in, and then at the server. One request restores at most 100 ' +
      'messages and about 64 MiB: `remaining` says how many are left. 409 when the mailbox is suspended or full.',
    errors: ['conflict'],
  },
  access: { as: 'mailbox', permission: 'mailbox.write' },
  limits: { maxConcurrent: RESTORES_AT_ONCE },
  body: { schema: RemovedRestore, optional: true },
  reply: { schema: RestoredJson },
  async handle({ body, principal, app }) {
    const account = writableAccountOf(app, principal)
    return presentRestored(await restoreRemoved(app, account, readChoice(body)))
  },
})

export const mailboxRemovedMessages = [listRemoved, restore]
