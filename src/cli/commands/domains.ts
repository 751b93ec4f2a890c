// `mailstead domain list`, `domain show`: the domains of a team, and the records one needs.

import { presentDomain } from '../../api/schemas/domain.ts'
import type { Domain } from '../../directory/domains/domains.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { recordRows } from '../frame/domain-records.ts'
import { statusList } from '../frame/status-list.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const domainList = statusList({
  words: 'domain list',
  summary: 'List the domains of a team, newest first.',
  statuses: ['pending', 'verified', 'failed'],
  list: ({ directory }, teamId, filter) => directory.domains.list(teamId, filter),
  present: presentDomain,
  table: {
    none: 'There are no domains. Add one with mailstead domain add.',
    head: ['Domain', 'Status', 'Created', 'Name'],
    cells: (row) => [row.id, row.verification_status, row.created_at, row.domain],
  },
})

export const domainShow: Command = {
  words: 'domain show',
  summary: 'Show a domain and the DNS records it needs; domain verify checks them.',
  operands: ['domain'],
  options: TEAM_OPTION,
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { id } = chooseDomain(app, team.id, call.operands[0]!)
    const domain: Domain = app.directory.domains.get(team.id, id)!
    const lines = [`${domain.name} (${domain.id}) is ${domain.verificationStatus}.`, '', ...table(recordRows(domain))]
    return { data: presentDomain(domain), lines }
  },
}
