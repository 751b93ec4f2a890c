// What the ports without TLS serve once HTTPS is proven: redirects, and no credential (docs/design/internet.md §4).

import type { IncomingMessage, ServerResponse } from 'node:http'
import { HTTP_CHALLENGE_PATH } from '../acme/challenges.ts'
import { ProductError } from '../base/errors.ts'
import { plainAddress } from '../net/connections.ts'
import type { Handler, HostHandlers } from './hosts.ts'
import { cookieOf } from './session-cookie.ts'

const FORBIDDEN = 403
const PERMANENT_REDIRECT = 308
const CREDENTIALS = ['authorization', 'x-source-authorization'] as const
/** Of a session that was begun without TLS; browsers send the one of HTTPS over HTTPS alone. */
const PLAIN_COOKIE = 'mailstead'

interface PlainPort {
  /** The origin that HTTPS serves instead, without a path. */
  origin: string
  /** Whether HTTPS is proven. */
  isClosed(): boolean
  /** Whether an address is one of a trusted proxy. */
  isProxy(address: string): boolean
  refuse: HostHandlers['refuse']
}

/** Connections of this machine and of trusted proxies are served as before: they end TLS, or need none. */
export function plainPort(handler: Handler, { origin, isClosed, isProxy, refuse }: PlainPort): Handler {
  return (req, res) => {
    if (!isClosed() || isNear(req, isProxy) || (req.url ?? '').startsWith(HTTP_CHALLENGE_PATH)) return handler(req, res)
    if (hasCredential(req)) {
      const sentence = `This port is not encrypted, and the credential was sent in the clear. Replace it, and use ${origin}.`
      return refuse(req, res, { status: FORBIDDEN, error: new ProductError('insufficient_permissions', sentence) })
    }
    if (req.method === 'GET' || req.method === 'HEAD') return redirect(req, res, origin)
    const sentence = `This port is not encrypted. Use ${origin}.`
    return refuse(req, res, { status: FORBIDDEN, error: new ProductError('insufficient_permissions', sentence) })
  }
}

function hasCredential({ headers }: IncomingMessage): boolean {
  return CREDENTIALS.some((name) => headers[name] !== undefined) || cookieOf(headers.cookie, PLAIN_COOKIE) !== null
}

function isNear({ socket }: IncomingMessage, isProxy: PlainPort['isProxy']): boolean {
  const address = plainAddress(socket.remoteAddress ?? '')
  return address.startsWith('127.') || address === '::1' || isProxy(address)
}

/** To the configured origin, never to the host that the request names: anybody may write that. */
function redirect(req: IncomingMessage, res: ServerResponse, origin: string): void {
  const url = req.url ?? '/'
  // An absolute URL (RFC 9112 §3.2.2) or one that begins with two slashes would lead elsewhere.
  const path = url.startsWith('/') && !url.startsWith('//') ? url : '/'
  res.writeHead(PERMANENT_REDIRECT, { location: `${origin}${path}`, 'content-length': '0' }).end()
}
