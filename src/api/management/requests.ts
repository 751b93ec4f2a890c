// The API requests of a team by its keys.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import type { Context } from '../../context.ts'
import { allows } from '../../directory/names/permissions.ts'
import { REQUESTS_KEPT, type ApiRequest as RequestRecord } from '../../directory/names/request-log.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, Nullable, pageQuery, Words } from '../../http/schema.ts'
import { searchFilters, searchOf, timeFilters, timeRange } from '../schemas/list-filters.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { LOG_PAGE } from './pages.ts'

const STATUSES = { success: [200, 399], client_error: [400, 499], server_error: [500, 599] } as const
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const ApiRequest = record('ApiRequest', 'A request with a key of the team or of one of its mailboxes.', {
  id: { ...Id('request'), description: 'Its `request_id`.' },
  at: TimeOf('When it arrived.'),
  method: Type.String(),
  route: Nullable(
    Type.String({ description: 'Path with parameters as `{name}`; null for a path that is none of the API.' }),
  ),
  operation: Nullable(Type.String({ description: 'As the OpenAPI document names it.' })),
  status: Type.Integer({ description: 'HTTP status of the response.' }),
  ms: Type.Integer({ minimum: 0, description: 'Milliseconds until the response was ready.' }),
  key_id: Type.String({ description: 'Of the key, or of the registration of an agent.' }),
  key_name: Nullable(
    Type.String({ description: 'Null for agents, for keys that are gone, and without `apikey.read`.' }),
  ),
  error_code: Nullable(Type.String({ description: 'Null for a success.' })),
})

const listRequests = route({
  method: 'GET',
  path: '/team/requests',
  docs: {
    operation: 'listApiRequests',
    tag: 'Team',
    summary: 'List the API requests of the team, newest first',
    description:
      `Requests with keys of the last 3 days, at most the newest ${REQUESTS_KEPT}, without bodies, queries and ids in paths. Left out: ` +
      'requests above the rate limit, those without a valid key, and what people do in a browser (`GET /team/audit` has their changes).',
  },
  access: { as: 'team', permission: 'logs.read' },
  query: pageQuery({
    limit: LOG_PAGE,
    ...timeFilters('Arrived'),
    key_id: Type.String({ minLength: 1, maxLength: 64, description: 'Requests with this key.' }),
    method: Words(METHODS, 'Requests with this method.'),
    status: Words(Object.keys(STATUSES) as (keyof typeof STATUSES)[], 'success: below 400.'),
    ...searchFilters('A part of the path, the operation, the error code or the request id.'),
  }),
  reply: { schema: listOf(ApiRequest) },
  async handle({ query, after, principal, app }) {
    const { teamId, permissions } = principal
    const { key_id: keyId, method, status, limit } = query
    const range = status === undefined ? undefined : STATUSES[status]
    const filter = { ...timeRange(query), keyId, method, status: range, search: searchOf(query), limit, after }
    const mayReadKeys = allows(permissions, 'apikey.read')
    const page = await app.directory.requests.list(teamId, filter)
    return { items: page.items.map((one) => presentRequest(app, one, mayReadKeys)), next: page.next }
  },
})

function presentRequest({ directory }: Context, one: RequestRecord, mayReadKeys: boolean): Static<typeof ApiRequest> {
  const { id, teamId, at, method, route: path, operation, status, ms, keyId, errorCode } = one
  const name = mayReadKeys ? (directory.keys.get(teamId, keyId)?.name ?? null) : null
  return {
    ...{ id, at: isoTime(at), method, route: path, operation, status, ms },
    ...{ key_id: keyId, key_name: name, error_code: errorCode },
  }
}

export const requests = [listRequests]
