// What is done with a sending account: switched on and off, and tested (decisions §3.1).

import { Type } from 'typebox'
import { answer, route } from '../../http/route.ts'
import { Id, Nullable } from '../../http/schema.ts'
import type { Provider as ProviderRecord } from '../../outbound/records.ts'
import { Provider, ProviderTest, presentProvider, presentTest } from '../schemas/provider.ts'
import { record } from '../schemas/record.ts'

const params = Type.Object({ provider_id: Id('provider') })
/** Decisions §1.9. */
const TEST_PACE = { times: 1, seconds: 10 }

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
  etag: true,
  async handle({ params: { provider_id }, principal, app, request }) {
    const matches = (current: ProviderRecord) => request.matches(presentProvider(current))
    return presentProvider(await app.outbound.providers.activate(principal.teamId, provider_id, matches))
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
  etag: true,
  async handle({ params: { provider_id }, principal, app, request }) {
    const matches = (current: ProviderRecord) => request.matches(presentProvider(current))
    return presentProvider(await app.outbound.providers.deactivate(principal.teamId, provider_id, matches))
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
  throttle: TEST_PACE,
  body: record(
    'ProviderTestInput',
    'Whom to send a test mail, if anybody.',
    {
      to_email: Type.Optional(
        Nullable(
          Type.String({
            minLength: 3,
            maxLength: 254,
            pattern: '^[^@\\s]+@[^@\\s]+$',
            description: 'Gets a one-line mail; without it the test ends when signed in.',
            examples: ['me@shop.example'],
          }),
        ),
      ),
    },
    { to_email: 'me@shop.example' },
  ),
  bodyOptional: true,
  reply: ProviderTest,
  etag: true,
  async handle({ params: { provider_id }, body, principal, app, request }) {
    const matches = (current: ProviderRecord) => request.matches(presentProvider(current))
    const { providers } = app.outbound
    const tested = await providers.test(principal.teamId, provider_id, body?.to_email ?? null, matches)
    return answer({ data: presentTest(tested), version: presentProvider(tested.provider) })
  },
})

export const providerActions = [activateProvider, deactivateProvider, testProvider]
