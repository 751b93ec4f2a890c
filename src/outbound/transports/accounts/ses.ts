// The operator's shared Amazon SES account: sends for every team it is enabled for.

import type { SESv2Client, SendEmailCommandInput } from '@aws-sdk/client-sesv2'
import { newId } from '../../../base/ids.ts'
import type { Provider } from '../../model/records.ts'
import { TEST_SUBJECT, TEST_TEXT } from '../../model/test-mail.ts'
import type { CheckResult, Handed, Handover, Transport, Verdict } from '../../model/transport.ts'
import type { SesDeps } from './deps.ts'
import { unsigned } from './readdress.ts'
import { openSesClient, type SesError, sesErrorOf, sesMessageId, sesTimeout } from './ses-client.ts'
import { answered, closedCarrier, failed, neverAll, passed, replyOf, unavailable } from './verdicts.ts'

/** Largest message SES accepts, in bytes. */
export const SES_MAX = 41_943_040
/** Maximum number of recipients per call. */
const SES_RECIPIENTS_MAX = 50
/** Name of the message tag with our email id; SES returns it in every event about the message. */
export const SES_TAG = 'mailstead_message'
/** Timeout of an account test, in ms (docs/design/sending.md §1). */
const CHECK_MS = 15_000

interface Taken {
  kind: 'taken'
  /** The Message-ID that SES assigned, without angle brackets. */
  id: string | null
}

export async function openSes(deps: SesDeps, provider: Provider): Promise<Transport> {
  if (deps.config.SES_ACCESS_KEY_ID === '') return closedCarrier('The appliance has no Amazon SES account any more.')
  return new SesCarrier(deps, provider, await openSesClient(deps.config))
}

class SesCarrier implements Transport {
  readonly #deps: SesDeps
  readonly #provider: Provider
  readonly #client: SESv2Client
  readonly #peer: string

  constructor(deps: SesDeps, provider: Provider, client: SESv2Client) {
    this.#deps = deps
    this.#provider = provider
    this.#client = client
    this.#peer = `email.${deps.config.SES_REGION}.amazonaws.com`
  }

  /**
   * SES takes the recipients from the call, not the header, and replaces Message-ID and Date, which would break our DKIM signature;
   * SES signs instead. It also replaces the envelope sender and reports bounces over SNS. SES cannot look up a message by our tag,
   * so an uncertain message is sent again after a crash.
   */
  async hand(handover: Handover): Promise<Handed> {
    const handed = await this.#send(handover)
    const sent = handed.kind === 'answered' ? handed.verdicts.filter(({ kind }) => kind === 'sent').length : 0
    await this.#settle(handover.recipients.length, sent)
    return handed
  }

  /** Reads the sending quota. A key without that permission passes if a test message is accepted. */
  async check(to: string | null): Promise<CheckResult> {
    const timeout = sesTimeout(undefined, CHECK_MS)
    const account = await this.#readAccount(timeout)
    if (to === null || (account.success === false && account.final)) return account.result
    const from = this.#testSender()
    if (from === null) return failed('sender', 'No domain of the team is verified at Amazon SES yet.')
    try {
      const { SendEmailCommand } = await import('@aws-sdk/client-sesv2')
      const command = new SendEmailCommand({
        FromEmailAddress: from,
        Destination: { ToAddresses: [to] },
        Content: { Simple: { Subject: { Data: TEST_SUBJECT }, Body: { Text: { Data: TEST_TEXT } } } },
        EmailTags: [{ Name: SES_TAG, Value: newId('email') }],
      })
      await this.#client.send(command, timeout)
      await this.#settle(0, 1)
      return passed(
        'data',
        `Amazon SES accepted a test message from ${from}. ${account.success ? account.result.message : ''}`,
      )
    } catch (error) {
      return resultOf(sesErrorOf(error))
    }
  }

  async close(): Promise<void> {
    this.#client.destroy()
  }

  async #send(handover: Handover): Promise<Handed> {
    const bytes = unsigned(handover.bytes)
    if (bytes.length > SES_MAX) {
      return neverAll(
        handover,
        this.#peer,
        `The message is too large for Amazon SES, which accepts at most ${SES_MAX} bytes.`,
        '5.3.4',
      )
    }
    const verdicts: Verdict[] = []
    const remoteIds: string[] = []
    for (let at = 0; at < handover.recipients.length; at += SES_RECIPIENTS_MAX) {
      const group = handover.recipients.slice(at, at + SES_RECIPIENTS_MAX)
      const result = await this.#sendTo(group, bytes, handover)
      // Fall back to another account only while SES has accepted nothing; afterwards retry the rest with this one.
      if (result.kind === 'unavailable' && at === 0) {
        return unavailable(result.stage, result.text, result.cause, result.retryAfterMs)
      }
      if (result.kind === 'taken' && result.id !== null) remoteIds.push(result.id)
      const verdict = verdictOf(result)
      verdicts.push(...group.map(() => verdict))
    }
    return answered(verdicts, this.#peer, remoteIds)
  }

  async #sendTo(recipients: readonly string[], bytes: Buffer, handover: Handover): Promise<Taken | SesError> {
    const input: SendEmailCommandInput = {
      FromEmailAddress: handover.from,
      Destination: { ToAddresses: [...recipients] },
      Content: { Raw: { Data: bytes } },
      EmailTags: [{ Name: SES_TAG, Value: handover.emailId }],
    }
    try {
      const { SendEmailCommand } = await import('@aws-sdk/client-sesv2')
      const answer = await this.#client.send(new SendEmailCommand(input), sesTimeout(handover.signal))
      const id = answer.MessageId === undefined ? null : sesMessageId(this.#deps.config.SES_REGION, answer.MessageId)
      return { kind: 'taken', id }
    } catch (error) {
      return sesErrorOf(error)
    }
  }

  /** A failed count must not fail an accepted message: the reserved recipients then stay counted for the day. */
  async #settle(taken: number, accepted: number): Promise<void> {
    const { db, log, sharedLimit } = this.#deps
    await db
      .write((tx) => sharedLimit.settle(tx, this.#provider.teamId, taken, accepted))
      .catch((error: unknown) =>
        log.error({ event: 'ses.count_failed', err: error }, 'Recipients accepted by Amazon SES not counted'),
      )
  }

  async #readAccount(timeout: {
    abortSignal: AbortSignal
  }): Promise<{ success: boolean; final: boolean; result: CheckResult }> {
    try {
      const { GetAccountCommand } = await import('@aws-sdk/client-sesv2')
      const account = await this.#client.send(new GetAccountCommand({}), timeout)
      const result = readQuota(account)
      return { success: result.success, final: true, result }
    } catch (error) {
      const sesError = sesErrorOf(error)
      const unreached = sesError.kind === 'unavailable' && ['dns', 'connect', 'tls'].includes(sesError.stage)
      return { success: false, final: unreached, result: resultOf(sesError) }
    }
  }

  #testSender(): string | null {
    const { directory } = this.#deps
    const filter = { status: 'verified' as const, limit: 100, after: null }
    const { items } = directory.domains.list(this.#provider.teamId, filter)
    const ready = items.find(({ sesDkimStatus }) => sesDkimStatus === 'success')
    return ready === undefined ? null : `postmaster@${ready.name}`
  }
}

interface Quota {
  SendingEnabled?: boolean | undefined
  SendQuota?: { Max24HourSend?: number | undefined; SentLast24Hours?: number | undefined } | undefined
}

function readQuota({ SendingEnabled, SendQuota }: Quota): CheckResult {
  if (SendingEnabled === false) return failed('api', 'Sending is disabled for the Amazon SES account.')
  const most = SendQuota?.Max24HourSend
  const used = SendQuota?.SentLast24Hours ?? 0
  // SES reports -1 for an account without a limit.
  if (most === undefined || most < 0) return passed('api', 'Amazon SES knows the account.')
  if (used >= most)
    return failed('api', `The account has sent its ${most} messages of the last 24 hours at Amazon SES.`)
  return passed('api', `Amazon SES knows the account: ${used} of ${most} messages in the last 24 hours.`)
}

function verdictOf(result: Taken | SesError): Verdict {
  if (result.kind === 'taken')
    return { kind: 'sent', reply: replyOf(`Amazon SES accepted the message as ${result.id}.`) }
  if (result.kind === 'never')
    return { kind: 'never', reply: replyOf(result.text, result.enhancedCode), about: 'content' }
  return {
    kind: 'later',
    reply: replyOf(result.text),
    cause: result.kind === 'unavailable' ? result.cause : 'transient',
  }
}

function resultOf(sesError: SesError): CheckResult {
  return failed(sesError.kind === 'unavailable' ? sesError.stage : 'api', sesError.text)
}
