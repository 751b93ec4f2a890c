// The sending accounts of a team.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import type { Provider } from '../../outbound/model/records.ts'
import { openedByAccount } from '../../people/opens.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import {
  ProviderJson,
  ProviderStats,
  ProviderStatus,
  ProviderType,
  ProviderUse,
  presentProvider,
  presentStats,
  presentUse,
} from '../schemas/provider.ts'
import { ProviderCreate, ProviderUpdate, readNewProvider, readProvider } from '../schemas/provider-input.ts'
import { isOtherSmtp } from './other-servers.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ provider_id: Id('provider') })

const listProviders = route({
  method: 'GET',
  path: '/providers',
  docs: {
    operation: 'listProviders',
    tag: 'Providers',
    summary: 'List sending accounts, newest first',
    description: 'Secrets are not in the answer. `status` says whether an account carries messages.',
  },
  access: { as: 'team', permission: 'provider.read' },
  query: pageQuery({ limit: MANAGEMENT_PAGE, status: ProviderStatus, type: ProviderType }),
  reply: { schema: listOf(ProviderJson) },
  handle({ query: { status, type, limit }, after, principal, app }) {
    const page = app.outbound.accounts.providers.list(principal.teamId, { status, type, limit, after })
    return { items: page.items.map(presentProvider), next: page.next }
  },
})

const readStats = route({
  method: 'GET',
  path: '/providers/stats',
  docs: {
    operation: 'getProviderStats',
    tag: 'Providers',
    summary: 'Count the sending accounts of the team',
    description: 'Counts only; `listProviders` has the accounts.',
  },
  access: { as: 'team', permission: 'provider.read' },
  reply: { schema: ProviderStats },
  handle({ principal, app }) {
    return presentStats(app.outbound.accounts.providers.stats(principal.teamId))
  },
})

const createProvider = route({
  method: 'POST',
  path: '/providers',
  docs: {
    operation: 'createProvider',
    tag: 'Providers',
    summary: 'Create an SMTP sending account',
    description: 'It is checked immediately and used after the check succeeds. 409 when the team has 100 accounts.',
  },
  // It sees what is sent.
  access: { as: 'team', permission: 'provider.create', fresh: true },
  idempotent: true,
  body: { schema: ProviderCreate },
  reply: { schema: ProviderJson, status: 201 },
  async handle({ body, principal, app, request }) {
    const provider = await app.outbound.accounts.providers.create(principal.teamId, readNewProvider(body))
    request.opens(openedByAccount(provider.smtpHost))
    return answer({ data: presentProvider(provider), headers: { Location: `/api/v1/providers/${provider.id}` } })
  },
})

const readOne = route({
  method: 'GET',
  path: '/providers/{provider_id}',
  docs: {
    operation: 'getProvider',
    tag: 'Providers',
    summary: 'Get a sending account',
    description: 'With its limits, its state, and the last failure of its server. Secrets are not in the answer.',
  },
  access: { as: 'team', permission: 'provider.read' },
  params,
  reply: { schema: ProviderJson, etag: true },
  handle({ params: { provider_id }, principal, app }) {
    const provider = app.outbound.accounts.providers.get(principal.teamId, provider_id)
    if (provider === undefined) throw notFound('provider')
    return presentProvider(provider)
  },
})

const readUse = route({
  method: 'GET',
  path: '/providers/{provider_id}/usage',
  docs: {
    operation: 'getProviderUsage',
    tag: 'Providers',
    summary: 'Get what is used of the quotas of a sending account now',
    description: 'What the shared account sends for the team is in `GET /providers/shared-amazon-ses-limit-request`.',
  },
  access: { as: 'team', permission: 'provider.read' },
  params,
  reply: { schema: ProviderUse },
  handle({ params: { provider_id }, principal, app }) {
    const provider = app.outbound.accounts.providers.get(principal.teamId, provider_id)
    if (provider === undefined) throw notFound('provider')
    return presentUse(app.outbound.accounts.quotaCounts.windows(app.db.read, provider))
  },
})

const updateProvider = route({
  method: 'PATCH',
  path: '/providers/{provider_id}',
  docs: {
    operation: 'updateProvider',
    tag: 'Providers',
    summary: 'Update a sending account; members left out stay',
    description:
      'After a change of host, port, protocol, user name or password it is checked again. Another host or user name needs `smtp_password` (422 ' +
      '`required`): the stored one is not sent elsewhere. In a browser they need a confirmation of the last 15 minutes, too. 409 when the ' +
      'operator manages it.',
  },
  access: { as: 'team', permission: 'provider.update' },
  params,
  body: { schema: ProviderUpdate },
  reply: { schema: ProviderJson, etag: true },
  async handle({ params: { provider_id }, body, principal, app, request }) {
    const { teamId } = principal
    const isMoved = isOtherSmtp(body, app.outbound.accounts.providers.get(teamId, provider_id))
    if (isMoved) request.requireFreshProof()
    const matches = (current: Provider) => request.matches(presentProvider(current))
    const change = readProvider(body)
    const updated = await app.outbound.accounts.providers.update(teamId, provider_id, change, matches)
    if (isMoved) request.opens(openedByAccount(updated.smtpHost))
    return presentProvider(updated)
  },
})

const deleteProvider = route({
  method: 'DELETE',
  path: '/providers/{provider_id}',
  docs: {
    operation: 'deleteProvider',
    tag: 'Providers',
    summary: 'Delete a sending account; the delivery log keeps its name',
    description: '409 when it is shared, or a delivery group or the send_scope of a mailbox uses it.',
  },
  access: { as: 'team', permission: 'provider.delete' },
  params,
  reply: { schema: DeletedOf('provider'), etag: true },
  async handle({ params: { provider_id }, principal, app, request }) {
    const matches = (current: Provider) => request.matches(presentProvider(current))
    await app.outbound.accounts.providers.remove(principal.teamId, provider_id, matches)
    return { deleted: true, id: provider_id }
  },
})

export const providers = [listProviders, readStats, createProvider, readOne, readUse, updateProvider, deleteProvider]
