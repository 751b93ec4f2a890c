// Maps the verdict of a carrier to the outcome of a delivery.

import { randomInt } from 'node:crypto'
import type { ClockDoubt } from '../../base/clock-guard.ts'
import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import { classifyReply } from '../../reports/reply-class.ts'
import type { DelayCause, Outcome, RemoteReply } from '../model/records.ts'
import type { Handed, Verdict } from '../model/transport.ts'

/** The state of one delivery when its carrier answered. */
export interface DeliveryClock {
  /** Attempts made, including this one. */
  attempts: number
  /** ms */
  now: number
  /** When its last attempt is due, ms. */
  readonly expiresAt: number
}

/** A reply text of the appliance itself, not of a server. */
export function ownReply(text: string): RemoteReply {
  return { smtpCode: null, enhancedCode: null, text }
}

/**
 * Deferred until the next attempt, or expired after the last one.
 * @param notBefore earliest useful time of the next attempt, ms
 */
export function deferOrExpire(reply: RemoteReply, cause: DelayCause, clock: DeliveryClock, notBefore = 0): Outcome {
  const { attempts, now, expiresAt } = clock
  if (wasLastAttempt(now, expiresAt)) return { kind: 'expired', reply }
  const nextAt = Math.max(nextAttemptAt(attempts, now, expiresAt), Math.min(notBefore, expiresAt))
  return { kind: 'deferred', reply, cause, nextAt }
}

/** The reply of a delivery that was not attempted, because its destination is known to fail: no server said it about this message. */
export function untriedReply({ text }: RemoteReply): RemoteReply {
  return ownReply(`Not tried yet: the last attempt at this destination failed. ${text}`)
}

/** Deferred until that time (ms) without an attempt, or expired when the last one was due. */
export function deferUntil(
  until: number,
  reply: RemoteReply,
  cause: DelayCause,
  { now, expiresAt }: DeliveryClock,
): Outcome {
  if (wasLastAttempt(now, expiresAt)) return { kind: 'expired', reply }
  return { kind: 'deferred', reply, cause, nextAt: Math.min(until, expiresAt) }
}

/** @param index of the recipient in the hand-over */
export function outcomeOf(handed: Extract<Handed, { kind: 'answered' }>, index: number, clock: DeliveryClock): Outcome {
  const verdict = handed.verdicts[index]
  if (verdict === undefined)
    return deferOrExpire(ownReply(`${handed.peer} gave no result for this recipient.`), 'transient', clock)
  const reply = { ...verdict.reply, ...answererOf(handed, verdict) }
  if (verdict.kind === 'sent') return { kind: 'sent', reply, confirmation: handed.confirmation }
  if (verdict.kind === 'later') return deferOrExpire(reply, verdict.cause, clock, verdict.notBefore)
  if (isRefusalOfContent(handed, verdict)) {
    return { kind: 'rejected', reason: isTooLarge(reply) ? 'message_too_large' : 'content_refused', detail: reply.text }
  }
  const { type, subType } = classifyReply(reply, verdict.about === 'content' ? 'data' : null)
  // Our own sentence is not the word of a server.
  const reportingMta = reply.smtpCode === null && reply.server === undefined ? null : handed.peer
  return { kind: 'bounced', reply, type, subType, reportingMta, afterAccept: false, occurredAt: clock.now }
}

/** SMTP replies carry their server; for an API it is the peer. */
function answererOf({ confirmation, peer }: Extract<Handed, { kind: 'answered' }>, { reply }: Verdict) {
  return reply.server === undefined && confirmation === 'provider_api' ? { server: { host: peer, address: null } } : {}
}

/** Servers also use 552 for refused content; the enhanced code distinguishes them (RFC 3463 §3.7, §3.8). */
function isTooLarge({ smtpCode, enhancedCode }: RemoteReply): boolean {
  if (/^5\.(?:3\.4|2\.3)$/.test(enhancedCode ?? '')) return true
  return smtpCode === 552 && !/^5\.[67]\./.test(enhancedCode ?? '')
}

/** docs/design/sending.md §7: only our own carrier (relay or API) can refuse a message as a whole, and only if it accepted no recipient. */
function isRefusalOfContent(handed: Extract<Handed, { kind: 'answered' }>, verdict: Verdict): boolean {
  if (verdict.kind !== 'never' || verdict.about !== 'content') return false
  const isOurs = handed.confirmation === 'relay' || handed.confirmation === 'provider_api'
  return isOurs && handed.verdicts.every(({ kind }) => kind !== 'sent')
}

/** Pauses after the first, second, third… attempt; the last one repeats. Matches the example of docs/design/events.md §4. */
const PAUSES_MS = [1, 5, 15, 30, 60, 120, 240, 360].map((minutes) => minutes * MINUTE_MS)
/** Random share of the pause, so that deliveries that failed together do not retry together. */
const JITTER = 0.1
/** The last attempt is still made this long after the end of the lifetime, because the appliance may have been down. */
const LATE_MS = HOUR_MS

/** @param random 0…1, given by tests only. @returns ms, never after `expiresAt` */
export function nextAttemptAt(
  attempts: number,
  now: number,
  expiresAt: number,
  random: number = randomInt(1_000_000) / 1e6,
): number {
  const pause = PAUSES_MS[Math.min(Math.max(attempts, 1), PAUSES_MS.length) - 1]!
  return Math.min(Math.round(now + pause * (1 - JITTER + 2 * JITTER * random)), expiresAt)
}

/** True when the last attempt has been made: its reply is final. */
export function wasLastAttempt(now: number, expiresAt: number): boolean {
  return now >= expiresAt
}

/** True when it is too late for another attempt. */
export function isExpired(now: number, expiresAt: number): boolean {
  return now > expiresAt + LATE_MS
}

/** When (ms) the lifetime of a message ends: never while the clock is in doubt. */
export function expiryOf({ guard }: { guard: ClockDoubt }, { expiresAt }: { expiresAt: number }): number {
  return guard.isHeld() ? Number.POSITIVE_INFINITY : expiresAt
}
