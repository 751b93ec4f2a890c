// A connected Google account: sends through the Gmail API, from the account's own address.

import { type ApiResult, shown, textAt, valueAt } from '../../model/api-client.ts'
import type { Provider } from '../../model/records.ts'
import type { Handover, Transport } from '../../model/transport.ts'
import { addressOf } from '../../providers/issuers.ts'
import { type Dialect, evaluateProfile, type Meaning, openAccount } from './carrier.ts'
import type { AccountDeps } from './deps.ts'
import type { SentLookup } from './doubts.ts'
import { MARK, markOf } from './readdress.ts'
import type { AccountSession } from './session.ts'

/** Largest upload of `users.messages.send`, in bytes. */
export const GMAIL_MAX = 36_700_160
const UPLOAD_MS = 120_000
/** Newest messages in Sent that are searched: about what an account may send in a few hours. */
const SENT_SEARCHED = 100
const CONCURRENT_READS = 4

export function openGmail(deps: AccountDeps, provider: Provider): Transport {
  const base = deps.config.GOOGLE_API_BASE
  const users = `${base}/gmail/v1/users/me`
  const dialect: Dialect = {
    peer: new URL(base).hostname,
    maxBytes: GMAIL_MAX,
    send: (session, mail, signal) =>
      // The upload endpoint takes the raw message; the plain endpoint takes base64 inside JSON and has a lower size limit.
      session.call({
        method: 'POST',
        url: `${base}/upload/gmail/v1/users/me/messages/send?uploadType=media`,
        headers: { 'content-type': 'message/rfc822' },
        body: mail,
        timeoutMs: UPLOAD_MS,
        ...(signal === undefined ? {} : { signal }),
      }),
    meaningOf,
    find: (session, handover) => find(session, users, handover),
    async idsOf(session, id) {
      const headers = await readHeaders(session, users, id)
      return headers === null ? [] : messageIdIn(headers)
    },
    async profile(session) {
      const result = await session.call({ method: 'GET', url: `${users}/profile` })
      const address = result.kind === 'answered' ? addressOf(session.issuer, result.body) : null
      return evaluateProfile(session, provider, result, address)
    },
  }
  return openAccount(deps, provider, 'gmail_api', dialect)
}

/** Error reasons that mean an exhausted quota: the account pauses. */
const QUOTA = new Set(['dailyLimitExceeded', 'quotaExceeded', 'limitExceeded'])
const RATE_LIMITED = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'concurrentLimitExceeded'])
/** A 400 about the account, not the message: it has no Gmail, or sending is disabled. */
const OF_ACCOUNT = new Set(['failedPrecondition', 'FAILED_PRECONDITION'])

function meaningOf({ status, body }: Extract<ApiResult, { kind: 'answered' }>): Meaning {
  if (status === 200) {
    const id = textAt(body, 'id')
    return {
      kind: 'sent',
      text: `Gmail accepted the message${id === null ? '' : ` as ${shown(id, 64)}`}.`,
      id: id && shown(id, 64),
    }
  }
  const reason = textAt(body, 'error', 'errors', 0, 'reason') ?? textAt(body, 'error', 'status') ?? ''
  const text = `${status} ${shown(textAt(body, 'error', 'message') ?? (reason || 'Gmail returned no reason.'))}`
  if (status === 401) return { kind: 'unavailable', stage: 'auth', text, cause: 'transient' }
  if (QUOTA.has(reason)) return { kind: 'unavailable', stage: 'api', text, cause: 'provider_quota' }
  // The daily sending limit is a 429, too; only the message text distinguishes it.
  if (status === 429 && /daily|sending quota|mail sending/i.test(text)) {
    return { kind: 'unavailable', stage: 'api', text, cause: 'provider_quota' }
  }
  if (status === 429 || RATE_LIMITED.has(reason)) return { kind: 'unavailable', stage: 'api', text, cause: 'throttled' }
  if (status === 413) return { kind: 'never', text, enhancedCode: '5.3.4' }
  if (status === 400 && !OF_ACCOUNT.has(reason)) return { kind: 'never', text }
  if (status >= 500) return { kind: 'doubtful', text }
  // 403 and all other statuses concern the account: a scope was removed, or Gmail is disabled for it.
  return { kind: 'unavailable', stage: 'auth', text, cause: 'transient' }
}

/** The gmail.metadata scope does not allow searches, so this reads the headers of the newest messages in Sent. */
async function find(session: AccountSession, users: string, handover: Handover): Promise<SentLookup> {
  const url = `${users}/messages?labelIds=SENT&maxResults=${SENT_SEARCHED}`
  const list = await session.call({ method: 'GET', url })
  if (list.kind !== 'answered') return { kind: 'unknown', text: list.text }
  // Without the scope to read Sent the outcome stays unknown: send again, because a duplicate is better than a lost message.
  if (list.status === 403) return { kind: 'missing' }
  if (list.status !== 200) return { kind: 'unknown', text: `Gmail answered ${list.status}.` }
  const messages = valueAt(list.body, 'messages')
  const ids = (Array.isArray(messages) ? messages : [])
    .flatMap((one) => textAt(one, 'id') ?? [])
    .slice(0, SENT_SEARCHED)
  const wanted = markOf(handover)
  for (let at = 0; at < ids.length; at += CONCURRENT_READS) {
    const group = ids.slice(at, at + CONCURRENT_READS)
    const read = await Promise.all(group.map((id) => readHeaders(session, users, id)))
    const index = read.findIndex((headers) => headers?.get(MARK.toLowerCase()) === wanted)
    if (index >= 0) return { kind: 'found', remoteIds: [group[index]!, ...messageIdIn(read[index]!)] }
    if (read.includes(null)) return { kind: 'unknown', text: 'Sent could not be read whole.' }
  }
  return { kind: 'missing' }
}

/** Message-ID and mark of one message, by lower-case field name; null when the headers cannot be read now. */
async function readHeaders(session: AccountSession, users: string, id: string): Promise<Map<string, string> | null> {
  const wanted = ['Message-ID', MARK].map((name) => `&metadataHeaders=${name}`).join('')
  const result = await session.call({
    method: 'GET',
    url: `${users}/messages/${encodeURIComponent(id)}?format=metadata${wanted}`,
  })
  if (result.kind !== 'answered') return null
  // Deleted since the list was read.
  if (result.status === 404) return new Map()
  if (result.status !== 200) return null
  const headers = valueAt(result.body, 'payload', 'headers')
  const found = new Map<string, string>()
  for (const header of Array.isArray(headers) ? headers : []) {
    const [name, value] = [textAt(header, 'name'), textAt(header, 'value')]
    if (name !== null && value !== null) found.set(name.toLowerCase(), value.trim())
  }
  return found
}

/** The Message-ID that replies will reference, without angle brackets. */
function messageIdIn(headers: ReadonlyMap<string, string>): string[] {
  const id = /^<([^<>\s]{1,998})>$/.exec(headers.get('message-id') ?? '')?.[1]
  return id === undefined ? [] : [id]
}
