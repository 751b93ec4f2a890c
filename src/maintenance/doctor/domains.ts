// Checks the DNS records of every domain without changing their status.

import type { Domain } from '../../directory/domains/domain-record.ts'
import { SYSTEM_TEAM_ID } from '../../directory/keys/teams.ts'
import type { ClientRecordCheck } from '../../directory/names/client-records.ts'
import { isReserved } from '../../directory/names/domain-name.ts'
import type { DoctorDeps } from './deps.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

type DomainDeps = Pick<DoctorDeps, 'directory'>

const PAGE = 100
const AT_ONCE = 10
/** Domains that are checked; a warning names the limit. */
const DOMAINS_MAX = 500

export async function checkDomains(app: DomainDeps): Promise<Finding[]> {
  const domains = everyDomain(app)
  const findings: Finding[] = []
  for (let at = 0; at < Math.min(domains.length, DOMAINS_MAX); at += AT_ONCE) {
    const group = domains.slice(at, Math.min(at + AT_ONCE, DOMAINS_MAX))
    findings.push(...(await Promise.all(group.map((domain) => checkDomain(app, domain)))).flat())
  }
  if (domains.length > DOMAINS_MAX) {
    const says = `There are more than ${DOMAINS_MAX} domains; the others were not checked.`
    findings.push(warning('domain', says, 'Check one of them with mailstead domain verify.'))
  }
  return findings
}

/** All domains but reserved names, which do not exist in public DNS. */
function everyDomain({ directory }: DomainDeps): Domain[] {
  const found: Domain[] = []
  const teams = directory.teams.list().map(({ id }) => id)
  for (const team of [SYSTEM_TEAM_ID, ...teams]) {
    let after: Parameters<typeof directory.domains.list>[1]['after'] = null
    do {
      const page = directory.domains.list(team, { limit: PAGE, after })
      found.push(...page.items.filter(({ name }) => !isReserved(name)))
      after = page.next as typeof after
    } while (after !== null && found.length <= DOMAINS_MAX)
  }
  return found
}

/** The names by which mail programs ask for the settings of verified domains; none of the appliance's own ones. */
export function documentNames(app: DomainDeps): string[] {
  return everyDomain(app)
    .filter(({ verificationStatus, teamId }) => verificationStatus === 'verified' && teamId !== SYSTEM_TEAM_ID)
    .flatMap(({ records }) => records.client.filter(({ type }) => type === 'CNAME').map(({ name }) => name))
}

async function checkDomain({ directory }: DomainDeps, domain: Domain): Promise<Finding[]> {
  const [{ verification, checks }, clientChecks] = await Promise.all([
    directory.domains.inspect(domain),
    domain.teamId === SYSTEM_TEAM_ID ? [] : directory.domains.checkClientRecords(domain),
  ])
  const { name, teamId } = domain
  if (verification === 'unknown') {
    const says = `The name servers of ${name} did not answer.`
    return [warning('domain', says, 'Run this again later; if this persists, ask their operator.')]
  }
  // The appliance's own domain needs no verification record.
  const wanted = checks.filter(({ record }) => !(record === 'verification' && teamId === SYSTEM_TEAM_ID))
  const missing = wanted
    .filter(({ ok }) => !ok)
    .map(({ record, required, name: at, expected, found }) => {
      const seen = found.length === 0 ? 'nothing was found' : `found: ${found[0]}`
      const says = `${name}: the ${record} record at ${at} is wrong; ${seen}.`
      return (required ? failing : warning)('domain', says, `Set it to: ${expected}`, `mailstead domain verify ${name}`)
    })
  const found = missing.length > 0 ? missing : [fine('domain', `${name} has all its records.`)]
  return [...found, ...clientFindings(name, clientChecks)]
}

/** One finding for a domain: the records are recommended, and a domain without mail programs has none of them. */
export function clientFindings(name: string, checks: readonly ClientRecordCheck[]): Finding[] {
  if (checks.length === 0) return []
  const wrong = checks.filter(({ ok }) => !ok)
  if (wrong.length === 0) return [fine('client_dns', `${name} has the records for mail programs.`)]
  const names = wrong.map((one) => (one.found.length === 0 ? one.name : `${one.name} (found: ${one.found[0]})`))
  const says = `${name}: ${wrong.length} of ${checks.length} records for mail programs are missing or wrong: ${names.join(', ')}.`
  return [
    warning('client_dns', says, 'They are recommended. The command lists them.', `mailstead domain verify ${name}`),
  ]
}
