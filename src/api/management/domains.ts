// The domains of a team: made, shown, and proven by DNS.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import type { Domain as DomainRecord } from '../../directory/domains.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import {
  Domain,
  DomainVerification,
  presentDomain,
  presentVerification,
  VerificationStatus,
} from '../schemas/domain.ts'
import { record } from '../schemas/record.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ domain_id: Id('domain') })

const listDomains = route({
  method: 'GET',
  path: '/domains',
  operation: 'listDomains',
  tag: 'Domains',
  summary: 'Lists the domains of the team, newest first.',
  as: 'team',
  permission: 'domain.read',
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    verification_status: VerificationStatus,
    search: Type.String({ minLength: 1, maxLength: 253, description: 'A part of the name.' }),
  }),
  reply: listOf(Domain),
  async handle({ query, after, principal, app }) {
    const { verification_status: status, search, limit } = query
    const page = await app.directory.domains.list(principal.teamId, { status, search, limit, after })
    return { items: page.items.map(presentDomain), next: page.next }
  },
})

const createDomain = route({
  method: 'POST',
  path: '/domains',
  operation: 'createDomain',
  tag: 'Domains',
  summary: 'Adds a domain and gives the DNS records it needs.',
  description:
    'The domain is pending until its verification record is found in DNS; names under `test`, `example`, `invalid` and ' +
    '`localhost` are verified at once. 409 when the team has it, or another team has proven it.',
  as: 'team',
  permission: 'domain.create',
  idempotent: true,
  body: record(
    'DomainCreate',
    'What a new domain is made of.',
    {
      domain: Type.String({
        minLength: 4,
        maxLength: 253,
        description: 'A host name with at least two labels; letters beyond ASCII are turned into A-labels.',
        examples: ['shop.example'],
      }),
    },
    { domain: 'shop.example' },
  ),
  reply: Domain,
  status: 201,
  async handle({ body, principal, app }) {
    const domain = await app.directory.domains.create(principal.teamId, body.domain)
    return answer({ data: presentDomain(domain), headers: { Location: `/api/v1/domains/${domain.id}` } })
  },
})

const readDomain = route({
  method: 'GET',
  path: '/domains/{domain_id}',
  operation: 'getDomain',
  tag: 'Domains',
  summary: 'Shows one domain.',
  as: 'team',
  permission: 'domain.read',
  params,
  reply: Domain,
  etag: true,
  async handle({ params: { domain_id }, principal, app }) {
    const domain = await app.directory.domains.get(principal.teamId, domain_id)
    if (domain === undefined) throw notFound('domain')
    return presentDomain(domain)
  },
})

const verifyDomain = route({
  method: 'POST',
  path: '/domains/{domain_id}/verify',
  operation: 'verifyDomain',
  tag: 'Domains',
  summary: 'Looks at DNS now, without a cache, and says what is there.',
  description:
    'Only the verification record decides; the others are told so that they can be mended. Once in 10 seconds for each ' +
    'domain (429). 503 when no name server answers: nothing changes then.',
  as: 'team',
  permission: 'domain.verify',
  throttle: { times: 1, seconds: 10 },
  params,
  reply: DomainVerification,
  etag: true,
  async handle({ params: { domain_id }, principal, app, request }) {
    const matches = (current: DomainRecord) => request.matches(presentDomain(current))
    const { domain, checks } = await app.directory.domains.verify(principal.teamId, domain_id, matches)
    return answer({ data: presentVerification(domain, checks), version: presentDomain(domain) })
  },
})

const removeDomain = route({
  method: 'DELETE',
  path: '/domains/{domain_id}',
  operation: 'deleteDomain',
  tag: 'Domains',
  summary: 'Removes a domain, its rules and its keys.',
  description:
    '409 while a mailbox that is active or suspended has an address at the domain. From then on mail for it is refused, and mail from it that ' +
    'still waits is rejected. Logs stay; whoever adds the name again gets new records to publish.',
  as: 'team',
  permission: 'domain.delete',
  params,
  reply: DeletedOf('domain'),
  etag: true,
  async handle({ params: { domain_id }, principal, app, request }) {
    const matches = (current: DomainRecord) => request.matches(presentDomain(current))
    await app.directory.domains.delete(principal.teamId, domain_id, matches)
    return { deleted: true as const, id: domain_id }
  },
})

export const domains = [listDomains, createDomain, readDomain, verifyDomain, removeDomain]
