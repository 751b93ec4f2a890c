// Refusals that speak of the sender: they are the account's fault, and say nothing of the recipients.

import { refusesSender } from '../../../reports/sender-refusal.ts'
import type { Handed, Verdict } from '../transport.ts'

/** True where no recipient was taken because of the envelope sender. */
export function isSenderRefused(handed: Handed): boolean {
  if (handed.kind === 'unavailable') return handed.stage === 'sender' && (handed.reply.smtpCode ?? 0) >= 500
  return handed.verdicts.every(refused)
}

/**
 * The same answer, with the account blamed for what was said of its sender.
 * @param isOwnFrom whether the message is from the account's own address: else a refusal after DATA may be about the From field, and the
 *   account is good for other messages
 */
export function blameAccount(handed: Handed, isOwnFrom: boolean): Handed {
  if (handed.kind === 'unavailable') return handed
  const isBlamed = (verdict: Verdict) => refused(verdict) && (isOwnFrom || verdict.stage !== 'data')
  const blamed = handed.verdicts.filter(isBlamed)
  if (blamed.length === 0) return handed
  if (blamed.length === handed.verdicts.length) {
    return { kind: 'unavailable', stage: 'sender', reply: blamed[0]!.reply, cause: 'transient', retryAfterMs: null }
  }
  // Others were answered for good: these are tried again by themselves.
  const verdicts = handed.verdicts.map((verdict): Verdict => {
    return isBlamed(verdict) ? { kind: 'later', reply: verdict.reply, cause: 'transient' } : verdict
  })
  return { ...handed, verdicts }
}

function refused(verdict: Verdict): verdict is Extract<Verdict, { kind: 'never' }> {
  return verdict.kind === 'never' && refusesSender(verdict.reply)
}
