// The mailbox of a credential.

import { notFound } from '../../../base/errors.ts'
import { route } from '../../../http/route.ts'
import { accountOf } from '../../rules/account.ts'
import { usageOf } from '../../rules/usage.ts'
import { MailboxJson, presentMailbox } from '../../schemas/mailbox.ts'

export const readMe = route({
  method: 'GET',
  path: '/mailbox/me',
  docs: {
    operation: 'getMailboxMe',
    tag: 'Mailbox',
    summary: 'Get the mailbox of this credential',
    description:
      'Clients call it once at the start to learn the mailbox id. The ETag covers all members, so it changes with ' +
      '`quota_used_bytes`. 403 for a root key.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  reply: { schema: MailboxJson, etag: true },
  handle({ principal, app }) {
    accountOf(app, principal)
    const mailbox = app.directory.mailboxes.byId(principal.mailboxId)
    if (mailbox === undefined) throw notFound('mailbox')
    const usage = usageOf(app, [mailbox.id])
    return presentMailbox(mailbox, usage.get(mailbox.id))
  },
})
