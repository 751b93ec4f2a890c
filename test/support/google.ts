// A fake Google (OAuth and the Gmail API): validates every request, and records sent messages.

import assert from 'node:assert/strict'
import { parseAddressList } from '../../src/mime/address.ts'
import { readHeaders } from '../../src/mime/headers.ts'
import { type Answer, type ApiRequest, type ApiServer, startApi } from './api-server.ts'
import { Issuer } from './issuer.ts'

const SEND = 'https://www.googleapis.com/auth/gmail.send'
const METADATA = 'https://www.googleapis.com/auth/gmail.metadata'
const UPLOAD_MAX = 36_700_160

/** A message accepted by Gmail, with its recipients. */
export interface GoogleMessage {
  id: string
  recipients: string[]
  raw: string
  headers: Map<string, string>
}

export interface Google extends ApiServer {
  issuer: Issuer
  /** Oldest first. */
  taken: GoogleMessage[]
  /** Gives messages a Message-ID of its own, as Gmail does with some ids. */
  rewritesIds: boolean
  /** Settings that connect an appliance to it. */
  env: Record<string, string>
}

export async function startGoogle(): Promise<Google> {
  const issuer = new Issuer({
    clientId: 'google-client',
    clientSecret: 'google-secret',
    rotates: false,
    offline: (query) => query.get('access_type') === 'offline' && query.get('prompt') === 'consent',
    grantedScopes: (scopes) => scopes.join(' '),
  })
  const taken: GoogleMessage[] = []
  const server = await startApi((asked) => answer(google, asked))
  const google: Google = Object.assign(server, {
    issuer,
    taken,
    rewritesIds: false,
    env: {
      GOOGLE_CLIENT_ID: 'google-client',
      GOOGLE_CLIENT_SECRET: 'google-secret',
      GOOGLE_AUTH_BASE: server.origin,
      GOOGLE_TOKEN_BASE: server.origin,
      GOOGLE_API_BASE: server.origin,
    },
  })
  return google
}

function answer(google: Google, asked: ApiRequest): Answer {
  const { path, method } = asked
  if (path === '/o/oauth2/v2/auth') return google.issuer.authorize(asked)
  if (path === '/token') return google.issuer.token(asked)
  const grant = google.issuer.whose(asked)
  if (grant === undefined) return wrong(401, 'authError', 'Invalid Credentials')
  const may = (scope: string) => grant.scopes.includes(scope)
  if (path === '/upload/gmail/v1/users/me/messages/send') {
    return may(SEND) ? send(google, asked, grant.email) : narrow()
  }
  assert.equal(method, 'GET')
  // https://developers.google.com/gmail/api/reference/rest/v1/users/getProfile: either scope.
  if (!may(METADATA) && !(may('https://mail.google.com/') && path.endsWith('/profile'))) return narrow()
  if (path === '/gmail/v1/users/me/profile') {
    return { status: 200, body: { emailAddress: grant.email, messagesTotal: 1, threadsTotal: 1, historyId: '1' } }
  }
  if (path === '/gmail/v1/users/me/messages') return list(google, asked)
  const id = /^\/gmail\/v1\/users\/me\/messages\/([0-9a-f]+)$/.exec(path)?.[1]
  return id === undefined ? wrong(404, 'notFound', 'Not Found') : read(google, asked, id)
}

function send(google: Google, { method, query, headers, body }: ApiRequest, account: string): Answer {
  assert.equal(method, 'POST')
  assert.equal(query.get('uploadType'), 'media')
  assert.equal(headers['content-type'], 'message/rfc822')
  if (body.length > UPLOAD_MAX) return wrong(413, 'uploadTooLarge', 'Request entity too large')
  const raw = body.toString('latin1')
  const found = fieldsOf(body)
  const [from] = parseAddressList(found.get('from') ?? '')
  if (from?.email.toLowerCase() !== account) return wrong(400, 'invalidArgument', 'Invalid From header')
  const recipients = ['to', 'cc', 'bcc'].flatMap((name) =>
    parseAddressList(found.get(name) ?? '').map(({ email }) => email),
  )
  if (recipients.length === 0) return wrong(400, 'invalidArgument', 'Recipient address required')
  if (recipients.some((email) => email.endsWith('.invalid'))) return wrong(400, 'invalidArgument', 'Invalid To header')
  const id = (0x18c0000 + google.taken.length).toString(16)
  if (google.rewritesIds) found.set('message-id', `<CA${id}@mail.gmail.com>`)
  google.taken.push({ id, recipients, raw, headers: found })
  return { status: 200, body: { id, threadId: id, labelIds: ['SENT'] } }
}

function list(google: Google, { query }: ApiRequest): Answer {
  if (query.has('q')) return wrong(403, 'forbidden', "Metadata scope does not support 'q' parameter")
  assert.equal(query.get('labelIds'), 'SENT')
  const most = Number(query.get('maxResults') ?? 100)
  assert.ok(most >= 1 && most <= 500)
  const messages = google.taken
    .toReversed()
    .slice(0, most)
    .map(({ id }) => ({ id, threadId: id }))
  // Members without a value are left out.
  return { status: 200, body: { ...(messages.length > 0 ? { messages } : {}), resultSizeEstimate: messages.length } }
}

function read(google: Google, { query }: ApiRequest, id: string): Answer {
  const mail = google.taken.find((one) => one.id === id)
  if (mail === undefined) return wrong(404, 'notFound', 'Requested entity was not found.')
  if (query.get('format') !== 'metadata') return wrong(403, 'forbidden', "Metadata scope doesn't allow format FULL")
  const wanted = query.getAll('metadataHeaders').map((name) => name.toLowerCase())
  const headers = [...mail.headers]
    .filter(([name]) => wanted.includes(name))
    // Gmail returns the names as in the message.
    .map(([name, value]) => ({ name: name === 'message-id' ? 'Message-Id' : name, value }))
  return { status: 200, body: { id, threadId: id, labelIds: ['SENT'], payload: { headers } } }
}

/** The first field of each name, unfolded. */
export function fieldsOf(mail: Uint8Array): Map<string, string> {
  const found = new Map<string, string>()
  for (const { name, value } of readHeaders(mail).fields) {
    const text = Buffer.from(value).toString('utf8').replace(/\r\n/g, '').trim()
    if (!found.has(name)) found.set(name, text)
  }
  return found
}

/** An error as the API writes it. */
export function wrong(status: number, reason: string, message: string): Answer {
  return { status, body: { error: { code: status, message, errors: [{ domain: 'global', reason, message }] } } }
}

function narrow(): Answer {
  return wrong(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.')
}
