// The sender filter of a domain.

import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import { senderFilterOf } from '../rules/sender-filter.ts'
import { FilterStateJson } from '../schemas/filter-state.ts'

const params = Type.Object({ domain_id: Id('domain') })
const filters = senderFilterOf('domain', (app, teamId, id) => app.directory.domains.get(teamId, id))

const readDomainFilters = route({
  method: 'GET',
  path: '/domains/{domain_id}/filters',
  docs: {
    operation: 'getDomainFilters',
    tag: 'Domains',
    summary: 'Get the sender filter of a domain',
    description: 'The rules hold for all mailboxes of the domain.',
  },
  access: { as: 'team', permission: 'domain.read' },
  params,
  reply: { schema: FilterStateJson, etag: true },
  handle({ params: { domain_id }, principal, app }) {
    return filters.read(app, principal.teamId, domain_id)
  },
})

const replaceDomainFilters = route({
  method: 'PUT',
  path: '/domains/{domain_id}/filters',
  docs: {
    operation: 'replaceDomainFilters',
    tag: 'Domains',
    summary: 'Replace the sender filter of a domain',
    description:
      'Applies to mail received from now on. With the ETag of a GET in `If-Match`, the filter is replaced only if it has not ' +
      'changed since (409 otherwise). Messages of blocked senders are rejected during the SMTP session and not stored.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params,
  body: { schema: FilterStateJson },
  reply: { schema: FilterStateJson, etag: true },
  async handle({ params: { domain_id }, body, request, principal, app }) {
    return filters.replace(app, principal.teamId, domain_id, body, request)
  },
})

export const domainFilters = [readDomainFilters, replaceDomainFilters]
