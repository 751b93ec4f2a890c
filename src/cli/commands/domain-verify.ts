// `mailstead domain verify`: looks at a domain's DNS now.

import { presentVerification } from '../../api/schemas/domain.ts'
import { clientHosts } from '../../config/client-protocols.ts'
import type { DomainCheck } from '../../directory/domains/domain-checks.ts'
import type { ClientRecordCheck } from '../../directory/names/client-records.ts'
import { missingNames } from '../../maintenance/doctor/machine.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const domainVerify: Command = {
  words: 'domain verify',
  summary: "Check a domain's DNS records now; exits with 1 while the domain is not verified.",
  operands: ['domain'],
  options: TEAM_OPTION,
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { id } = chooseDomain(app, team.id, call.operands[0]!)
    const result = await app.administration.domains.verify(team.id, id)
    const { domain, checks, clientChecks } = result
    const missing = missingNames(app.folder.tls.cert, clientHosts(app.config))
    const isVerified = domain.verificationStatus === 'verified'
    return {
      data: { ...presentVerification(result), names_missing_in_certificate: missing },
      lines: [
        `${domain.name} (${domain.id}) is ${domain.verificationStatus}.`,
        '',
        ...table(checks.map(rowOf)),
        ...(clientChecks.length === 0
          ? []
          : ['', 'For mail programs, recommended:', ...table(clientChecks.map(clientRowOf))]),
        ...missing.map((name) => `The certificate does not name ${name}, which mail programs connect to.`),
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
  return [ok ? '  ok' : '  --', record, name, outcomeOf(ok, expected, found)]
}

function clientRowOf({ ok, type, name, value, found }: ClientRecordCheck): string[] {
  return [ok ? '  ok' : '  --', type, name, outcomeOf(ok, value, found)]
}

function outcomeOf(ok: boolean, expected: string, found: readonly string[]): string {
  if (ok) return expected
  return `expected: ${expected}; ${found.length === 0 ? 'nothing found' : `found: ${found.join(' | ')}`}`
}
