// `mailstead domain add`: claims a domain for a team and prints the DNS records it needs.

import { presentDomain } from '../../api/schemas/domain.ts'
import type { Domain } from '../../directory/domains/domains.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { clientRows, recordRows, tlsRows } from '../frame/domain-records.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const domainAdd: Command = {
  words: 'domain add',
  summary: 'Claim a domain and print the DNS records it needs.',
  operands: ['domain'],
  options: TEAM_OPTION,
  async run(call) {
    const { directory } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const domain = await directory.domains.create(team.id, call.operands[0]!)
    return { data: presentDomain(domain), lines: [...linesOf(domain)] }
  },
}

function linesOf(domain: Domain): string[] {
  if (domain.verificationStatus === 'verified') {
    return [`${domain.name} (${domain.id}) is verified: this name is reserved and needs no proof.`]
  }
  return [
    `${domain.name} (${domain.id}) is pending. Put these records into its DNS, the first one at least:`,
    '',
    ...table(recordRows(domain)),
    '',
    ...recommended('By these, mail programs find their settings (recommended):', clientRows(domain)),
    ...recommended('By these, others protect mail on its way here (recommended):', tlsRows(domain)),
    `Mailstead checks them regularly. To check now: mailstead domain verify ${domain.name}`,
  ]
}

function recommended(title: string, rows: string[][]): string[] {
  return rows.length === 0 ? [] : [title, '', ...table(rows), '']
}
