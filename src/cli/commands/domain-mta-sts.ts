// `mailstead domain mta-sts`: shows whether mail would arrive under the MTA-STS policy of a domain, and sets its mode.

import { ownPolicy } from '../../directory/domains/tls-records.ts'
import { STS_MODES } from '../../tls-policy/sts.ts'
import { choiceOption, oneOf } from '../frame/choice.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { tlsRows } from '../frame/domain-records.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const domainMtaSts: Command = {
  words: 'domain mta-sts',
  summary: 'Show or set the MTA-STS mode of a domain; enforce looks first whether mail would arrive.',
  operands: ['domain'],
  options: { ...TEAM_OPTION, mode: choiceOption('mode', STS_MODES) },
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { id, name } = chooseDomain(app, team.id, call.operands[0]!)
    const mode = oneOf('mode', call.text('mode'), STS_MODES)
    if (mode !== undefined) await app.administration.mtaSts.setMode(team.id, id, mode)
    const { domain, checks } = await app.administration.mtaSts.look(team.id, id)
    const records = tlsRows(domain)
    return {
      data: { mode: domain.mtaStsMode, policy: ownPolicy(domain.mtaStsMode, app.config), checks },
      lines: [
        `The MTA-STS policy of ${name} is in mode ${domain.mtaStsMode}.`,
        '',
        ...table(checks.map(({ check, ok, text }) => [ok ? 'ok' : 'missing', check, text])),
        ...(records.length === 0 ? [] : ['', 'Its records:', ...table(records)]),
      ],
    }
  },
}
