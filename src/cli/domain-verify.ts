// `mailstead domain verify`: looks at a domain's DNS now.

import { presentVerification } from '../api/schemas/domain.ts'
import type { DomainCheck } from '../directory/domain-checks.ts'
import { type Command, TEAM_OPTION } from './command.ts'
import { chooseDomain } from './domain-choice.ts'
import { table } from './table.ts'
import { chooseTeam } from './team-choice.ts'

export const domainVerify: Command = {
  words: 'domain verify',
  summary: "Check a domain's DNS records now; exits with 1 while the domain is not verified.",
  operands: ['domain'],
  options: TEAM_OPTION,
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { id } = chooseDomain(app, team.id, call.operands[0]!)
    const { domain, checks } = await app.administration.domains.verify(team.id, id)
    const isVerified = domain.verificationStatus === 'verified'
    return {
      data: presentVerification(domain, checks),
      lines: [
        `${domain.name} (${domain.id}) is ${domain.verificationStatus}.`,
        '',
        ...table(checks.map(rowOf)),
        ...domain.removable.map(({ name }) => `${name} belongs to a key that was replaced: remove its record.`),
      ],
      ...(isVerified
        ? {}
        : {
            failure: `${domain.name} is not verified: ${domain.records.verification.name} has no verification record.`,
          }),
    }
  },
}

function rowOf({ ok, record, name, expected, found }: DomainCheck): string[] {
  const seen = found.length === 0 ? 'nothing found' : `found: ${found.join(' | ')}`
  return [ok ? '  ok' : '  --', record, name, ok ? expected : `expected: ${expected}; ${seen}`]
}
