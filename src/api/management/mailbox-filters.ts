// The sender filter of a mailbox.

import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import { FILTERS, refuseOutside } from '../rules/outside.ts'
import { senderFilterOf } from '../rules/sender-filter.ts'
import { FilterStateJson } from '../schemas/filter-state.ts'

const params = Type.Object({ mailbox_id: Id('mailbox') })
const filters = senderFilterOf('mailbox', (app, teamId, id) => {
  const mailbox = app.directory.mailboxes.get(teamId, id)
  refuseOutside(mailbox, FILTERS)
  return mailbox
})

const readMailboxFilters = route({
  method: 'GET',
  path: '/mailboxes/{mailbox_id}/filters',
  docs: {
    operation: 'getMailboxFilters',
    errors: ['conflict'],
    tag: 'Mailboxes',
    summary: 'Get the sender filter of a mailbox',
    description: '`mode` says whether the rules name who may write to the mailbox or who may not.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params,
  reply: { schema: FilterStateJson, etag: true },
  handle({ params: { mailbox_id }, principal, app }) {
    return filters.read(app, principal.teamId, mailbox_id)
  },
})

const replaceMailboxFilters = route({
  method: 'PUT',
  path: '/mailboxes/{mailbox_id}/filters',
  docs: {
    operation: 'replaceMailboxFilters',
    tag: 'Mailboxes',
    summary: 'Replace the sender filter of a mailbox',
    description:
      'Evaluated before the filter of the domain; applies to mail received from now on. With the ETag of a GET in `If-Match`, the ' +
      'filter is replaced only if it has not changed since (409 otherwise).',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params,
  body: { schema: FilterStateJson },
  reply: { schema: FilterStateJson, etag: true },
  async handle({ params: { mailbox_id }, body, request, principal, app }) {
    return filters.replace(app, principal.teamId, mailbox_id, body, request)
  },
})

export const mailboxFilters = [readMailboxFilters, replaceMailboxFilters]
