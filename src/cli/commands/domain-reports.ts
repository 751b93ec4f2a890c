// `mailstead domain reports`: who sends in the name of a domain, by the DMARC reports of receivers.

import { DAY_MS } from '../../base/durations.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const DAYS = 28
const SOURCES_MAX = 50

export const domainReports: Command = {
  words: 'domain reports',
  summary: `Show who sent in the name of a domain in ${DAYS} days, by the DMARC reports of receivers.`,
  operands: ['domain'],
  options: TEAM_OPTION,
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { name } = chooseDomain(app, team.id, call.operands[0]!)
    const summary = await app.dmarcReports.summary(name, app.clock.now() - DAYS * DAY_MS, SOURCES_MAX)
    const { messages, passed, reporters, sources } = summary
    if (reporters.length === 0) {
      return { data: summary, lines: [`No report about ${name} has come in ${DAYS} days.`] }
    }
    const rows = sources.map((one) => [
      ...[one.sourceIp || 'others', String(one.messages), String(one.passed)],
      ...[String(one.dkim), String(one.spf), String(one.stopped)],
    ])
    return {
      data: summary,
      lines: [
        `${passed} of ${messages} messages passed DMARC, by reports of ${reporters.join(', ')}.`,
        '',
        ...table([['source', 'messages', 'passed', 'DKIM', 'SPF', 'stopped'], ...rows]),
      ],
    }
  },
}
