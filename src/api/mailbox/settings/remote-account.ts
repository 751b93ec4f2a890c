// The outside account that a mailbox is, for its own credentials.

import { notFound } from '../../../base/errors.ts'
import { route } from '../../../http/route.ts'
import { presentRemoteState, RemoteStateJson } from '../../schemas/remote-account.ts'

export const readRemoteAccount = route({
  method: 'GET',
  path: '/mailbox/remote-account',
  docs: {
    operation: 'getMailboxRemoteAccount',
    errors: ['not_found'],
    tag: 'Mailbox',
    summary: 'Get the state of the outside account that the mailbox is',
    description: 'Without connection settings. 404 for a mailbox that is hosted here.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  reply: { schema: RemoteStateJson, etag: true },
  handle({ principal, app }) {
    const account = app.sync.accounts.mirrorOf(principal.mailboxId)
    if (account === undefined) throw notFound('outside account')
    return presentRemoteState(account)
  },
})
