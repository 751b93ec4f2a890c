// What the word of a carrier means for a delivery.

import { classifyReply } from '../../reports/reply-class.ts'
import type { DelayCause, Outcome, Reply } from '../records.ts'
import type { Handed, Verdict } from '../transports/transport.ts'
import { nextTry, wasLastTry } from './schedule.ts'

/** One delivery at the time its carrier answered. */
export interface Standing {
  /** Tries made, this one included. */
  attempts: number
  /** ms */
  now: number
  /** When its last try is due, ms. */
  expiresAt: number
}

/** What was said here and not by a server. */
export function ownReply(text: string): Reply {
  return { smtpCode: null, enhancedCode: null, text }
}

/**
 * Put off until the next try, or expired after the last one.
 * @param notBefore when trying again can help at the earliest, ms
 */
export function putOff(reply: Reply, cause: DelayCause, standing: Standing, notBefore = 0): Outcome {
  const { attempts, now, expiresAt } = standing
  if (wasLastTry(now, expiresAt)) return { kind: 'expired', reply }
  const nextAt = Math.max(nextTry(attempts, now, expiresAt), Math.min(notBefore, expiresAt))
  return { kind: 'deferred', reply, cause, nextAt }
}

/** Put off until that time (ms) without a try, or expired when the last one was due. */
export function putOffUntil(until: number, reply: Reply, cause: DelayCause, { now, expiresAt }: Standing): Outcome {
  if (wasLastTry(now, expiresAt)) return { kind: 'expired', reply }
  return { kind: 'deferred', reply, cause, nextAt: Math.min(until, expiresAt) }
}

/** @param index of the recipient among those of the hand-over */
export function outcomeOf(handed: Extract<Handed, { kind: 'answered' }>, index: number, standing: Standing): Outcome {
  const verdict = handed.verdicts[index]
  if (verdict === undefined)
    return putOff(ownReply(`${handed.peer} said nothing of this recipient.`), 'transient', standing)
  const reply = { ...verdict.reply, ...answererOf(handed, verdict) }
  if (verdict.kind === 'sent') return { kind: 'sent', reply, confirmation: handed.confirmation }
  if (verdict.kind === 'later') return putOff(reply, verdict.cause, standing, verdict.notBefore)
  if (isRefusalOfContent(handed, verdict)) {
    return { kind: 'rejected', reason: isTooLarge(reply) ? 'message_too_large' : 'content_refused', detail: reply.text }
  }
  const { type, subType } = classifyReply(reply, verdict.about === 'content' ? 'data' : null)
  const reportingMta = handed.peer
  return { kind: 'bounced', reply, type, subType, reportingMta, afterAccept: false, occurredAt: standing.now }
}

/** Replies over SMTP name their server; of an API its name is known. */
function answererOf({ confirmation, peer }: Extract<Handed, { kind: 'answered' }>, { reply }: Verdict) {
  return reply.server === undefined && confirmation === 'provider_api' ? { server: { host: peer, address: null } } : {}
}

/** 552 is said of content, too; the enhanced code tells (RFC 3463 §3.7, §3.8). */
function isTooLarge({ smtpCode, enhancedCode }: Reply): boolean {
  if (/^5\.(?:3\.4|2\.3)$/.test(enhancedCode ?? '')) return true
  return smtpCode === 552 && !/^5\.[67]\./.test(enhancedCode ?? '')
}

/** Decisions §6.2: only a carrier of ours can refuse a mail as such, and only before it took it for anybody. */
function isRefusalOfContent(handed: Extract<Handed, { kind: 'answered' }>, verdict: Verdict): boolean {
  if (verdict.kind !== 'never' || verdict.about !== 'content') return false
  const isOurs = handed.confirmation === 'relay' || handed.confirmation === 'provider_api'
  return isOurs && handed.verdicts.every(({ kind }) => kind !== 'sent')
}
