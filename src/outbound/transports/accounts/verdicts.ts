// Results of transports without SMTP: one verdict applies to all recipients.

import { shown } from '../../model/api-client.ts'
import type { DelayCause, RemoteReply } from '../../model/records.ts'
import type { CheckResult, Handed, Handover, Stage, Transport, Verdict } from '../../model/transport.ts'

export function replyOf(text: string, enhancedCode: string | null = null): RemoteReply {
  return { smtpCode: null, enhancedCode, text }
}

export function answered(verdicts: readonly Verdict[], peer: string, remoteIds: readonly string[] = []): Handed {
  return { kind: 'answered', verdicts, confirmation: 'provider_api', remoteIds, peer }
}

/** The provider accepted the message. */
export function sentAll(handover: Handover, peer: string, text: string, remoteIds: readonly string[]): Handed {
  const reply = replyOf(text)
  return answered(
    handover.recipients.map(() => ({ kind: 'sent', reply })),
    peer,
    remoteIds,
  )
}

/** The outcome is unknown, or the failure is temporary. */
export function laterAll(handover: Handover, peer: string, text: string, cause: DelayCause): Handed {
  const reply = replyOf(text)
  return answered(
    handover.recipients.map(() => ({ kind: 'later', reply, cause })),
    peer,
  )
}

/** The provider refuses this message permanently. @param enhancedCode 5.3.4 for a message that is too large */
export function neverAll(handover: Handover, peer: string, text: string, enhancedCode = '5.6.0'): Handed {
  const reply = replyOf(text, enhancedCode)
  return answered(
    handover.recipients.map(() => ({ kind: 'never', reply, about: 'content' })),
    peer,
  )
}

export function unavailable(stage: Stage, text: string, cause: DelayCause, retryAfterMs: number | null = null): Handed {
  return { kind: 'unavailable', stage, reply: replyOf(text), cause, retryAfterMs }
}

const MESSAGE_MAX = 300

/** @param message one human-readable sentence */
export function passed(stage: Stage, message: string): CheckResult {
  return { success: true, stage, smtpCode: null, message: shown(message, MESSAGE_MAX) }
}

/** @param stage the last stage reached */
export function failed(stage: Stage, message: string): CheckResult {
  return { success: false, stage, smtpCode: null, message: shown(message, MESSAGE_MAX) }
}

/** @param text one sentence that says what is missing */
export function closedCarrier(text: string): Transport {
  return {
    hand: async () => unavailable('auth', text, 'transient'),
    check: async () => failed('auth', text),
    close: async () => {},
  }
}
