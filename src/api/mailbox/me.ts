// The mailbox a credential is for.

import { notFound } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { Mailbox, presentMailbox } from '../schemas/mailbox.ts'
import { usageOf } from '../usage.ts'
import { accountOf } from './account.ts'

export const readMe = route({
  method: 'GET',
  path: '/mailbox/me',
  operation: 'getMailboxMe',
  tag: 'Mailbox',
  summary: 'Shows the mailbox this credential is for.',
  description:
    'Meant to be called once at the start, to learn the id. The ETag covers everything shown, so a change of ' +
    '`quota_used_bytes` changes it. A root key gets 403.',
  as: 'mailbox',
  permission: 'mailbox.read',
  reply: Mailbox,
  etag: true,
  async handle({ principal, app }) {
    await accountOf(app, principal)
    const mailbox = await app.directory.mailboxes.byId(principal.mailboxId)
    if (mailbox === undefined) throw notFound('mailbox')
    const usage = await usageOf(app, [mailbox.id])
    return presentMailbox(mailbox, usage.get(mailbox.id))
  },
})
