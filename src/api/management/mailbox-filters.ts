// The sender filter of a mailbox.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import { FilterState, presentFilter } from '../schemas/filter-state.ts'

const params = Type.Object({ mailbox_id: Id('mailbox') })

const readMailboxFilters = route({
  method: 'GET',
  path: '/mailboxes/{mailbox_id}/filters',
  operation: 'getMailboxFilters',
  tag: 'Mailboxes',
  summary: 'Shows the sender filter of a mailbox.',
  as: 'team',
  permission: 'mailbox.admin.manage',
  params,
  reply: FilterState,
  etag: true,
  async handle({ params: { mailbox_id }, principal, app }) {
    const mailbox = await app.directory.mailboxes.get(principal.teamId, mailbox_id)
    if (mailbox === undefined) throw notFound('mailbox')
    return presentFilter(await app.directory.filters.get(mailbox.id))
  },
})

const replaceMailboxFilters = route({
  method: 'PUT',
  path: '/mailboxes/{mailbox_id}/filters',
  operation: 'replaceMailboxFilters',
  tag: 'Mailboxes',
  summary: 'Replaces the sender filter of a mailbox as a whole.',
  description:
    'It comes before the filter of the domain and counts for mail that arrives from now on. With `If-Match` the ETag of ' +
    'a GET, the filter is replaced only if nobody did meanwhile (409 otherwise).',
  as: 'team',
  permission: 'mailbox.admin.manage',
  params,
  body: FilterState,
  reply: FilterState,
  etag: true,
  async handle({ params: { mailbox_id }, body, request, principal, app }) {
    const mailbox = await app.directory.mailboxes.get(principal.teamId, mailbox_id)
    if (mailbox === undefined) throw notFound('mailbox')
    const kept = await app.directory.filters.put(mailbox.id, body, (now) => request.matches(presentFilter(now)))
    return presentFilter(kept)
  },
})

export const mailboxFilters = [readMailboxFilters, replaceMailboxFilters]
