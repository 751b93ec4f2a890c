// The listeners of the public origins: two plain ports, and HTTPS for all names.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import Koa from 'koa'
import type { ProductError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { hasOneOrigin } from '../config/origins.ts'
import type { Context } from '../context.ts'
import { errorMember, statusOf } from './errors.ts'
import { byHost, type Handler, type HostHandlers, withSendPath } from './hosts.ts'
import type { Hsts } from './hsts.ts'
import { HTTP1_LIMITS, Listener, REQUEST_TIMEOUT_MS, SILENCE_TIMEOUT_MS } from './listener.ts'
import { mount } from './mount.ts'
import { API_VERSION } from './openapi.ts'
import { plainPort } from './plain-port.ts'
import type { ListenerContext } from './request-context.ts'
import { openSecureServer } from './secure-server.ts'
import { StreamWriter } from './write.ts'

interface PublicContexts {
  app: ListenerContext
  send: ListenerContext
  /** By the first label of the name. */
  documents: ReadonlyMap<string, ListenerContext>
  hsts: Hsts
}

/** HTTPS is null without HTTPS_PORT. */
export function openPublicListeners(
  app: Context,
  { app: console, send: sending, documents, hsts }: PublicContexts,
): { app: Listener; send: Listener; https: Listener | null } {
  const { config } = app
  const own = mount(console)
  const send = mount(sending)
  const main = hasOneOrigin(config) ? withSendPath(own, send) : own
  const refuse = refuser(console)
  const plain = (handler: Handler, origin: string) => {
    const isProxy = (address: string) => console.sources.isProxy(address)
    return plainPort(handler, { origin, isClosed: () => hsts.isProven, isProxy, refuse })
  }
  const https = () => {
    const byName = new Map([...documents].map(([name, context]) => [name, mount(context)]))
    const isDomain = (name: string) => app.directory.domains.byName(name) !== undefined
    const handler = byHost(config, { app: main, send, documents: byName, isDomain, refuse })
    return openListener(console, handler, true)
  }
  return {
    app: openListener(console, config.HTTPS_PORT === 0 ? main : plain(main, console.origin)),
    send: openListener(sending, config.HTTPS_PORT === 0 ? send : plain(send, sending.origin)),
    https: config.HTTPS_PORT === 0 ? null : https(),
  }
}

export function streamWriter({ log }: Context): StreamWriter {
  // Connections lost during a response, and streams that failed; every other error is handled where it occurs.
  return new StreamWriter(new Koa(), (error) =>
    log.debug({ event: 'http.connection_lost', err: error }, 'Connection lost'),
  )
}

export function openListener(context: ListenerContext, handler = mount(context), isSecure = false): Listener {
  const { app, sources } = context
  const { clock, log, certificate, certificates } = app
  const limits = { requestMs: REQUEST_TIMEOUT_MS, silenceMs: SILENCE_TIMEOUT_MS, http1: HTTP1_LIMITS }
  const challengeOf = (name: string) => certificates.challengeOf(name, 'tls-alpn-01')
  const secure = { clock, certificate, challengeOf, ...limits }
  return new Listener({
    clock,
    handler,
    refuse: (socket, error) => refusal(context, socket, error),
    perAddress: app.config.HTTP_MAX_PER_ADDRESS,
    isProxy: (address) => sources.isProxy(address),
    ...(isSecure ? { openServer: (serve) => openSecureServer(secure, serve) } : {}),
    failed: (error) => log.error({ event: 'http.accept_failed', err: error }, 'Connections cannot be accepted'),
  })
}

export function headersOf(origin: string, hsts: Hsts | null): ListenerContext['headers'] {
  const fixed: [string, string][] = [
    ['Cache-Control', 'no-store'],
    ['X-Content-Type-Options', 'nosniff'],
    ['X-API-Version', API_VERSION],
  ]
  if (hsts === null || !origin.startsWith('https:')) return () => fixed
  return () => (hsts.value === null ? fixed : [...fixed, ['Strict-Transport-Security', hsts.value]])
}

/** Answers a whole request with an error, before it reaches a route. */
function refuser(context: ListenerContext): HostHandlers['refuse'] {
  return (req, res, { status, error }) => {
    const id = newId('request')
    const member = errorMember(error, context.app.config.APP_ORIGIN)
    const body = JSON.stringify({ ok: false, error: member, meta: { request_id: id } })
    for (const [name, value] of [['X-Request-Id', id] as const, ...context.headers()]) res.setHeader(name, value)
    res.setHeader('Content-Type', 'application/json; charset=utf-8')
    res.setHeader('Content-Length', Buffer.byteLength(body))
    res.statusCode = status
    // The rest of its body is not read: the connection cannot go on.
    if (!req.complete) res.shouldKeepAlive = false
    res.end(req.method === 'HEAD' ? undefined : body)
  }
}

/** A whole response for bytes that are not a request, or a connection that is not admitted, with the usual envelope and headers. */
function refusal(listener: ListenerContext, socket: Socket, error: ProductError): string {
  const id = newId('request')
  const status = statusOf(error.code)
  const member = errorMember(error, listener.app.config.APP_ORIGIN)
  const body = JSON.stringify({ ok: false, error: member, meta: { request_id: id } })
  const allowance = listener.rate.take(null, () => listener.sources.of(socket.remoteAddress, undefined))
  const headers = [
    ['X-Request-Id', id],
    ...listener.headers(),
    ['X-RateLimit-Limit', allowance.limit],
    ['X-RateLimit-Remaining', allowance.remaining],
    ['X-RateLimit-Reset', allowance.reset],
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', Buffer.byteLength(body)],
    ['Connection', 'close'],
    ...(error.retryAfter === undefined ? [] : [['Retry-After', error.retryAfter]]),
  ]
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n')
}
