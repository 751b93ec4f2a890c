// Tests an SMTP account (docs/design/sending.md §1): the stage reached, and one sentence about the result.

import type { Clock } from '../../../base/clock.ts'
import { testMail } from '../../model/test-mail.ts'
import type { CheckResult } from '../../model/transport.ts'
import type { Connection, ServerSettings } from './connection.ts'
import { SmtpError } from './errors.ts'
import { isVerdict, offer, outgoingMessageOf } from './offer.ts'
import { tryEnvelope } from './probe.ts'

/** Timeout of a test in ms (docs/design/sending.md §1). */
export const CHECK_MS = 15_000

interface CheckDeps {
  clock: Clock
  settings: ServerSettings
  /** @throws SmtpError */
  open(signal: AbortSignal): Promise<Connection>
  /** The account's envelope sender; null if it has none. */
  from: string | null
  /** From address of the test message, if it differs from the envelope sender. */
  author: string | null
  /** A VERP envelope sender of our domain, as each message would use; null if the account does not need one. */
  verp: string | null
  /** Recipient of the test message; null for none. */
  to: string | null
}

/** Uses a new connection: a pooled one would not test connecting, TLS and authentication. */
export async function checkServer(deps: CheckDeps): Promise<CheckResult> {
  const timeout = new AbortController()
  const timer = deps.clock.after(CHECK_MS, () => timeout.abort())
  try {
    const result = await runCheck(deps, timeout.signal)
    if (result.success || !timeout.signal.aborted) return result
    return { ...result, message: `${deps.settings.host} did not finish within ${CHECK_MS / 1000} seconds.` }
  } finally {
    timer.cancel()
  }
}

async function runCheck(deps: CheckDeps, signal: AbortSignal): Promise<CheckResult> {
  try {
    const connection = await deps.open(signal)
    const unlisten = connection.channel.failOn(signal)
    try {
      return await checkSession(connection, deps, signal)
    } finally {
      unlisten()
      void connection.channel.quit()
    }
  } catch (error) {
    if (error instanceof SmtpError) return failed(error)
    throw error
  }
}

/** @throws SmtpError */
async function checkSession(connection: Connection, deps: CheckDeps, signal: AbortSignal): Promise<CheckResult> {
  const { from, to, verp } = deps
  const result = signedIn(connection, deps.settings)
  // Some servers refuse the sender only at RCPT, so the probe uses the account's own address as the recipient.
  const refusal = from === null ? null : await tryEnvelope(connection, from, from)
  if (refusal?.isOfAccount) return failed(refusal)
  const tested = to === null ? result : await tryMail(connection, to, deps, signal)
  if (!tested.success || from === null || verp === null) return tested
  return { ...tested, verp: await tryVerp(connection, verp, from, signal) }
}

/** A failure here does not fail the account: it can send with its own address. */
async function tryVerp(connection: Connection, verp: string, from: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await tryEnvelope(connection, verp, from)) === null
  } catch (error) {
    if (error instanceof SmtpError && !signal.aborted) return false
    throw error
  }
}

function signedIn({ channel, reply }: Connection, { host, port, credentials }: ServerSettings): CheckResult {
  const what = credentials === null ? `${host} (port ${port}) answers` : `Signed in at ${host} (port ${port})`
  const message = `${what} ${channel.security === null ? 'without TLS' : `over ${channel.security.protocol}`}.`
  return { success: true, stage: channel.stage, smtpCode: reply.code, message }
}

async function tryMail(
  connection: Connection,
  to: string,
  { clock, from, author }: CheckDeps,
  signal: AbortSignal,
): Promise<CheckResult> {
  if (from === null) {
    const message = 'The account has no from_email to send a test message from.'
    return { success: false, stage: 'sender', smtpCode: null, message }
  }
  const { bytes } = testMail({ from: author ?? from, to, now: clock.now() })
  const message = outgoingMessageOf({ bytes, mailFrom: from, recipients: [to] })
  if (isVerdict(message)) return { success: false, stage: 'recipient', smtpCode: null, message: message.reply.text }
  const result = await offer(connection, message, { clock, signal })
  if (result.kind === 'broken') return failed(result.error)
  const { stage } = result.kind === 'sender' ? result : connection.channel
  const { reply } = result.kind === 'sender' ? result : result.verdicts[0]!
  const success = result.kind === 'answered' && result.verdicts[0]!.kind === 'sent'
  return { success, stage, smtpCode: reply.smtpCode, message: reply.text }
}

function failed({ stage, reply }: Pick<SmtpError, 'stage' | 'reply'>): CheckResult {
  return { success: false, stage, smtpCode: reply.smtpCode, message: reply.text }
}
