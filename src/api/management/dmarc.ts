// What receivers report about a domain by DMARC: who sends in its name, and whether that passes.

import { Type } from 'typebox'
import { DAY_MS } from '../../base/durations.ts'
import { notFound } from '../../base/errors.ts'
import type { DmarcSource } from '../../deliverability/dmarc-reports.ts'
import { DMARC_VERDICTS, VERDICT_DAYS } from '../../deliverability/dmarc-verdict.ts'
import { presenterOf } from '../../http/present.ts'
import { route } from '../../http/route.ts'
import { Id, Words } from '../../http/schema.ts'
import { record } from '../schemas/record.ts'

const DAYS_MAX = 400
const SOURCES_MAX = 500

const params = Type.Object({ domain_id: Id('domain') })
const Messages = (description: string) => Type.Integer({ minimum: 0, description })

const DmarcSourceJson = record('DmarcSource', 'Messages with the domain as author that came from one address.', {
  source_ip: Type.String({ description: 'Empty for all addresses beyond the 1,000 that are kept of a report.' }),
  messages: Messages('Messages in reports.'),
  passed: Messages('Of them: passed DMARC, by aligned DKIM or SPF.'),
  dkim: Messages('Of them: with an aligned DKIM signature.'),
  spf: Messages('Of them: with aligned SPF.'),
  stopped: Messages('Of them: put into Junk, or rejected, because of the policy.'),
})

const DmarcAdviceJson = record(
  'DmarcAdvice',
  `Whether the policy can become \`reject\`, by the last ${VERDICT_DAYS} days and by reporters that mail of the domain was delivered to.`,
  {
    verdict: Words(
      [...DMARC_VERDICTS],
      'safe: next to nothing of your own would be stopped; not_yet: some would; too_little: too few reports to know.',
    ),
    reasons: Type.Array(Type.String(), { description: 'Sentences: what was seen, what fails, or what is missing.' }),
  },
)

const DmarcSummaryJson = record(
  'DmarcSummary',
  'What aggregate reports (RFC 7489, RFC 9990) say of a domain. Reports of reporters that DMARC authenticates are read.',
  {
    days: Type.Integer({ minimum: 1, maximum: DAYS_MAX }),
    messages: Messages('Messages in all reports.'),
    passed: Messages('Of them: passed DMARC.'),
    reporters: Type.Array(Type.String(), { description: 'Domains that have reported, at most 100.' }),
    sources: Type.Array(DmarcSourceJson, { description: `The most messages first, at most ${SOURCES_MAX}.` }),
    advice: DmarcAdviceJson,
  },
  {
    ...{ days: 28, messages: 120, passed: 118, reporters: ['google.com'] },
    sources: [{ source_ip: '203.0.113.7', messages: 118, passed: 118, dkim: 118, spf: 118, stopped: 0 }],
    advice: { verdict: 'too_little', reasons: ['Known receivers with reports: 1; 3 are needed.'] },
  },
)

const presentSource = presenterOf<DmarcSource>()(DmarcSourceJson, {})

const readDmarcSummary = route({
  method: 'GET',
  path: '/domains/{domain_id}/dmarc-reports',
  docs: {
    operation: 'getDmarcSummary',
    tag: 'Domains',
    summary: 'Get who sends in the name of a domain, by the DMARC reports of receivers',
    description:
      'Reports arrive at `dmarc@` the mail host, as `dns_records.dmarc` asks, and are read within a minute. A receiver reports once a day.',
  },
  access: { as: 'team', permission: 'domain.read' },
  params,
  query: Type.Object({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: DAYS_MAX, default: 28, description: 'Days before now.' })),
  }),
  reply: { schema: DmarcSummaryJson },
  async handle({ params: { domain_id: id }, query: { days = 28 }, principal, app }) {
    const domain = app.directory.domains.get(principal.teamId, id)
    if (domain?.verificationStatus !== 'verified') throw notFound('domain')
    // Who had the name before may be another team.
    const since = Math.max(app.clock.now() - days * DAY_MS, domain.createdAt)
    const { messages, passed, reporters, sources } = await app.dmarcReports.summary(domain.name, since, SOURCES_MAX)
    const advice = await app.dmarcReports.advice(domain)
    return { days, messages, passed, reporters, sources: sources.map(presentSource), advice }
  },
})

export const dmarc = [readDmarcSummary]
