// The team's limit at the shared Amazon SES account, and requests to raise it (docs/design/sending.md §5).

import { type Static, Type } from 'typebox'
import type { Context } from '../../context.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { DAILY_MAX, NOTE_MAX } from '../../outbound/providers/shared-limit-record.ts'
import { record } from '../schemas/record.ts'
import {
  LimitRequestFilter,
  LimitRequestJson,
  LimitState,
  limitStatusOf,
  presentLimit,
  presentLimitRequest,
  RequestedLimit,
} from '../schemas/shared-limit.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const PATH = '/providers/shared-amazon-ses-limit-request'
const TAG = 'Providers'

const readLimit = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'getSharedLimit',
    tag: TAG,
    summary: 'Get the daily limit at the shared Amazon SES account, and the pending request',
    description: 'The limit is of recipients in 24 hours; `createLimitRequest` asks for a higher one.',
  },
  access: { as: 'team', permission: 'provider.read' },
  reply: { schema: LimitState, etag: true },
  handle({ principal, app }) {
    return limitState(app, principal.teamId)
  },
})

const listRequests = route({
  method: 'GET',
  path: `${PATH}s`,
  docs: {
    operation: 'listLimitRequests',
    tag: TAG,
    summary: 'List requests for a higher limit, newest first',
    description: 'The operator approves or denies them; one can be pending at a time.',
  },
  access: { as: 'team', permission: 'provider.read' },
  query: pageQuery({ limit: MANAGEMENT_PAGE, status: LimitRequestFilter }),
  reply: { schema: listOf(LimitRequestJson) },
  handle({ query: { status, limit }, after, principal, app }) {
    const page = app.outbound.accounts.sharedLimit.list({
      teamId: principal.teamId,
      status: limitStatusOf(status),
      limit,
      after,
    })
    return { items: page.items.map(presentLimitRequest), next: page.next }
  },
})

const createRequest = route({
  method: 'POST',
  path: PATH,
  docs: {
    operation: 'createLimitRequest',
    tag: TAG,
    summary: 'Request a higher daily limit',
    description:
      '409 while another request is pending, within 24 hours after one was denied, when the account is not enabled for the team, ' +
      'and when it has no limit.',
  },
  access: { as: 'team', permission: 'provider.manage' },
  idempotent: true,
  body: {
    optional: true,
    schema: record(
      'LimitRequestCreate',
      'The request to the operator; the reason is shown to the operator only.',
      {
        reason: Type.Optional(
          Type.String({ minLength: 1, maxLength: NOTE_MAX, description: 'Why a higher limit is needed.' }),
        ),
        requested_daily_limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: DAILY_MAX, description: 'More than the present limit.' }),
        ),
      },
      { reason: 'The shop opens in a second country.', requested_daily_limit: 5000 },
    ),
  },
  reply: { schema: RequestedLimit, status: 201, etag: true },
  async handle({ body, principal, app, request: facts }) {
    // Only one request can be pending: of two concurrent ones with the same tag, the second fails for that reason.
    if (facts.conditional) facts.matches(limitState(app, principal.teamId))
    const { request, limit } = await app.outbound.accounts.sharedLimit.create(principal.teamId, {
      reason: body.reason ?? null,
      requestedDailyLimit: body.requested_daily_limit ?? null,
    })
    const data = { request: presentLimitRequest(request), limit: presentLimit(limit) }
    return answer({ data, headers: { Location: `/api/v1${PATH}` } })
  },
})

const cancelRequest = route({
  method: 'POST',
  path: `${PATH}/{request_id}/cancel`,
  docs: {
    operation: 'cancelLimitRequest',
    tag: TAG,
    summary: 'Cancel a pending request',
    description: '409 when it is no longer pending.',
  },
  access: { as: 'team', permission: 'provider.manage' },
  params: Type.Object({ request_id: Id('limitRequest') }),
  reply: { schema: RequestedLimit, etag: true },
  async handle({ params: { request_id }, principal, app, request: facts }) {
    if (facts.conditional) facts.matches(limitState(app, principal.teamId))
    const { request, limit } = await app.outbound.accounts.sharedLimit.cancel(principal.teamId, request_id)
    const data = { request: presentLimitRequest(request), limit: presentLimit(limit) }
    return answer({ data, version: limitState(app, principal.teamId) })
  },
})

function limitState(app: Context, teamId: string): Static<typeof LimitState> {
  const { sharedLimit } = app.outbound.accounts
  const pending = sharedLimit.pendingOf(teamId)
  return {
    limit: presentLimit(sharedLimit.limitOf(teamId)),
    pending_request: pending === undefined ? null : presentLimitRequest(pending),
  }
}

export const sharedLimit = [readLimit, listRequests, createRequest, cancelRequest]
