// OAUTHBEARER (RFC 7628) and XOAUTH2 (Google's predecessor of it): the client sends a bearer token.

import {
  FIRST,
  malformed,
  messageText,
  readSaslName,
  type SaslDeps,
  type SaslExchange,
  type SaslStep,
} from './sasl-exchange.ts'

// The scopes with which a mail program can read mail, named in the error (RFC 7628 §3.2.2).
const SCOPE = 'mailbox.read email.receive'

/** `n,a=<user>,^Aauth=Bearer <token>^A^A`, where ^A is the byte 1 (RFC 7628 §3.1). */
export function openBearer({ discovery }: Pick<SaslDeps, 'discovery'>): SaslExchange {
  return {
    respond: (response) => (response === null ? FIRST : readBearer(response)),
    conclude({ accepted }) {
      const error = { status: 'invalid_token', scope: SCOPE, 'openid-configuration': discovery }
      return accepted ? null : Buffer.from(JSON.stringify(error))
    },
  }
}

function readBearer(message: Buffer): SaslStep {
  const [, as = '', rest] = /^[ny],(?:a=([^,]*))?,\u0001(.*)$/s.exec(messageText(message) ?? '') ?? []
  const name = readSaslName(as)
  const token = rest === undefined ? null : tokenOf(rest)
  if (token === null || name === null) return malformed('The message is not that of RFC 7628, section 3.1.')
  return { next: 'verify', credentials: { kind: 'bearer', name, token } }
}

/** `user=<user>^Aauth=Bearer <token>^A^A`. */
export function openXoauth2(): SaslExchange {
  return {
    respond: (response) => (response === null ? FIRST : readXoauth2(response)),
    conclude({ accepted }) {
      return accepted ? null : Buffer.from(JSON.stringify({ status: '401', schemes: 'bearer', scope: SCOPE }))
    },
  }
}

function readXoauth2(message: Buffer): SaslStep {
  const [, name, rest] = /^user=([^\u0001]*)\u0001(.*)$/s.exec(messageText(message) ?? '') ?? []
  const token = rest === undefined ? null : tokenOf(rest)
  if (token === null || name === undefined) return malformed('The message is not user=…^Aauth=Bearer …^A^A.')
  return { next: 'verify', credentials: { kind: 'bearer', name, token } }
}

/** The token among `key=value` pairs, each followed by ^A, with a ^A behind the last; '' without one. @returns null for another form */
function tokenOf(text: string): string | null {
  if (!/^(?:[A-Za-z]+=[^\u0001]*\u0001)*\u0001$/.test(text)) return null
  const auth = text.split('\u0001').find((pair) => /^auth=/i.test(pair))
  return /^auth=bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(auth ?? '')?.[1] ?? ''
}
