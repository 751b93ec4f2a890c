// `mailstead domain verify`: looks at a domain's DNS now.

import { ProductError } from '../base/errors.ts'
import type { DomainCheck } from '../directory/domain-checks.ts'
import { domainName } from '../directory/domain-name.ts'
import { presentVerification } from '../surfaces/rest/schemas/domain.ts'
import { type Command, TEAM_OPTION } from './command.ts'
import { table } from './table.ts'
import { chooseTeam } from './team-choice.ts'

export const domainVerify: Command = {
  words: 'domain verify',
  summary: "Looks at a domain's DNS now; ends with 1 while it is not verified.",
  operands: ['domain'],
  options: TEAM_OPTION,
  async run(call) {
    const { db, directory } = await call.open()
    const team = await chooseTeam(directory, call.text('team'))
    const written = call.operands[0]!
    const known = await directory.domains.ofTeam(db.read, team.id, domainName(written) ?? written)
    if (known === undefined) throw new ProductError('not_found', `Team ${team.id} has no domain ${written}.`)
    const { domain, checks } = await directory.domains.verify(team.id, known.id)
    const isVerified = domain.verificationStatus === 'verified'
    return {
      data: presentVerification(domain, checks),
      lines: [`${domain.name} (${domain.id}) is ${domain.verificationStatus}.`, '', ...table(checks.map(rowOf))],
      ...(isVerified
        ? {}
        : { failure: `${domain.name} is not verified: ${domain.records.verification.name} lacks its record.` }),
    }
  },
}

function rowOf({ ok, record, name, expected, found }: DomainCheck): string[] {
  const told = found.length === 0 ? 'nothing found' : `found: ${found.join(' | ')}`
  return [ok ? '  ok' : '  --', record, name, ok ? expected : `wanted: ${expected}; ${told}`]
}
