// Refusals of the sender: they count against the account, not the recipients.

import { refusesSender } from '../../../reports/sender-refusal.ts'
import type { Handed, Verdict } from '../../model/transport.ts'

/** True when every recipient was refused because of the envelope sender. */
export function isSenderRefused(handed: Handed): boolean {
  if (handed.kind === 'unavailable') return handed.stage === 'sender' && (handed.reply.smtpCode ?? 0) >= 500
  return handed.verdicts.every(refused)
}

/**
 * The same result, with refusals of the sender turned into failures of the account.
 * @param isOwnFrom whether the message is from the account's own address: otherwise a refusal after DATA may concern the From field
 *   only, and the account still works for other messages
 */
export function blameAccount(handed: Handed, isOwnFrom: boolean): Handed {
  if (handed.kind === 'unavailable') return handed
  const isBlamed = (verdict: Verdict) => refused(verdict) && (isOwnFrom || verdict.stage !== 'data')
  const blamed = handed.verdicts.filter(isBlamed)
  if (blamed.length === 0) return handed
  if (blamed.length === handed.verdicts.length) {
    return { kind: 'unavailable', stage: 'sender', reply: blamed[0]!.reply, cause: 'transient', retryAfterMs: null }
  }
  // The other recipients have final verdicts: retry only the blamed ones.
  const verdicts = handed.verdicts.map((verdict): Verdict => {
    return isBlamed(verdict) ? { kind: 'later', reply: verdict.reply, cause: 'transient' } : verdict
  })
  return { ...handed, verdicts }
}

function refused(verdict: Verdict): verdict is Extract<Verdict, { kind: 'never' }> {
  return verdict.kind === 'never' && refusesSender(verdict.reply)
}
