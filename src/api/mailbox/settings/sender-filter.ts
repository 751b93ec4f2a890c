// The sender filter of a mailbox, for its own credentials.

import { notFound, ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { route } from '../../../http/route.ts'
import { writableAccountOf } from '../../rules/account.ts'
import { FILTERS, refuseOutside } from '../../rules/outside.ts'
import { senderFilterOf } from '../../rules/sender-filter.ts'
import { FilterStateJson } from '../../schemas/filter-state.ts'

const PATH = '/mailbox/sender-filter'
const filters = senderFilterOf('mailbox', changeableMailbox)

const readSenderFilter = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'getSenderFilter',
    errors: ['conflict'],
    tag: 'Mailbox',
    summary: 'Get the sender filter of the mailbox; 403 for agents',
    description: 'Asked before a message is accepted; a refused one is in the inbound log.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  reply: { schema: FilterStateJson, etag: true },
  handle({ principal: { teamId, mailboxId }, app }) {
    return filters.read(app, teamId, mailboxId)
  },
})

const replaceSenderFilter = route({
  method: 'PUT',
  path: PATH,
  docs: {
    operation: 'replaceSenderFilter',
    tag: 'Mailbox',
    summary: 'Replace the sender filter of the mailbox; 403 for agents',
    description:
      'Evaluated before the filter of the domain; applies to mail received from now on. With the ETag of a GET in `If-Match`, the ' +
      'filter is replaced only if it has not changed since (409 otherwise).',
  },
  access: { as: 'mailbox', permission: 'mailbox.write' },
  body: { schema: FilterStateJson },
  reply: { schema: FilterStateJson, etag: true },
  handle({ body, request, principal, app }) {
    writableAccountOf(app, principal)
    return filters.replace(app, principal.teamId, principal.mailboxId, body, request)
  },
})

/** An agent does not choose who writes to it. @throws ProductError insufficient_permissions, conflict */
function changeableMailbox(app: Context, teamId: string, id: string) {
  const mailbox = app.directory.mailboxes.get(teamId, id)
  if (mailbox === undefined) throw notFound('mailbox')
  refuseOutside(mailbox, FILTERS)
  if (!mailbox.isAgent) return mailbox
  throw new ProductError('insufficient_permissions', 'The team of an agent decides who may write to its inbox.')
}

export const senderFilter = [readSenderFilter, replaceSenderFilter]
