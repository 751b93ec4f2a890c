// Outside accounts that are not followed although their team wants them to be.

import { HOUR_MS } from '../../base/durations.ts'
import { heldRemovals } from '../../sync/accounts/accounts-input.ts'
import type { RemoteAccount } from '../../sync/model/records.ts'
import type { DoctorDeps } from './deps.ts'
import { type Finding, fine, warning } from './finding.ts'

/** An account that is tried again for so long needs a person, ms. */
const DELAYED_MS = 6 * HOUR_MS
/** Accounts that are named; the others are counted. */
const NAMED_MAX = 50

export function checkRemotes({ sync, clock }: Pick<DoctorDeps, 'sync' | 'clock'>): Finding[] {
  const counts = sync.accounts.countByStatus()
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return total === 0 ? [] : remoteFindings(sync.accounts.inTrouble(), total, clock.now())
}

/** @param troubled accounts in error or delayed, of all teams @param total how many accounts there are */
function remoteFindings(troubled: readonly RemoteAccount[], total: number, now: number): Finding[] {
  const findings = troubled.filter((one) => isInTrouble(one, now)).map(findingOf)
  if (findings.length === 0) {
    return [fine('outside_account', `${total} outside ${total === 1 ? 'account' : 'accounts'}; none has a problem.`)]
  }
  const more = findings.length - NAMED_MAX
  if (more <= 0) return findings
  const says = `${more} more outside ${more === 1 ? 'account has' : 'accounts have'} a problem.`
  return [
    ...findings.slice(0, NAMED_MAX),
    warning('outside_account', says, 'Look at the others, too.', 'mailstead remote list --status error'),
  ]
}

function isInTrouble(account: RemoteAccount, now: number): boolean {
  const { status, statusSince } = account
  if (heldRemovals(account).length > 0) return true
  return status === 'error' || (status === 'delayed' && now - statusSince >= DELAYED_MS)
}

function findingOf(account: RemoteAccount): Finding {
  const { id, email, teamId, status, statusReason } = account
  const [held] = heldRemovals(account)
  const who = `The outside account ${email} (${id}) of ${teamId}`
  if (status !== 'error' && held !== undefined) {
    const { side, removal } = held
    const says = `${who} holds back the removal of ${removal.messages} messages${side === 'server' ? ' at the server' : ''}.`
    const more = side === 'server' ? ' --at server' : ''
    const cure = `Confirm it, or put the messages back: mailstead remote undo-removal ${id}${more}`
    return warning('outside_account', says, cure, `mailstead remote confirm-removal ${id}${more}`)
  }
  const why = (statusReason ?? 'the reason is not known').replace(/\.$/, '')
  const says = status === 'error' ? `${who} has stopped: ${why}.` : `${who} has not been reached for hours: ${why}.`
  return warning('outside_account', says, 'Correct its settings, then resume it.', `mailstead remote resume ${id}`)
}
