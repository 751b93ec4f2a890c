// Sending accounts that take no messages although their team wants them to.

import { HOUR_MS } from '../../base/durations.ts'
import type { Provider } from '../../outbound/model/records.ts'
import type { DoctorDeps } from './deps.ts'
import { type Finding, fine, warning } from './finding.ts'

/** A check takes seconds; one pending for this long will not finish without action. */
const UNCHECKED_MS = HOUR_MS
/** Accounts that are named; the others are counted. */
const NAMED_MAX = 50

export function checkAccounts({ outbound, clock }: Pick<DoctorDeps, 'outbound' | 'clock'>): Finding[] {
  const { working, troubled } = outbound.accounts.providers.health.overview()
  return accountFindings(troubled, working, clock.now())
}

/** @param troubled accounts in status `error` or `pending`, of all teams @param working how many accounts take messages */
export function accountFindings(troubled: readonly Provider[], working: number, now: number): Finding[] {
  const findings = troubled.flatMap((account) => {
    const finding = accountFinding(account, now)
    return finding === null ? [] : [finding]
  })
  if (findings.length === 0) {
    if (working === 0) return [fine('account', 'No team has a sending account.')]
    const many = `${working} sending ${working === 1 ? 'account takes' : 'accounts take'} messages`
    return [fine('account', `${many}; none has a problem.`)]
  }
  const more = findings.length - NAMED_MAX
  if (more <= 0) return findings
  const says = `${more} more sending ${more === 1 ? 'account has' : 'accounts have'} a problem.`
  return [...findings.slice(0, NAMED_MAX), warning('account', says, 'See GET /providers?status=error of each team.')]
}

function accountFinding({ id, teamId, name, status, statusReason, updatedAt }: Provider, now: number): Finding | null {
  const who = `The sending account ${name} (${id}) of ${teamId}`
  const test = `mailstead provider test ${id}`
  if (status === 'error') {
    const why = (statusReason ?? 'the reason is not known').replace(/\.$/, '')
    const says = `${who} takes no messages: ${why}.`
    return warning('account', says, 'Correct its settings or reconnect it, then test it.', test)
  }
  if (now - updatedAt < UNCHECKED_MS) return null
  return warning('account', `${who} has not been checked yet.`, 'Check that the appliance runs, then test it.', test)
}
