// The domains of a team, and their verification by DNS.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import type { Domain } from '../../directory/domains/domains.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import {
  DomainChecksJson,
  DomainJson,
  DomainVerificationJson,
  presentChanges,
  presentChecks,
  presentDomain,
  presentVerification,
  VerificationStatus,
} from '../schemas/domain.ts'
import { searchFilters, searchOf } from '../schemas/list-filters.ts'
import { record } from '../schemas/record.ts'
import { isoTimeOrNull } from '../schemas/time.ts'
import { domainOf } from './domain-of.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ domain_id: Id('domain') })

const listDomains = route({
  method: 'GET',
  path: '/domains',
  docs: {
    operation: 'listDomains',
    tag: 'Domains',
    summary: 'List domains, newest first',
    description:
      '`verification_status` and `search` narrow the list; the DNS records of a domain are in `createDomain` and `getDomain`.',
  },
  access: { as: 'team', permission: 'domain.read' },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    verification_status: VerificationStatus,
    ...searchFilters('Part of the name.', 253),
  }),
  reply: { schema: listOf(DomainJson) },
  handle({ query, after, principal, app }) {
    const { verification_status: status, limit } = query
    const page = app.directory.domains.list(principal.teamId, { status, search: searchOf(query), limit, after })
    return { items: page.items.map(presentDomain), next: page.next }
  },
})

const createDomain = route({
  method: 'POST',
  path: '/domains',
  docs: {
    operation: 'createDomain',
    tag: 'Domains',
    summary: 'Create a domain and return its DNS records',
    description:
      'The domain is pending until its verification record is found in DNS; names under `test`, `example`, `invalid` and ' +
      '`localhost` are verified immediately. 409 when the team already has it, or another team has verified it.',
  },
  access: { as: 'team', permission: 'domain.create' },
  idempotent: true,
  body: {
    schema: record(
      'DomainCreate',
      'The new domain.',
      {
        domain: Type.String({
          minLength: 4,
          maxLength: 253,
          description: 'A host name with at least two labels; labels with non-ASCII letters are converted to A-labels.',
          examples: ['shop.example'],
        }),
      },
      { domain: 'shop.example' },
    ),
  },
  reply: { schema: DomainJson, status: 201 },
  async handle({ body, principal, app }) {
    const domain = await app.directory.domains.create(principal.teamId, body.domain)
    return answer({ data: presentDomain(domain), headers: { Location: `/api/v1/domains/${domain.id}` } })
  },
})

const readDomain = route({
  method: 'GET',
  path: '/domains/{domain_id}',
  docs: {
    operation: 'getDomain',
    tag: 'Domains',
    summary: 'Get a domain',
    description: 'With the DNS records to publish, and when each was last found.',
  },
  access: { as: 'team', permission: 'domain.read' },
  params,
  reply: { schema: DomainJson, etag: true },
  handle: ({ params: { domain_id }, principal, app }) => presentDomain(domainOf(app, principal.teamId, domain_id)),
})

const readChecks = route({
  method: 'GET',
  path: '/domains/{domain_id}/checks',
  docs: {
    operation: 'getDomainChecks',
    tag: 'Domains',
    summary: 'Get what the last DNS check of a domain found, without checking again',
    description: 'One entry for each record with what DNS answered. `verifyDomain` checks again.',
  },
  access: { as: 'team', permission: 'domain.read' },
  params,
  reply: { schema: DomainChecksJson },
  handle({ params: { domain_id: id }, principal, app }) {
    const { domains } = app.directory
    const domain = domains.get(principal.teamId, id)
    if (domain === undefined) throw notFound('domain')
    const { checks, changes } = domains.checks(principal.teamId, id) ?? { checks: [], changes: [] }
    return {
      checked_at: isoTimeOrNull(domain.checkedAt),
      checks: presentChecks(checks),
      changes: presentChanges(changes),
    }
  },
})

const verifyDomain = route({
  method: 'POST',
  path: '/domains/{domain_id}/verify',
  docs: {
    operation: 'verifyDomain',
    tag: 'Domains',
    summary: 'Check the DNS records of a domain now, without a cache',
    description:
      'Only the verification record is decisive; the other results help to correct the records. Once in 10 seconds for each ' +
      'domain (429). 503 when no name server answers: then nothing changes.',
  },
  access: { as: 'team', permission: 'domain.verify' },
  limits: { throttle: { times: 1, seconds: 10 } },
  params,
  reply: { schema: DomainVerificationJson, etag: true },
  async handle({ params: { domain_id }, principal, app, request }) {
    const matches = (current: Domain) => request.matches(presentDomain(current))
    const result = await app.administration.domains.verify(principal.teamId, domain_id, matches)
    return answer({ data: presentVerification(result), version: presentDomain(result.domain) })
  },
})

const removeDomain = route({
  method: 'DELETE',
  path: '/domains/{domain_id}',
  docs: {
    operation: 'deleteDomain',
    tag: 'Domains',
    summary: 'Delete a domain, its filters and its keys',
    description:
      '409 while an active or suspended mailbox has an address at the domain. After the deletion mail to the domain is refused, ' +
      'and queued messages from it are rejected. Logs stay; a team that creates the domain again gets new records to publish.',
  },
  access: { as: 'team', permission: 'domain.delete', fresh: true },
  params,
  reply: { schema: DeletedOf('domain'), etag: true },
  async handle({ params: { domain_id }, principal, app, request }) {
    const matches = (current: Domain) => request.matches(presentDomain(current))
    await app.directory.domains.delete(principal.teamId, domain_id, matches)
    return { deleted: true as const, id: domain_id }
  },
})

export const domains = [listDomains, createDomain, readDomain, readChecks, verifyDomain, removeDomain]
