// The test of an account that speaks SMTP (decisions §3.1): how far one comes with it, and a sentence about it.

import type { Clock } from '../../../base/clock.ts'
import { testMail } from '../accounts/test-mail.ts'
import type { CheckResult } from '../transport.ts'
import type { Connection, Way } from './connection.ts'
import { Fault } from './fault.ts'
import { isVerdict, letterOf, offer } from './offer.ts'

/** Decisions §3.1. ms. */
export const CHECK_MS = 15_000

interface CheckParts {
  clock: Clock
  way: Way
  /** @throws Fault */
  open(signal: AbortSignal): Promise<Connection>
  /** Who the test mail is from; null where the account names nobody. */
  from: string | null
  /** Who gets it; null for none. */
  to: string | null
}

/** Over a connection of its own: those that are kept say nothing of what a new one would meet. */
export async function checkServer(parts: CheckParts): Promise<CheckResult> {
  const patience = new AbortController()
  const timer = parts.clock.after(CHECK_MS, () => patience.abort())
  try {
    const result = await tryOut(parts, patience.signal)
    if (result.success || !patience.signal.aborted) return result
    return { ...result, message: `${parts.way.host} was not done within ${CHECK_MS / 1000} seconds.` }
  } finally {
    timer.cancel()
  }
}

async function tryOut(parts: CheckParts, signal: AbortSignal): Promise<CheckResult> {
  try {
    const connection = await parts.open(signal)
    const { to } = parts
    const result = to === null ? signedIn(connection, parts.way) : await tryMail(connection, to, parts, signal)
    void connection.wire.quit()
    return result
  } catch (error) {
    if (error instanceof Fault) return failed(error)
    throw error
  }
}

function signedIn({ wire, reply }: Connection, { host, port, credentials }: Way): CheckResult {
  const what = credentials === null ? `${host} (port ${port}) answers` : `Signed in at ${host} (port ${port})`
  const message = `${what} ${wire.security === null ? 'without TLS' : `over ${wire.security.protocol}`}.`
  return { success: true, stage: wire.stage, smtpCode: reply.code, message }
}

async function tryMail(
  connection: Connection,
  to: string,
  { clock, from }: CheckParts,
  signal: AbortSignal,
): Promise<CheckResult> {
  if (from === null) {
    const message = 'The account has no from_email, so there is nobody to send a test mail from.'
    return { success: false, stage: 'sender', smtpCode: null, message }
  }
  const { bytes } = testMail({ from, to, now: clock.now() })
  const letter = letterOf({ bytes, mailFrom: from, recipients: [to] })
  if (isVerdict(letter)) return { success: false, stage: 'recipient', smtpCode: null, message: letter.reply.text }
  const judged = await offer(connection, letter, { clock, signal })
  if (judged.kind === 'broken') return failed(judged.fault)
  const { stage } = judged.kind === 'sender' ? judged : connection.wire
  const { reply } = judged.kind === 'sender' ? judged : judged.verdicts[0]!
  const success = judged.kind === 'answered' && judged.verdicts[0]!.kind === 'sent'
  return { success, stage, smtpCode: reply.smtpCode, message: reply.text }
}

function failed({ stage, reply }: Fault): CheckResult {
  return { success: false, stage, smtpCode: reply.smtpCode, message: reply.text }
}
