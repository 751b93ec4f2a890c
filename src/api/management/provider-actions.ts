// Actions on a sending account: activate, deactivate, test (docs/design/sending.md §1).

import { Type } from 'typebox'
import { answer, route } from '../../http/route.ts'
import { Id, Nullable } from '../../http/schema.ts'
import type { Provider } from '../../outbound/model/records.ts'
import { ProviderJson, ProviderTest, presentProvider, presentTest } from '../schemas/provider.ts'
import { record } from '../schemas/record.ts'

const params = Type.Object({ provider_id: Id('provider') })
/** docs/design/http.md §9. */
const TEST_RATE = { times: 1, seconds: 10 }

const activateProvider = route({
  method: 'POST',
  path: '/providers/{provider_id}/activate',
  docs: {
    operation: 'activateProvider',
    tag: 'Providers',
    summary: 'Activate a sending account',
    description:
      'Messages are routed to it immediately when a test succeeded in the last 24 hours, else after a check succeeds.',
  },
  access: { as: 'team', permission: 'provider.manage' },
  params,
  reply: { schema: ProviderJson, etag: true },
  async handle({ params: { provider_id }, principal, app, request }) {
    const matches = (current: Provider) => request.matches(presentProvider(current))
    return presentProvider(await app.outbound.accounts.providers.activate(principal.teamId, provider_id, matches))
  },
})

const deactivateProvider = route({
  method: 'POST',
  path: '/providers/{provider_id}/deactivate',
  docs: {
    operation: 'deactivateProvider',
    tag: 'Providers',
    summary: 'Deactivate a sending account; queued messages are routed to others',
    description: 'It keeps its settings, and carries messages again after `activateProvider`.',
  },
  access: { as: 'team', permission: 'provider.manage' },
  params,
  reply: { schema: ProviderJson, etag: true },
  async handle({ params: { provider_id }, principal, app, request }) {
    const matches = (current: Provider) => request.matches(presentProvider(current))
    return presentProvider(await app.outbound.accounts.providers.deactivate(principal.teamId, provider_id, matches))
  },
})

const testProvider = route({
  method: 'POST',
  path: '/providers/{provider_id}/test',
  docs: {
    operation: 'testProvider',
    tag: 'Providers',
    summary: 'Test a sending account now',
    description:
      'Connects, starts TLS and signs in; with an address it also sends a one-line message. The status is 200 also when the test ' +
      'fails. Takes at most 15 seconds; once in 10 seconds.',
  },
  access: { as: 'team', permission: 'provider.manage' },
  params,
  limits: { throttle: TEST_RATE },
  body: {
    schema: record(
      'ProviderTestInput',
      'Optional recipient of a test message.',
      {
        to_email: Type.Optional(
          Nullable(
            Type.String({
              minLength: 3,
              maxLength: 254,
              pattern: '^[^@\\s]+@[^@\\s]+$',
              description: 'Receives a one-line message; without it the test ends after signing in.',
              examples: ['me@shop.example'],
            }),
          ),
        ),
      },
      { to_email: 'me@shop.example' },
    ),
    optional: true,
  },
  reply: { schema: ProviderTest, etag: true },
  async handle({ params: { provider_id }, body, principal, app, request }) {
    const matches = (current: Provider) => request.matches(presentProvider(current))
    const to = body?.to_email ?? null
    const tested = await app.outbound.accounts.checks.test(principal.teamId, provider_id, to, matches)
    return answer({ data: presentTest(tested), version: presentProvider(tested.provider) })
  },
})

export const providerActions = [activateProvider, deactivateProvider, testProvider]
