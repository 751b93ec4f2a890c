// What other mail servers report about TLS with the mail servers of a domain (RFC 8460).

import { Type } from 'typebox'
import { DAY_MS } from '../../base/durations.ts'
import { notFound } from '../../base/errors.ts'
import type { TlsFailureCount } from '../../deliverability/tls-reports.ts'
import { presenterOf } from '../../http/present.ts'
import { route } from '../../http/route.ts'
import { Id, Words } from '../../http/schema.ts'
import { TLS_POLICY_TYPES } from '../../reports/tls-report.ts'
import { record } from '../schemas/record.ts'

const DAYS_MAX = 400
const FAILURES_MAX = 100

const Sessions = (description: string) => Type.Integer({ minimum: 0, description })

const TlsFailureJson = record('TlsReportFailure', 'Sessions that failed for one reason at one mail server.', {
  policy_type: Words(
    [...TLS_POLICY_TYPES],
    'tlsa: DANE; sts: MTA-STS; no-policy-found: the domain had neither for the reporter.',
  ),
  result: Type.String({ description: 'A word of RFC 8460 §4.3, such as `certificate-expired`; `other` without one.' }),
  host: Type.String({ description: 'The mail server; empty where reports name none.' }),
  sessions: Sessions('Failed sessions.'),
})

const TlsSummaryJson = record(
  'TlsReportSummary',
  'What reports about TLS (RFC 8460) say of a domain. Reports of reporters that DMARC authenticates are read.',
  {
    days: Type.Integer({ minimum: 1, maximum: DAYS_MAX }),
    succeeded: Sessions('Sessions with TLS as required.'),
    failed: Sessions('Sessions without it.'),
    reporters: Type.Array(Type.String(), { description: 'Domains that have reported, at most 100.' }),
    failures: Type.Array(TlsFailureJson, { description: `The most sessions first, at most ${FAILURES_MAX}.` }),
  },
  {
    ...{ days: 28, succeeded: 412, failed: 2, reporters: ['google.com'] },
    failures: [{ policy_type: 'sts', result: 'certificate-expired', host: 'mail.example.com', sessions: 2 }],
  },
)

const presentFailure = presenterOf<TlsFailureCount>()(TlsFailureJson, {})

const readTlsSummary = route({
  method: 'GET',
  path: '/domains/{domain_id}/tls-reports',
  docs: {
    operation: 'getTlsReportSummary',
    tag: 'Domains',
    summary: 'Get whether mail to a domain arrives with TLS, by the reports of other mail servers',
    description:
      'Reports arrive at `tlsrpt@` the mail host, as the record `_smtp._tls` in `dns_records.tls` asks, and are read within a minute.',
  },
  access: { as: 'team', permission: 'domain.read' },
  params: Type.Object({ domain_id: Id('domain') }),
  query: Type.Object({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: DAYS_MAX, default: 28, description: 'Days before now.' })),
  }),
  reply: { schema: TlsSummaryJson },
  async handle({ params: { domain_id: id }, query: { days = 28 }, principal, app }) {
    const domain = app.directory.domains.get(principal.teamId, id)
    if (domain?.verificationStatus !== 'verified') throw notFound('domain')
    // Who had the name before may be another team.
    const since = Math.max(app.clock.now() - days * DAY_MS, domain.createdAt)
    const { failures, ...counts } = await app.tlsReports.summary(domain.name, since, FAILURES_MAX)
    return { days, ...counts, failures: failures.map(presentFailure) }
  },
})

export const tlsReports = [readTlsSummary]
