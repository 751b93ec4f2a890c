// A fake Microsoft (identity platform and Graph mail): validates every request, and records messages.

import assert from 'node:assert/strict'
import { parseAddressList } from '../../src/mime/address.ts'
import { type Answer, type ApiRequest, type ApiServer, startApi } from './api-server.ts'
import { fieldsOf, type GoogleMessage } from './google.ts'
import { Issuer } from './issuer.ts'

const REQUEST_MAX = 4 * 1024 * 1024
const TENANT = '/common'

export interface Microsoft extends ApiServer {
  issuer: Issuer
  taken: GoogleMessage[]
  /** Personal accounts have no `mail`. */
  personal: boolean
  env: Record<string, string>
}

export async function startMicrosoft(): Promise<Microsoft> {
  const issuer = new Issuer({
    clientId: 'microsoft-client',
    clientSecret: 'microsoft-secret',
    rotates: true,
    offline: (query) => query.get('scope')!.split(' ').includes('offline_access'),
    // The platform names its own resource, and leaves out offline_access.
    grantedScopes: (scopes) =>
      scopes
        .filter((scope) => !['offline_access', 'openid', 'email'].includes(scope))
        .map((scope) => (scope.startsWith('https:') ? scope : `https://graph.microsoft.com/${scope}`))
        .join(' '),
  })
  const taken: GoogleMessage[] = []
  const server = await startApi((asked) => answer(microsoft, asked))
  const microsoft: Microsoft = Object.assign(server, {
    issuer,
    taken,
    personal: false,
    env: {
      MICROSOFT_CLIENT_ID: 'microsoft-client',
      MICROSOFT_CLIENT_SECRET: 'microsoft-secret',
      MICROSOFT_AUTH_BASE: server.origin + TENANT,
      MICROSOFT_API_BASE: server.origin,
    },
  })
  return microsoft
}

function answer(microsoft: Microsoft, asked: ApiRequest): Answer {
  const { path, method } = asked
  if (path === `${TENANT}/oauth2/v2.0/authorize`) return microsoft.issuer.authorize(asked)
  if (path === `${TENANT}/oauth2/v2.0/token`) return microsoft.issuer.token(asked)
  const grant = microsoft.issuer.whose(asked)
  if (grant === undefined)
    return wrong(401, 'InvalidAuthenticationToken', 'Access token has expired or is not yet valid.')
  const may = (scope: string) => grant.scopes.includes(scope)
  if (path === '/v1.0/me/sendMail') return may('Mail.Send') ? send(microsoft, asked, grant.email) : denied()
  assert.equal(method, 'GET')
  if (path === '/v1.0/me') {
    if (!may('User.Read')) return denied()
    const mail = microsoft.personal ? null : grant.email
    return { status: 200, body: { mail, userPrincipalName: grant.email } }
  }
  if (path === '/v1.0/me/mailFolders/sentitems/messages')
    return may('Mail.ReadBasic') ? find(microsoft, asked) : denied()
  return wrong(404, 'ResourceNotFound', 'Resource could not be discovered.')
}

function send(microsoft: Microsoft, { method, headers, body }: ApiRequest, account: string): Answer {
  assert.equal(method, 'POST')
  assert.equal(headers['content-type'], 'text/plain')
  if (body.length > REQUEST_MAX) return wrong(413, 'RequestEntityTooLarge', 'The request is too large.')
  const text = body.toString('latin1')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    return wrong(400, 'ErrorMimeContentInvalidBase64String', 'Invalid base64 string for MIME content.')
  }
  const mail = Buffer.from(text, 'base64')
  const found = fieldsOf(mail)
  const [from] = parseAddressList(found.get('from') ?? '')
  if (from?.email.toLowerCase() !== account) {
    return wrong(403, 'ErrorSendAsDenied', 'The user account does not have the right to send as the From address.')
  }
  const recipients = ['to', 'cc', 'bcc'].flatMap((name) =>
    parseAddressList(found.get(name) ?? '').map(({ email }) => email),
  )
  if (recipients.length === 0 || recipients.some((email) => email.endsWith('.invalid'))) {
    return wrong(400, 'ErrorInvalidRecipients', 'At least one recipient is not valid.')
  }
  const id = `AAMk${microsoft.taken.length}`
  microsoft.taken.push({ id, recipients, raw: mail.toString('latin1'), headers: found })
  return { status: 202 }
}

function find(microsoft: Microsoft, { query }: ApiRequest): Answer {
  const id = /^internetMessageId eq '((?:[^']|'')+)'$/.exec(query.get('$filter') ?? '')?.[1]?.replaceAll("''", "'")
  if (id === undefined)
    return wrong(400, 'ErrorInvalidUrlQueryFilter', 'The query filter contains one or more invalid nodes.')
  const shown = (query.get('$select') ?? '').split(',')
  const value = microsoft.taken
    .filter(({ headers }) => headers.get('message-id') === id)
    .map(({ headers }) => {
      const named = (name: string) =>
        parseAddressList(headers.get(name) ?? '').map(({ email: address, name: title }) => ({
          emailAddress: { name: title, address },
        }))
      const whole: Record<string, unknown> = {
        internetMessageId: id,
        toRecipients: named('to'),
        ccRecipients: named('cc'),
        bccRecipients: named('bcc'),
      }
      return Object.fromEntries(shown.map((name) => [name, whole[name]]))
    })
  return { status: 200, body: { value } }
}

/** An error as Graph writes it. */
export function wrong(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message, innerError: { 'request-id': 'x', date: '2026-01-01T00:00:00' } } } }
}

function denied(): Answer {
  return wrong(403, 'ErrorAccessDenied', 'Access is denied. Check credentials and try again.')
}
