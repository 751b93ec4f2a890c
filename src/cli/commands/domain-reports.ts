// `mailstead domain reports`: who sends in the name of a domain, and whether its mail arrives with TLS, by the reports of others.

import { DAY_MS } from '../../base/durations.ts'
import type { DmarcSummary } from '../../deliverability/dmarc-reports.ts'
import type { DmarcAdvice, DmarcVerdict } from '../../deliverability/dmarc-verdict.ts'
import type { TlsSummary } from '../../deliverability/tls-reports.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const DAYS = 28
const SOURCES_MAX = 50

export const domainReports: Command = {
  words: 'domain reports',
  summary: `Show who sent in the name of a domain in ${DAYS} days, and whether TLS worked, by the reports of others.`,
  operands: ['domain'],
  options: TEAM_OPTION,
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { id, name } = chooseDomain(app, team.id, call.operands[0]!)
    const domain = app.directory.domains.get(team.id, id)!
    const since = Math.max(app.clock.now() - DAYS * DAY_MS, domain.createdAt)
    const dmarc = await app.dmarcReports.summary(name, since, SOURCES_MAX)
    const advice = await app.dmarcReports.advice(domain)
    const tls = await app.tlsReports.summary(name, since, SOURCES_MAX)
    return { data: { ...dmarc, advice, tls }, lines: [...dmarcLines(name, dmarc, advice), '', ...tlsLines(tls)] }
  },
}

const VERDICTS: Readonly<Record<DmarcVerdict, string>> = {
  safe: 'The policy can become reject.',
  not_yet: 'The policy should not become reject yet.',
  too_little: 'Too little is known to say whether the policy can become reject.',
}

function dmarcLines(
  name: string,
  { messages, passed, reporters, sources }: DmarcSummary,
  advice: DmarcAdvice,
): string[] {
  if (reporters.length === 0) return [`No report about ${name} has come in ${DAYS} days.`]
  const rows = sources.map((one) => [
    ...[one.sourceIp || 'others', String(one.messages), String(one.passed)],
    ...[String(one.dkim), String(one.spf), String(one.stopped)],
  ])
  return [
    `${passed} of ${messages} messages passed DMARC, by reports of ${reporters.join(', ')}.`,
    [VERDICTS[advice.verdict], ...advice.reasons].join(' '),
    '',
    ...table([['source', 'messages', 'passed', 'DKIM', 'SPF', 'stopped'], ...rows]),
  ]
}

function tlsLines({ succeeded, failed, reporters, failures }: TlsSummary): string[] {
  if (reporters.length === 0) return [`No report about TLS has come in ${DAYS} days.`]
  const total = `${succeeded} of ${succeeded + failed} sessions had TLS as required, by reports of ${reporters.join(', ')}.`
  if (failures.length === 0) return [total]
  const rows = failures.map(({ policyType, result, host, sessions }) => [
    result,
    policyType,
    host || '-',
    String(sessions),
  ])
  return [total, '', ...table([['failure', 'policy', 'server', 'sessions'], ...rows])]
}
