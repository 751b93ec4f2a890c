// The sending accounts of a team.

import { Type } from 'typebox'
import { notFound, ProductError } from '../../../base/errors.ts'
import type { Provider as ProviderRecord } from '../../../outbound/records.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, Nullable, pageQuery } from '../../http/schema.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import {
  Provider,
  ProviderStats,
  ProviderStatus,
  ProviderTest,
  ProviderType,
  presentProvider,
  presentStats,
  presentTest,
} from '../schemas/provider.ts'
import { ProviderCreate, ProviderUpdate, readNewProvider, readProvider } from '../schemas/provider-input.ts'
import { record } from '../schemas/record.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ provider_id: Id('provider') })
const TEST_PACE = { times: 1, seconds: 10 }

const listProviders = route({
  method: 'GET',
  path: '/providers',
  operation: 'listProviders',
  tag: 'Providers',
  summary: 'Lists the sending accounts of the team, newest first.',
  as: 'team',
  permission: 'provider.read',
  query: pageQuery({ limit: MANAGEMENT_PAGE, status: ProviderStatus, type: ProviderType }),
  reply: listOf(Provider),
  async handle({ query: { status, type, limit }, after, principal, app }) {
    const page = await app.outbound.providers.list(principal.teamId, { status, type, limit, after })
    return { items: page.items.map(presentProvider), next: page.next }
  },
})

const readStats = route({
  method: 'GET',
  path: '/providers/stats',
  operation: 'getProviderStats',
  tag: 'Providers',
  summary: 'Counts the sending accounts of the team.',
  as: 'team',
  permission: 'provider.read',
  reply: ProviderStats,
  async handle({ principal, app }) {
    return presentStats(await app.outbound.providers.stats(principal.teamId))
  },
})

const createProvider = route({
  method: 'POST',
  path: '/providers',
  operation: 'createProvider',
  tag: 'Providers',
  summary: 'Adds a sending account on SMTP.',
  description: 'It is checked at once and takes mail when that succeeds. 409 when the team has 100 accounts.',
  as: 'team',
  permission: 'provider.create',
  idempotent: true,
  body: ProviderCreate,
  reply: Provider,
  status: 201,
  async handle({ body, principal, app }) {
    const provider = await app.outbound.providers.create(principal.teamId, readNewProvider(body))
    return answer({ data: presentProvider(provider), headers: { Location: `/api/v1/providers/${provider.id}` } })
  },
})

const readOne = route({
  method: 'GET',
  path: '/providers/{provider_id}',
  operation: 'getProvider',
  tag: 'Providers',
  summary: 'Shows one sending account.',
  as: 'team',
  permission: 'provider.read',
  params,
  reply: Provider,
  etag: true,
  async handle({ params: { provider_id }, principal, app }) {
    const provider = await app.outbound.providers.get(principal.teamId, provider_id)
    if (provider === undefined) throw notFound('provider')
    return presentProvider(provider)
  },
})

const updateProvider = route({
  method: 'PATCH',
  path: '/providers/{provider_id}',
  operation: 'updateProvider',
  tag: 'Providers',
  summary: 'Changes a sending account; what is left out stays.',
  description:
    'A change of host, port, protocol, user name or password has it checked anew. 409 when it is managed by the operator.',
  as: 'team',
  permission: 'provider.update',
  params,
  body: ProviderUpdate,
  reply: Provider,
  etag: true,
  async handle({ params: { provider_id }, body, principal, app, request }) {
    if (Object.keys(body).length === 0) throw new ProductError('validation_error', 'The body names nothing to change.')
    const matches = (current: ProviderRecord) => request.matches(presentProvider(current))
    const change = readProvider(body)
    return presentProvider(await app.outbound.providers.update(principal.teamId, provider_id, change, matches))
  },
})

const deleteProvider = route({
  method: 'DELETE',
  path: '/providers/{provider_id}',
  operation: 'deleteProvider',
  tag: 'Providers',
  summary: 'Ends a sending account; the delivery log keeps its name.',
  description: '409 when it is shared, or still named by a delivery group or the send_scope of a mailbox.',
  as: 'team',
  permission: 'provider.delete',
  params,
  reply: DeletedOf('provider'),
  async handle({ params: { provider_id }, principal, app, request }) {
    const matches = (current: ProviderRecord) => request.matches(presentProvider(current))
    await app.outbound.providers.remove(principal.teamId, provider_id, matches)
    return { deleted: true, id: provider_id }
  },
})

const activateProvider = route({
  method: 'POST',
  path: '/providers/{provider_id}/activate',
  operation: 'activateProvider',
  tag: 'Providers',
  summary: 'Switches a sending account on.',
  description: 'It takes mail at once when it was tested in the last 24 hours, else when a check succeeds.',
  as: 'team',
  permission: 'provider.manage',
  params,
  reply: Provider,
  async handle({ params: { provider_id }, principal, app }) {
    return presentProvider(await app.outbound.providers.activate(principal.teamId, provider_id))
  },
})

const deactivateProvider = route({
  method: 'POST',
  path: '/providers/{provider_id}/deactivate',
  operation: 'deactivateProvider',
  tag: 'Providers',
  summary: 'Switches a sending account off; mail that waits goes another way.',
  as: 'team',
  permission: 'provider.manage',
  params,
  reply: Provider,
  async handle({ params: { provider_id }, principal, app }) {
    return presentProvider(await app.outbound.providers.deactivate(principal.teamId, provider_id))
  },
})

const testProvider = route({
  method: 'POST',
  path: '/providers/{provider_id}/test',
  operation: 'testProvider',
  tag: 'Providers',
  summary: 'Tests a sending account now.',
  description:
    'Connects, secures and signs in; with an address it also sends a one-line mail. The answer is 200 also when the test ' +
    'fails. At most 15 seconds, and once in 10 seconds.',
  as: 'team',
  permission: 'provider.manage',
  params,
  pace: TEST_PACE,
  body: record('ProviderTestInput', 'Whom to send a test mail, if anybody.', {
    to_email: Type.Optional(
      Nullable(
        Type.String({ minLength: 3, maxLength: 254, pattern: '^[^@\\s]+@[^@\\s]+$', examples: ['me@shop.example'] }),
      ),
    ),
  }),
  bodyOptional: true,
  reply: ProviderTest,
  async handle({ params: { provider_id }, body, principal, app }) {
    const { providers } = app.outbound
    return presentTest(await providers.test(principal.teamId, provider_id, body?.to_email ?? null))
  },
})

export const providers = [
  listProviders,
  readStats,
  createProvider,
  readOne,
  updateProvider,
  deleteProvider,
  activateProvider,
  deactivateProvider,
  testProvider,
]
