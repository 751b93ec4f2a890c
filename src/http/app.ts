// The HTTP door: a listener for each public origin and one for the operator, over one list of routes.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import Koa from 'koa'
import { ProductError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Service } from '../base/lifecycle.ts'
import { isAgentSecret } from '../base/secrets.ts'
import type { Context } from '../context.ts'
import { Places } from './concurrency.ts'
import { API_BASE, OPERATOR_BASE, prepare } from './entry.ts'
import { errorMember, statusOf } from './errors.ts'
import { LargeBodies } from './large-bodies.ts'
import { Listener } from './listener.ts'
import { mount } from './mount.ts'
import { API_VERSION, openapiRoute, type Surface } from './openapi.ts'
import { combinedOpenapiRoute } from './openapi-combined.ts'
import { NOTHING_TOLD, type Told } from './openapi-webhooks.ts'
import { splitHostPort } from './ports.ts'
import { RateLimit } from './rate-limit.ts'
import type { Desk } from './request-context.ts'
import type { Route } from './route.ts'
import { Sources } from './source.ts'
import { RouteTable } from './table.ts'
import { Paces } from './throttle.ts'

const HSTS = 'max-age=31536000'

export interface HttpOptions {
  /** Checks every reply against the schema of its route; one that breaks it is logged and answered with 500. */
  checkReplies?: boolean
  /** What webhooks are told, for the description. */
  told?: Told
}

export interface HttpService extends Service {
  /** TCP ports that are listened on, once started. */
  readonly ports: { app: number; send: number; operator: number }
}

/** @throws Error when a route contradicts itself or another one */
export function openHttp(app: Context, routes: readonly Route[], options: HttpOptions = {}): HttpService {
  const { config, clock, log } = app
  const rate = new RateLimit(clock, app.directory.limits, config.RATE_LIMIT_PER_MINUTE)
  const shared = {
    app,
    rate,
    paces: new Paces(clock),
    places: new Places(),
    sources: new Sources(config.TRUSTED_PROXIES),
    largeBodies: new LargeBodies(),
    corsOrigins: new Set(config.CORS_ORIGINS),
    checkReplies: options.checkReplies ?? false,
  }
  const open = (surface: Surface, origin: string) => {
    const entries = routesOf(routes, app, surface, options.told ?? NOTHING_TOLD).map(prepare)
    const recognise = (secret: string) =>
      isAgentSecret(secret) ? app.agents.tokens.recognise(secret, surface) : app.directory.keys.recognise(secret)
    const table = new RouteTable(entries)
    return openListener({ ...shared, origin, base: API_BASE, recognise, headers: headersOf(origin), table })
  }
  const listeners = {
    app: open('app', config.APP_ORIGIN),
    send: open('send', config.SEND_ORIGIN),
    operator: openListener({ ...shared, ...operatorDesk(app, routes) }),
  }
  const operator = splitHostPort(config.OPERATOR_BIND)
  const stop = async () => {
    await Promise.all(Object.values(listeners).map((listener) => listener.close()))
    await shared.largeBodies.close()
    await rate.stop()
  }
  return {
    name: 'http',
    get ports() {
      return { app: listeners.app.port, send: listeners.send.port, operator: listeners.operator.port }
    },
    async start() {
      await rate.start((error) => log.error({ err: error }, 'the counts of requests were not written'))
      try {
        await listeners.app.listen(config.HTTP_PORT, config.HTTP_BIND)
        await listeners.send.listen(config.SEND_PORT, config.HTTP_BIND)
        await listeners.operator.listen(operator.port, operator.host)
      } catch (error) {
        // What did open must not stay open behind a start that failed.
        await stop()
        throw error
      }
    },
    stop,
  }
}

/** What the operator's listener has of its own: other keys, another base, no page of an origin may read it. */
function operatorDesk(app: Context, routes: readonly Route[]) {
  const origin = `http://${app.config.OPERATOR_BIND}`
  return {
    origin,
    base: OPERATOR_BASE,
    async recognise(secret: string) {
      const principal = await app.directory.operatorKeys.recognise(secret)
      return principal && { principal, suspended: false }
    },
    corsOrigins: new Set<string>(),
    headers: headersOf(origin),
    table: new RouteTable(routes.filter(({ surface }) => surface === 'operator').map(prepare)),
  }
}

/** The routes of one origin, its own description among them. */
function routesOf(routes: readonly Route[], app: Context, surface: Surface, told: Told): Route[] {
  const own = routes.filter((route) => (route.surface ?? 'app') === surface || route.surface === 'both')
  const combined = surface === 'app' ? [combinedOpenapiRoute(routes, app.config, told)] : []
  return [...own, openapiRoute(routes, app.config, surface, told), ...combined]
}

function openListener(desk: Desk): Listener {
  const koa = new Koa()
  koa.use(mount(desk))
  // What comes here are connections that broke while an answer was on its way; the door has answered everything else.
  koa.on('error', (error: unknown) => desk.app.log.debug({ err: error }, 'a connection broke'))
  return new Listener({
    clock: desk.app.clock,
    handler: koa.callback(),
    refuse: (socket, sentence) => refusal(desk, socket, sentence),
    failed: (error) => desk.app.log.error({ err: error }, 'connections cannot be accepted'),
  })
}

function headersOf(origin: string): Desk['headers'] {
  return [
    ['Cache-Control', 'no-store'],
    ['X-Content-Type-Options', 'nosniff'],
    ['X-API-Version', API_VERSION],
    ...(origin.startsWith('https:') ? [['Strict-Transport-Security', HSTS] as [string, string]] : []),
  ]
}

/** A whole response for bytes that never became a request: the same envelope and headers as every other. */
function refusal(desk: Desk, socket: Socket, sentence: string): string {
  const id = newId('request')
  const error = new ProductError('invalid_parameter', sentence)
  const status = statusOf(error.code)
  const member = errorMember(error, desk.app.config.APP_ORIGIN)
  const body = JSON.stringify({ ok: false, error: member, meta: { request_id: id } })
  const allowance = desk.rate.take(null, () => desk.sources.of(socket.remoteAddress, undefined))
  const headers = [
    ['X-Request-Id', id],
    ...desk.headers,
    ['X-RateLimit-Limit', allowance.limit],
    ['X-RateLimit-Remaining', allowance.remaining],
    ['X-RateLimit-Reset', allowance.reset],
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', Buffer.byteLength(body)],
    ['Connection', 'close'],
  ]
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n')
}
