// A connected Microsoft account: sends through Microsoft Graph, from the account's own address.

import { MINUTE_MS } from '../../../base/durations.ts'
import { type ApiResult, shown, textAt, valueAt } from '../../model/api-client.ts'
import type { Provider } from '../../model/records.ts'
import type { Handover, Transport } from '../../model/transport.ts'
import { addressOf, type Issuer } from '../../providers/issuers.ts'
import { type Dialect, evaluateProfile, type Meaning, openAccount } from './carrier.ts'
import type { AccountDeps } from './deps.ts'
import type { SentLookup } from './doubts.ts'
import { keyOf } from './readdress.ts'
import type { AccountSession } from './session.ts'

/**
 * Largest message, in bytes: Graph limits requests to 4 MiB of base64. Larger messages would have to be split into a draft and
 * attachments, which changes the composed message, so they are refused instead.
 */
export const OUTLOOK_MAX = 3_145_728
const SEND_MS = MINUTE_MS

export function openOutlook(deps: AccountDeps, provider: Provider): Transport {
  const me = `${deps.config.MICROSOFT_API_BASE}/v1.0/me`
  const dialect: Dialect = {
    peer: new URL(deps.config.MICROSOFT_API_BASE).hostname,
    maxBytes: OUTLOOK_MAX,
    send: (session, mail, signal) =>
      // Exchange keeps only the header fields it knows and X- fields.
      session.call({
        method: 'POST',
        url: `${me}/sendMail`,
        headers: { 'content-type': 'text/plain' },
        body: Buffer.from(mail).toString('base64'),
        timeoutMs: SEND_MS,
        ...(signal === undefined ? {} : { signal }),
      }),
    meaningOf,
    find: (session, handover) => find(session, me, handover),
    // Graph returns no id for an accepted message and keeps our Message-ID.
    idsOf: async () => [],
    async profile(session) {
      const result = await session.call({ method: 'GET', url: session.issuer.profileUrl! })
      return evaluateProfile(session, provider, result, profileAddress(session.issuer, result))
    },
  }
  return openAccount(deps, provider, 'outlook_api', dialect)
}

/** Error codes that mean an exhausted quota or blocked submission of the mailbox or tenant. */
const QUOTA = new Set([
  'ErrorExceededMessageLimit',
  'ErrorMessageSubmissionBlocked',
  'ErrorQuotaExceeded',
  'ErrorSubmissionQuotaExceeded',
  'ErrorAccountSuspend',
])
const TOO_LARGE = new Set(['ErrorMessageSizeExceeded', 'ErrorRequestTooLarge', 'RequestEntityTooLarge'])
/** A 400 about the account, not the message. */
const OF_ACCOUNT = new Set(['ErrorSendAsDenied', 'ErrorAccessDenied', 'MailboxNotEnabledForRESTAPI'])

function meaningOf({ status, body }: Extract<ApiResult, { kind: 'answered' }>): Meaning {
  if (status === 202) return { kind: 'sent', text: 'Microsoft Graph accepted the message.', id: null }
  const code = textAt(body, 'error', 'code') ?? ''
  const message = textAt(body, 'error', 'message') ?? ''
  const text = `${status} ${shown(`${code} ${message}`) || 'Microsoft Graph returned no reason.'}`
  if (QUOTA.has(code)) return { kind: 'unavailable', stage: 'api', text, cause: 'provider_quota' }
  if (status === 429) return { kind: 'unavailable', stage: 'api', text, cause: 'throttled' }
  if (status === 413 || TOO_LARGE.has(code)) return { kind: 'never', text, enhancedCode: '5.3.4' }
  if (status === 400 && !OF_ACCOUNT.has(code)) return { kind: 'never', text }
  if (status >= 500) return { kind: 'doubtful', text }
  return { kind: 'unavailable', stage: 'auth', text, cause: 'transient' }
}

/** Finds the message by Message-ID; comparing recipients excludes an earlier hand-over of it to other recipients. */
async function find(session: AccountSession, me: string, handover: Handover): Promise<SentLookup> {
  // OData escapes a quote in a string by doubling it.
  const id = `<${handover.internetMessageId}>`.replaceAll("'", "''")
  const query = new URLSearchParams({
    $filter: `internetMessageId eq '${id}'`,
    $select: 'internetMessageId,toRecipients,ccRecipients,bccRecipients',
    $top: '10',
  })
  const result = await session.call({ method: 'GET', url: `${me}/mailFolders/sentitems/messages?${query}` })
  if (result.kind !== 'answered') return { kind: 'unknown', text: result.text }
  // Without the scope to read Sent the outcome stays unknown: send again, because a duplicate is better than a lost message.
  if (result.status === 403) return { kind: 'missing' }
  const messages = valueAt(result.body, 'value')
  if (result.status !== 200 || !Array.isArray(messages)) {
    return { kind: 'unknown', text: `Microsoft Graph answered ${result.status}.` }
  }
  const wanted = namesOf(handover.recipients)
  const same = messages.some((message) => namesOf(recipientsOf(message)) === wanted)
  return same ? { kind: 'found', remoteIds: [] } : { kind: 'missing' }
}

function recipientsOf(message: unknown): string[] {
  return ['toRecipients', 'ccRecipients', 'bccRecipients'].flatMap((member) => {
    const list = valueAt(message, member)
    return (Array.isArray(list) ? list : []).flatMap((one) => textAt(one, 'emailAddress', 'address') ?? [])
  })
}

function namesOf(addresses: readonly string[]): string {
  return [...new Set(addresses.map(keyOf))].toSorted().join('\n')
}

function profileAddress(issuer: Issuer, result: Awaited<ReturnType<AccountSession['call']>>): string | null {
  return result.kind === 'answered' ? addressOf(issuer, result.body) : null
}
