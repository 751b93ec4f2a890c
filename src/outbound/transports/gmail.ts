// A connected Google account: mail leaves through the Gmail API, under the account's own address.

import { addressOf } from '../oauth/issuers.ts'
import type { Provider } from '../records.ts'
import { type ApiResult, shown, textAt, valueAt } from './accounts/api-client.ts'
import { type Dialect, judgeProfile, type Meaning, openAccount } from './accounts/carrier.ts'
import type { Finding } from './accounts/doubts.ts'
import type { AccountParts } from './accounts/parts.ts'
import { MARK, markOf } from './accounts/readdress.ts'
import type { AccountSession } from './accounts/session.ts'
import type { Handover, Transport } from './transport.ts'

/** What `users.messages.send` takes as an upload. Bytes. */
export const GMAIL_MAX = 36_700_160
const UPLOAD_MS = 120_000
/** How far back Sent is looked through: as much as an account may send in some hours. */
const SENT_LOOKED = 100
const AT_ONCE = 4

export async function openGmail(parts: AccountParts, provider: Provider): Promise<Transport> {
  const base = parts.config.GOOGLE_API_BASE
  const users = `${base}/gmail/v1/users/me`
  const dialect: Dialect = {
    peer: new URL(base).hostname,
    maxBytes: GMAIL_MAX,
    send: (session, mail, signal) =>
      // The upload address takes mails of every size as they are; the other one takes base64 inside JSON, and less of it.
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
      return judgeProfile(session, provider, result, address)
    },
  }
  return openAccount(parts, provider, 'gmail_api', dialect)
}

/** Reasons for which the account, or all of the API for it, rests for a while. */
const QUOTA = new Set(['dailyLimitExceeded', 'quotaExceeded', 'limitExceeded'])
const PACE = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'concurrentLimitExceeded'])
/** A 400 that speaks of the account, not of the mail: it has no Gmail, or sending is switched off. */
const OF_ACCOUNT = new Set(['failedPrecondition', 'FAILED_PRECONDITION'])

function meaningOf({ status, body }: Extract<ApiResult, { kind: 'answered' }>): Meaning {
  if (status === 200) {
    const id = textAt(body, 'id')
    return {
      kind: 'sent',
      text: `Gmail took the mail${id === null ? '' : ` as ${shown(id, 64)}`}.`,
      id: id && shown(id, 64),
    }
  }
  const reason = textAt(body, 'error', 'errors', 0, 'reason') ?? textAt(body, 'error', 'status') ?? ''
  const text = `${status} ${shown(textAt(body, 'error', 'message') ?? (reason || 'Gmail gave no reason.'))}`
  if (status === 401) return { kind: 'unavailable', stage: 'auth', text, cause: 'transient' }
  if (QUOTA.has(reason)) return { kind: 'unavailable', stage: 'api', text, cause: 'provider_quota' }
  // The limit of mails a day comes as a 429 too; its sentence names it.
  if (status === 429 && /daily|sending quota|mail sending/i.test(text)) {
    return { kind: 'unavailable', stage: 'api', text, cause: 'provider_quota' }
  }
  if (status === 429 || PACE.has(reason)) return { kind: 'unavailable', stage: 'api', text, cause: 'throttled' }
  if (status === 413) return { kind: 'never', text, enhancedCode: '5.3.4' }
  if (status === 400 && !OF_ACCOUNT.has(reason)) return { kind: 'never', text }
  if (status >= 500) return { kind: 'doubtful', text }
  // 403 and whatever else speaks of the account: the permission was narrowed, Gmail is switched off for it.
  return { kind: 'unavailable', stage: 'auth', text, cause: 'transient' }
}

/** The scope that shows headers cannot search: the newest mails in Sent are looked at one by one. */
async function find(session: AccountSession, users: string, handover: Handover): Promise<Finding> {
  const url = `${users}/messages?labelIds=SENT&maxResults=${SENT_LOOKED}`
  const list = await session.call({ method: 'GET', url })
  if (list.kind !== 'answered') return { kind: 'unknown', text: list.text }
  // Without the permission to look it cannot be known, and what was accepted must not be lost.
  if (list.status === 403) return { kind: 'missing' }
  if (list.status !== 200) return { kind: 'unknown', text: `Gmail answered ${list.status}.` }
  const messages = valueAt(list.body, 'messages')
  const ids = (Array.isArray(messages) ? messages : []).flatMap((one) => textAt(one, 'id') ?? []).slice(0, SENT_LOOKED)
  const wanted = markOf(handover)
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const group = ids.slice(at, at + AT_ONCE)
    const read = await Promise.all(group.map((id) => readHeaders(session, users, id)))
    const index = read.findIndex((headers) => headers?.get(MARK.toLowerCase()) === wanted)
    if (index >= 0) return { kind: 'found', remoteIds: [group[index]!, ...messageIdIn(read[index]!)] }
    if (read.includes(null)) return { kind: 'unknown', text: 'Sent could not be read whole.' }
  }
  return { kind: 'missing' }
}

/** Message-ID and mark of one mail, by their names in lower case; null when it cannot be read now. */
async function readHeaders(session: AccountSession, users: string, id: string): Promise<Map<string, string> | null> {
  const wanted = ['Message-ID', MARK].map((name) => `&metadataHeaders=${name}`).join('')
  const result = await session.call({
    method: 'GET',
    url: `${users}/messages/${encodeURIComponent(id)}?format=metadata${wanted}`,
  })
  if (result.kind !== 'answered') return null
  // Deleted since the list was made.
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

/** The id replies will name, without its brackets. */
function messageIdIn(headers: ReadonlyMap<string, string>): string[] {
  const id = /^<([^<>\s]{1,998})>$/.exec(headers.get('message-id') ?? '')?.[1]
  return id === undefined ? [] : [id]
}
