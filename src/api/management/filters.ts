// The sender filters of a domain, and of a mailbox for its own credentials and for its team.

import { type TObject, Type } from 'typebox'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { type Route, type RouteAccess, type RouteDocs, route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import { writableAccountOf } from '../rules/account.ts'
import { FILTERS, refuseOutside } from '../rules/outside.ts'
import { FilterStateJson, presentFilter } from '../schemas/filter-state.ts'
import { domainOf } from './domain-of.ts'
import {
  type MailboxCaller,
  mailboxIn,
  OWN_MAILBOX,
  paramsOf,
  type RouteVariant,
  TEAM_MAILBOX,
} from './route-variants.ts'

interface OwnerParams {
  domain_id?: string
  mailbox_id?: string
}

/** What has a filter, and who reaches it. */
interface FilterOwner {
  path: string
  params: TObject
  docs: Pick<RouteDocs, 'tag' | 'errors'>
  names: { read: string; replace: string }
  /** In summaries. */
  what: string
  about: string
  /** In the description of the replacement. */
  rule: string
  read: RouteAccess<'mailbox' | 'team'>
  change: RouteAccess<'mailbox' | 'team'>
  /** @throws ProductError not_found, conflict, insufficient_permissions */
  find(app: Context, principal: MailboxCaller, params: OwnerParams): { id: string }
}

const UNCHANGED =
  'With the ETag of a GET in `If-Match`, the filter is replaced only if it has not changed since (409 otherwise).'
const MANAGE = { as: 'team', permission: 'mailbox.admin.manage' } as const

const DOMAIN: FilterOwner = {
  path: '/domains/{domain_id}/filters',
  params: Type.Object({ domain_id: Id('domain') }),
  docs: { tag: 'Domains' },
  names: { read: 'getDomainFilters', replace: 'replaceDomainFilters' },
  what: 'a domain',
  about: 'The rules hold for all mailboxes of the domain.',
  rule:
    'Applies to mail received from now on. Messages of blocked senders are rejected during the SMTP session and not ' +
    'stored.',
  read: { as: 'team', permission: 'domain.read' },
  change: MANAGE,
  find: (app, { teamId }, { domain_id }) => domainOf(app, teamId, domain_id!),
}

function ofMailbox(
  variant: RouteVariant,
  resource: string,
  own: Pick<FilterOwner, 'names' | 'what' | 'read' | 'change'>,
): FilterOwner {
  return {
    ...own,
    path: variant.path + resource,
    params: paramsOf(variant, {}),
    docs: { tag: variant.tag, errors: ['conflict'] },
    about:
      'Asked before a message is accepted; a refused one is in the inbound log. `mode` says whether the rules name who may write to the ' +
      'mailbox or who may not.',
    rule: 'Evaluated before the filter of the domain; applies to mail received from now on.',
    find: filteredMailbox,
  }
}

const OWN = ofMailbox(OWN_MAILBOX, '/sender-filter', {
  names: { read: 'getSenderFilter', replace: 'replaceSenderFilter' },
  what: 'the mailbox; 403 for agents',
  read: { as: 'mailbox', permission: 'mailbox.read' },
  change: { as: 'mailbox', permission: 'mailbox.write' },
})
const TEAM = ofMailbox(TEAM_MAILBOX, '/filters', {
  names: { read: 'getMailboxFilters', replace: 'replaceMailboxFilters' },
  ...{ what: 'a mailbox', read: MANAGE, change: MANAGE },
})

/** With the credentials of its inbox, an agent does not choose who writes to it. @throws ProductError */
function filteredMailbox(app: Context, principal: MailboxCaller, params: OwnerParams) {
  const mailbox = mailboxIn(app, principal, params)
  refuseOutside(mailbox, FILTERS)
  if (principal.kind === 'team' || !mailbox.isAgent) return mailbox
  throw new ProductError('insufficient_permissions', 'The team of an agent decides who may write to its inbox.')
}

function readFilter({ path, params, docs, names, what, about, read, find }: FilterOwner): Route {
  return route({
    method: 'GET',
    path,
    docs: { ...docs, operation: names.read, summary: `Get the sender filter of ${what}`, description: about },
    access: read,
    params,
    reply: { schema: FilterStateJson, etag: true },
    handle: ({ params: values, principal, app }) =>
      presentFilter(app.directory.filters.get(find(app, principal, values as OwnerParams).id)),
  })
}

function replaceFilter({ path, params, docs, names, what, rule, change, find }: FilterOwner): Route {
  return route({
    method: 'PUT',
    path,
    docs: {
      ...{ operation: names.replace, tag: docs.tag },
      summary: `Replace the sender filter of ${what}`,
      description: `${rule} ${UNCHANGED}`,
    },
    access: change,
    params,
    body: { schema: FilterStateJson },
    reply: { schema: FilterStateJson, etag: true },
    async handle({ params: values, body, request, principal, app }) {
      if (principal.kind === 'mailbox') writableAccountOf(app, principal)
      const { id } = find(app, principal, values as OwnerParams)
      return presentFilter(
        await app.directory.filters.put(id, body, (current) => request.matches(presentFilter(current))),
      )
    },
  })
}

const routesOf = (owner: FilterOwner): Route[] => [readFilter(owner), replaceFilter(owner)]
export const domainFilters = routesOf(DOMAIN)
export const mailboxFilters = routesOf(TEAM)
export const senderFilter = routesOf(OWN)
