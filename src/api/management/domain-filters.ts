// The sender filter of a domain.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import { FilterState, presentFilter } from '../schemas/filter-state.ts'

const params = Type.Object({ domain_id: Id('domain') })

const readDomainFilters = route({
  method: 'GET',
  path: '/domains/{domain_id}/filters',
  operation: 'getDomainFilters',
  tag: 'Domains',
  summary: 'Shows the sender filter of a domain.',
  as: 'team',
  permission: 'domain.read',
  params,
  reply: FilterState,
  etag: true,
  async handle({ params: { domain_id }, principal, app }) {
    const domain = await app.directory.domains.get(principal.teamId, domain_id)
    if (domain === undefined) throw notFound('domain')
    return presentFilter(await app.directory.filters.get(domain.id))
  },
})

const replaceDomainFilters = route({
  method: 'PUT',
  path: '/domains/{domain_id}/filters',
  operation: 'replaceDomainFilters',
  tag: 'Domains',
  summary: 'Replaces the sender filter of a domain as a whole.',
  description:
    'It counts for mail that arrives from now on. With `If-Match` the ETag of a GET, the filter is replaced only if ' +
    'nobody did meanwhile (409 otherwise). Refused senders are told so in the SMTP dialogue; nothing is stored.',
  as: 'team',
  permission: 'mailbox.admin.manage',
  params,
  body: FilterState,
  reply: FilterState,
  etag: true,
  async handle({ params: { domain_id }, body, request, principal, app }) {
    const domain = await app.directory.domains.get(principal.teamId, domain_id)
    if (domain === undefined) throw notFound('domain')
    const kept = await app.directory.filters.put(domain.id, body, (now) => request.matches(presentFilter(now)))
    return presentFilter(kept)
  },
})

export const domainFilters = [readDomainFilters, replaceDomainFilters]
