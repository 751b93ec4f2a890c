// A sending account without its secrets (docs/design/contract.md §2.2).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Timestamp, Words } from '../../http/schema.ts'
import { PROVIDER_TYPES, type Provider } from '../../outbound/model/records.ts'
import type { Tested } from '../../outbound/providers/health.ts'
import { allowedActions, type ProviderStats as Stats } from '../../outbound/providers/providers.ts'
import type { QuotaWindow } from '../../outbound/providers/quotas.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

export const ProviderType = Words(PROVIDER_TYPES, '`amazon_ses` is the shared account the operator manages.')
export const ProviderStatus = Words(
  ['active', 'inactive', 'error', 'pending'],
  'Only an active account is used. `pending`: it is being checked; `error`: the check failed and is repeated periodically.',
)
export const SmtpProtocol = Words(
  ['tls', 'ssl', 'none', 'starttls'],
  '`ssl`: implicit TLS; `starttls`: STARTTLS required; `tls`: TLS by port (465 implicit, else STARTTLS); `none`: never ' +
    'encrypted. Certificates are verified.',
)

const QuotaRange = record('QuotaRange', 'The cap of each window is a random number in this range.', {
  min: Type.Integer({ minimum: 1 }),
  max: Type.Integer({ minimum: 1 }),
})

const Quotas = record('Quotas', 'Recipients in each fixed UTC window; null for no cap.', {
  per_second: Nullable(QuotaRange),
  per_minute: Nullable(QuotaRange),
  per_hour: Nullable(QuotaRange),
  per_day: Nullable(QuotaRange),
})

const QuotaUse = record('QuotaUse', 'A window that has a quota.', {
  window: Words(['second', 'minute', 'hour', 'day'], 'Windows begin at whole ones, UTC.'),
  used: Type.Integer({ minimum: 0, description: 'Recipients handed over in it.' }),
  most: Type.Integer({ minimum: 0, description: 'The cap of this window; of a range, what was drawn for it.' }),
  ends_at: TimeOf('When counting begins again.'),
})

export const ProviderUse = record('ProviderUse', 'What is used of the quotas of a sending account now.', {
  windows: Type.Array(QuotaUse, { description: 'Those with a quota, the shortest first.' }),
})

export function presentUse(windows: readonly QuotaWindow[]): Static<typeof ProviderUse> {
  return {
    windows: windows.map(({ window, used, most, endsAt }) => ({ window, used, most, ends_at: isoTime(endsAt) })),
  }
}

const EXAMPLE = {
  id: 'dprov_m1n2b3v4c5x6z7l8k9j0h1g2',
  name: 'Primary SMTP',
  type: 'smtp',
  status: 'active',
  status_reason: null,
  is_active: true,
  is_shared: false,
  is_editable: true,
  allowed_actions: { update: true, delete: true, activate: false, deactivate: true, test: true },
  smtp_host: 'smtp.example.com',
  smtp_port: 587,
  smtp_protocol: 'starttls',
  smtp_username: 'shop',
  has_smtp_password: true,
  from_email: 'news@shop.example',
  from_name: 'Shop',
  reply_to_email: null,
  reply_to_name: null,
  return_path: null,
  verp: false,
  oauth_email: null,
  has_refresh_token: false,
  quotas: { per_second: null, per_minute: { min: 50, max: 60 }, per_hour: null, per_day: null },
  percentage: 70,
  tracking_domain: null,
  created_at: '2030-01-02T03:04:05.000Z',
  updated_at: '2030-01-02T03:04:05.000Z',
  last_tested_at: '2030-01-02T03:04:06.000Z',
  last_used_at: null,
}

const text = (description: string) => Nullable(Type.String({ description }))

export const ProviderJson = record(
  'Provider',
  'A sending account.',
  {
    id: Id('provider'),
    name: Type.String(),
    type: ProviderType,
    status: ProviderStatus,
    status_reason: text('Why it is in status error: the failed stage and a short text.'),
    is_active: Type.Boolean({ description: 'True exactly when the status is `active`.' }),
    is_shared: Type.Boolean({ description: 'The shared Amazon SES account of the team.' }),
    is_editable: Type.Boolean(),
    allowed_actions: record('AllowedActions', 'Permitted actions.', {
      update: Type.Boolean(),
      delete: Type.Boolean(),
      activate: Type.Boolean(),
      deactivate: Type.Boolean(),
      test: Type.Boolean(),
    }),
    smtp_host: text('Custom SMTP only.'),
    smtp_port: Nullable(Type.Integer({ description: 'Custom SMTP only.' })),
    smtp_protocol: Nullable(SmtpProtocol),
    smtp_username: text('Custom SMTP only.'),
    has_smtp_password: Type.Boolean({ description: 'The password itself is never shown.' }),
    from_email: text('Default From address. A connected account always sends as its own address.'),
    from_name: text('Default From display name.'),
    reply_to_email: text('Default Reply-To address.'),
    reply_to_name: text('Default Reply-To display name.'),
    return_path: text('Custom SMTP only: envelope sender of all messages of the account; null for its `from_email`.'),
    verp: Type.Boolean({
      description:
        'The last check showed that the server accepts an envelope sender generated for each message, so that bounces return to the ' +
        'appliance. Not used while `return_path` is set.',
    }),
    oauth_email: text('Address of a connected account.'),
    has_refresh_token: Type.Boolean({ description: 'The connected account has a working connection.' }),
    quotas: Quotas,
    percentage: Nullable(Type.Integer({ description: 'Share of the traffic; null: the mean of the others, 0: none.' })),
    tracking_domain: text('Host name for tracking.'),
    created_at: TimeOf('When it was created.'),
    updated_at: TimeOf('When its settings last changed.'),
    last_tested_at: TimeOrNull('When it was last checked or tested.'),
    last_used_at: TimeOrNull('Start of the minute in which it last sent a message.'),
  },
  EXAMPLE,
)
export type ProviderJson = Static<typeof ProviderJson>

const count = () => Type.Integer({ minimum: 0 })

export const ProviderStats = record('ProviderStats', 'Number of sending accounts of the team.', {
  total: count(),
  active: count(),
  inactive: count(),
  error: count(),
  pending: count(),
  by_type: record('ProvidersByType', 'By type.', {
    smtp: count(),
    gmail_api: count(),
    outlook_api: count(),
    amazon_ses: count(),
  }),
  by_status: record('ProvidersByStatus', 'By status.', {
    active: count(),
    inactive: count(),
    error: count(),
    pending: count(),
  }),
})

export const ProviderTest = record('ProviderTest', 'The result of a test of a sending account.', {
  success: Type.Boolean(),
  stage: Words(
    ['dns', 'connect', 'tls', 'greeting', 'auth', 'sender', 'recipient', 'data', 'api'],
    'The last stage that was reached.',
  ),
  latency_ms: Type.Integer({ minimum: 0 }),
  smtp_code: Nullable(Type.Integer()),
  message: Type.String({ description: 'One sentence, at most 300 characters.' }),
  tested_at: Timestamp,
  provider: ProviderJson,
})
export type ProviderTest = Static<typeof ProviderTest>

export const presentProvider = presenterOf<Provider>()(ProviderJson, {
  is_active: ({ status }) => status === 'active',
  is_editable: (provider) => allowedActions(provider).update,
  allowed_actions: allowedActions,
  from_email: ({ oauthEmail, fromEmail }) => oauthEmail ?? fromEmail,
  verp: 'takesVerp',
  quotas: ({ quotas: { perSecond, perMinute, perHour, perDay } }) => {
    return { per_second: perSecond, per_minute: perMinute, per_hour: perHour, per_day: perDay }
  },
})

export function presentStats({ total, byType, byStatus }: Stats) {
  return { total, ...byStatus, by_type: byType, by_status: byStatus }
}

export function presentTest(test: Tested & { provider: Provider }): ProviderTest {
  const { success, stage, smtpCode, message } = test.result
  return {
    success,
    stage,
    latency_ms: test.latencyMs,
    smtp_code: smtpCode,
    message,
    tested_at: isoTime(test.testedAt),
    provider: presentProvider(test.provider),
  }
}
