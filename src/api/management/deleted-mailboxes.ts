// Deleted mailboxes of a team: restoring them, and erasing them before their time.

import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import type { TeamPrincipal } from '../../directory/names/principal.ts'
import { route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import { presentRestored } from '../rules/restored-mailbox.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { MailboxRestore, RestoredMailbox } from '../schemas/mailbox.ts'
import { requireOwner } from './authority.ts'
import { mailboxMatch } from './mailbox-match.ts'

const params = Type.Object({ mailbox_id: Id('mailbox') })

/** Who restores a mailbox opens all its messages again. Deleting it takes less. @throws ProductError insufficient_permissions */
function requireOwnerOf(app: Context, principal: TeamPrincipal): void {
  requireOwner(app, principal, 'Only an owner of the team restores or erases deleted mailboxes. Ask one.')
}

const restoreMailbox = route({
  method: 'POST',
  path: '/mailboxes/{mailbox_id}/restore',
  docs: {
    operation: 'restoreMailbox',
    tag: 'Mailboxes',
    summary: 'Restore a deleted mailbox with its content, folders, ids and settings',
    description:
      'Until `restorable_until`, by an owner of the team, or with a key that an owner or the operator issued. API keys, app passwords and ' +
      'sign-ins stay ended, and so do forwards, outside accounts and queued messages; people are given access again. Aliases that are still ' +
      'free come back. A suspended mailbox stays suspended, and one that was an outside account can only be read. 409 when the address is in ' +
      'use: choose another one. 409 for the inbox of an agent whose registration has ended.',
    errors: ['conflict', 'insufficient_permissions'],
  },
  access: { as: 'team', permission: 'mailbox.admin.delete', fresh: true },
  params,
  body: { schema: MailboxRestore, optional: true },
  reply: { schema: RestoredMailbox, etag: true },
  async handle({ params: { mailbox_id: id }, body, principal, app, request }) {
    requireOwnerOf(app, principal)
    const matches = mailboxMatch(app, id, request)
    return presentRestored(app, await app.administration.mailboxes.restore(principal.teamId, id, body.email, matches))
  },
})

const eraseMailbox = route({
  method: 'POST',
  path: '/mailboxes/{mailbox_id}/erase',
  docs: {
    operation: 'eraseMailbox',
    tag: 'Mailboxes',
    summary: 'Erase a deleted mailbox now: it cannot be restored any more',
    description:
      'By an owner of the team, or with a key that an owner or the operator issued. The mailbox is not found from now on. Its messages are ' +
      'erased at once, those of a large mailbox within the hour; content that no other mailbox has leaves the disk with the next sweep.',
    errors: ['conflict', 'insufficient_permissions'],
  },
  access: { as: 'team', permission: 'mailbox.admin.delete', fresh: true },
  params,
  reply: { schema: DeletedOf('mailbox'), etag: true },
  async handle({ params: { mailbox_id: id }, principal, app, request }) {
    requireOwnerOf(app, principal)
    const matches = mailboxMatch(app, id, request)
    await app.administration.mailboxes.erase(principal.teamId, id, matches)
    return { deleted: true, id }
  },
})

export const deletedMailboxes = [restoreMailbox, eraseMailbox]
