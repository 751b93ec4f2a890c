// `mailstead domain list`, `domain show`: the domains of a team, and the records one needs.

import { presentDomain } from '../api/schemas/domain.ts'
import type { Domain } from '../directory/domains.ts'
import { choiceOption, oneOf } from './choice.ts'
import { type Command, TEAM_OPTION } from './command.ts'
import { chooseDomain } from './domain-choice.ts'
import { recordRows } from './domain-records.ts'
import { LIMIT_OPTION, listOutput, readLimit } from './limit.ts'
import { table } from './table.ts'
import { chooseTeam } from './team-choice.ts'

const STATUSES = ['pending', 'verified', 'failed'] as const

export const domainList: Command = {
  words: 'domain list',
  summary: 'List the domains of a team, newest first.',
  options: {
    ...TEAM_OPTION,
    status: choiceOption('status', STATUSES),
    ...LIMIT_OPTION,
  },
  async run(call) {
    const status = oneOf('status', call.text('status'), STATUSES)
    const limit = readLimit(call)
    const { directory } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const page = directory.domains.list(team.id, { status, limit, after: null })
    const rows = page.items.map(presentDomain)
    return listOutput(rows, page.next !== null, {
      none: 'There are no domains. Add one with mailstead domain add.',
      head: ['Domain', 'Status', 'Created', 'Name'],
      cells: (row) => [row.id, row.verification_status, row.created_at, row.domain],
    })
  },
}

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
