// The daily limit of a team at the shared Amazon SES account, and its requests to raise it (docs/design/contract.md §2.3).

import { type Static, Type } from 'typebox'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { LimitRequest as RequestRecord, SharedLimitState } from '../../outbound/providers/shared-limit.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

const Count = Type.Integer({ minimum: 0 })

export const SharedLimitJson = record(
  'SharedLimit',
  'Recipients the team may send to through the shared Amazon SES account in a day that begins at 00:00 UTC.',
  {
    provider_id: Nullable({ ...Id('provider'), description: 'Null while the account is not enabled for the team.' }),
    daily_limit: Nullable({ ...Count, description: 'Null for no limit, and while the account is not enabled.' }),
    sent_today: { ...Count, description: 'Recipients Amazon SES accepted since 00:00 UTC.' },
    threshold_usage: Nullable({ ...Count, description: '80 % of the limit.' }),
    usage_ratio: Nullable(
      Type.Number({ description: 'Part of the limit that is used, four places; 1 for a limit of 0.' }),
    ),
    is_near_limit: Type.Boolean({ description: 'At the threshold or above.' }),
    can_request_increase: Type.Boolean({
      description: 'No request is pending, and none was denied in the last 24 hours.',
    }),
    pending_request_id: Nullable(Id('limitRequest')),
  },
  {
    provider_id: 'dprov_0a1b2c3d4e5f6g7h8i9j0k1l',
    daily_limit: 1000,
    sent_today: 850,
    threshold_usage: 800,
    usage_ratio: 0.85,
    is_near_limit: true,
    can_request_increase: true,
    pending_request_id: null,
  },
)
export type SharedLimitJson = Static<typeof SharedLimitJson>

export const LimitRequestStatus = Words(
  ['pending', 'approved', 'denied', 'cancelled'],
  'The operator approves or denies, the team may cancel; all three are final.',
)

/** Filter of lists; read with {@link limitStatusOf}. */
export const LimitRequestFilter = Words(
  ['pending', 'approved', 'denied', 'canceled', 'cancelled'],
  'Requests with this status. `cancelled` is the former spelling of `canceled` and deprecated here; records show it.',
)

/** The status of records that a filter selects. */
export function limitStatusOf(status: Static<typeof LimitRequestFilter> | undefined) {
  return status === 'canceled' ? 'cancelled' : status
}

const LIMIT_REQUEST = {
  id: Id('limitRequest'),
  status: LimitRequestStatus,
  current_daily_limit: { ...Count, description: 'The limit at the time of the request.' },
  current_daily_sent: { ...Count, description: 'Recipients sent to that day at the time of the request.' },
  approved_daily_limit: Nullable(Type.Integer({ minimum: 1 })),
  decision_note: Nullable(Type.String({ description: 'Note of the operator.' })),
  created_at: TimeOf('When it was created.'),
  decided_at: TimeOrNull('When it was decided or canceled; null while it is pending.'),
}

const LIMIT_REQUEST_EXAMPLE = {
  id: 'slir_0a1b2c3d4e5f6g7h8i9j0k1l',
  status: 'pending',
  current_daily_limit: 1000,
  current_daily_sent: 850,
  approved_daily_limit: null,
  decision_note: null,
  created_at: '2030-01-02T03:04:05.000Z',
  decided_at: null,
}

export const LimitRequestJson = record(
  'LimitRequest',
  'A request for a higher daily limit.',
  LIMIT_REQUEST,
  LIMIT_REQUEST_EXAMPLE,
)
export type LimitRequestJson = Static<typeof LimitRequestJson>

export const OperatorLimitRequest = record(
  'OperatorLimitRequest',
  'A request for a higher daily limit, with its reason for the operator.',
  {
    ...LIMIT_REQUEST,
    team_id: Id('team'),
    reason: Nullable(Type.String()),
    requested_daily_limit: Nullable(Type.Integer({ minimum: 1 })),
  },
  { ...LIMIT_REQUEST_EXAMPLE, team_id: 'team_0a1b2c3d4e5f6g7h8i9j0k1l', reason: 'A sale', requested_daily_limit: 5000 },
)
export type OperatorLimitRequest = Static<typeof OperatorLimitRequest>

export const LimitState = record('SharedLimitState', 'The limit, and the pending request.', {
  limit: SharedLimitJson,
  pending_request: Nullable(LimitRequestJson),
})

export const RequestedLimit = record('RequestedLimit', 'A request, and the limit after it.', {
  request: LimitRequestJson,
  limit: SharedLimitJson,
})

export const presentLimit = presenterOf<SharedLimitState>()(SharedLimitJson)

export const presentLimitRequest = presenterOf<RequestRecord>()(LimitRequestJson)

export const presentOperatorLimitRequest = presenterOf<RequestRecord>()(OperatorLimitRequest)
