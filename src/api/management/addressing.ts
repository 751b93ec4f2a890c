// Addresses of a domain beyond mailboxes and aliases: separators, patterns, what an address resolves to, and those that ended.

import { Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import type { AddressRules } from '../../directory/mailboxes/addressing.ts'
import { NEW_PER_DOMAIN, NEW_PER_SOURCE } from '../../directory/mailboxes/pattern-addresses.ts'
import { domainName } from '../../directory/names/domain-name.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { parseMailbox } from '../../mime/address.ts'
import {
  AddressingJson,
  presentAddressing,
  presentResolved,
  presentRetired,
  ResolvedAddressJson,
  RetiredAddressJson,
} from '../schemas/addressing.ts'
import { EMAIL_TEXT_MAX } from '../schemas/mailbox.ts'
import { domainOf } from './domain-of.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ domain_id: Id('domain') })
const READ = { as: 'team', permission: 'mailbox.admin.read' } as const

const getAddressing = route({
  method: 'GET',
  path: '/domains/{domain_id}/addressing',
  docs: {
    operation: 'getDomainAddressing',
    tag: 'Domains',
    summary: 'Get the separators and patterns of a domain',
    description: 'They decide about addresses that no mailbox and no alias has.',
  },
  access: READ,
  params,
  reply: { schema: AddressingJson, etag: true },
  handle: ({ params: { domain_id: id }, principal, app }) =>
    presentAddressing(app.directory.addressing.get(principal.teamId, id)),
})

const replaceAddressing = route({
  method: 'PUT',
  path: '/domains/{domain_id}/addressing',
  docs: {
    operation: 'replaceDomainAddressing',
    tag: 'Domains',
    summary: 'Replace the separators and patterns of a domain',
    description:
      'Holds for mail received from now on. A pattern leads to a mailbox of the team, which may write as every address that a message has ' +
      'reached it by, or that it has an identity of. Addresses that ended, postmaster, abuse and the names that certificate authorities ' +
      `write to match no pattern. Of addresses never seen before, a source brings at most ${NEW_PER_SOURCE} an hour and all sources ` +
      `${NEW_PER_DOMAIN} a day; further ones are deferred. With the ETag of a GET in \`If-Match\`, the rules are replaced only if they ` +
      'have not changed since (409 otherwise).',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params,
  body: { schema: AddressingJson },
  reply: { schema: AddressingJson, etag: true },
  async handle({ params: { domain_id: id }, body, principal, app, request }) {
    const patterns = body.patterns.map(({ pattern, mailbox_id: mailboxId }) => ({ pattern, mailboxId }))
    const check = (current: AddressRules) => request.matches(presentAddressing(current))
    const rules = { separators: body.separators, patterns }
    return presentAddressing(await app.administration.addressing.put(principal.teamId, id, rules, check))
  },
})

const resolveAddress = route({
  method: 'GET',
  path: '/domains/{domain_id}/addressing/resolve',
  docs: {
    operation: 'lookupDomainAddress',
    tag: 'Domains',
    summary: 'Find out where mail to an address of a domain goes',
    description: 'As at RCPT, without limits and filters.',
  },
  access: READ,
  params,
  query: Type.Object({
    address: Type.String({
      minLength: 1,
      maxLength: EMAIL_TEXT_MAX,
      description: 'At the domain; the part before the @ is enough.',
      examples: ['shop-17'],
    }),
  }),
  reply: { schema: ResolvedAddressJson },
  handle({ params: { domain_id: id }, query: { address }, principal, app }) {
    const domain = domainOf(app, principal.teamId, id)
    const parsed = parseMailbox(address.includes('@') ? address : `${address}@${domain.name}`)
    if (parsed === null || domainName(parsed.domain) !== domain.name) {
      throw invalid('address', 'invalid_format', `Give an address at ${domain.name}.`)
    }
    const receiver = app.directory.mailboxes.receiver(parsed.local, domain.name)
    // Another team may receive for the name by now.
    const isOwn = 'domain' in receiver && receiver.domain?.id === domain.id
    return presentResolved(isOwn ? receiver : { reason: 'unknown_domain' })
  },
})

const listRetired = route({
  method: 'GET',
  path: '/domains/{domain_id}/retired-addresses',
  docs: {
    operation: 'listRetiredAddresses',
    tag: 'Domains',
    summary: 'List the addresses of a domain that ended, newest first',
    description: 'Those of deleted mailboxes and removed aliases. A new mailbox or alias may take one again.',
  },
  access: READ,
  params,
  query: pageQuery({ limit: MANAGEMENT_PAGE }),
  reply: { schema: listOf(RetiredAddressJson) },
  handle({ params: { domain_id: id }, query: { limit }, after, principal, app }) {
    const domain = domainOf(app, principal.teamId, id)
    const page = app.directory.retired.list(domain.id, { limit, after })
    return { items: page.items.map(presentRetired), next: page.next }
  },
})

export const addressing = [getAddressing, replaceAddressing, resolveAddress, listRetired]
