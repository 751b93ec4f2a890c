// The HTTP service: a listener for each public origin and one for the operator, over one list of routes.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import Koa from 'koa'
import type { ProductError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Service } from '../base/lifecycle.ts'
import { isAgentSecret } from '../base/secrets.ts'
import type { Context } from '../context.ts'
import { ConcurrencyLimits } from './concurrency.ts'
import { errorMember, statusOf } from './errors.ts'
import { LargeBodies } from './large-bodies.ts'
import { Listener } from './listener.ts'
import { mount } from './mount.ts'
import { API_VERSION, openapiRoute, type Surface } from './openapi.ts'
import { combinedOpenapiRoute } from './openapi-combined.ts'
import { NO_WEBHOOKS, type WebhookDocs } from './openapi-webhooks.ts'
import { splitHostPort } from './ports.ts'
import { API_BASE, OPERATOR_BASE, prepareRoute } from './prepared-route.ts'
import { RateLimit } from './rate-limit.ts'
import type { ErrorPage, ListenerContext } from './request-context.ts'
import type { Route } from './route.ts'
import { Sources } from './source.ts'
import { RouteTable } from './table.ts'
import { Throttle } from './throttle.ts'
import { StreamWriter } from './write.ts'

const HSTS = 'max-age=31536000'

export interface HttpOptions {
  /** Checks every reply against the schema of its route; a reply that breaks it is logged and answered with 500. */
  checkReplies?: boolean
  /** Shows an error at an unknown address to a browser. */
  errorPage?: ErrorPage
  /** Bodies of webhook events, for the OpenAPI document. */
  webhooks?: WebhookDocs
}

export interface HttpService extends Service {
  /** TCP ports, once started. */
  readonly ports: { app: number; send: number; operator: number; https: number }
}

/** @throws Error for an inconsistent route or two routes that conflict */
export function openHttp(app: Context, routes: readonly Route[], options: HttpOptions = {}): HttpService {
  const { config, clock, log } = app
  const rate = new RateLimit(clock, app.directory.limits, config.RATE_LIMIT_PER_MINUTE)
  const servedAt = (surface: Surface) =>
    new RouteTable(routesOf(routes, app, surface, options.webhooks ?? NO_WEBHOOKS).map(prepareRoute))
  const tables = { app: servedAt('app'), send: servedAt('send'), operator: operatorTable(routes) }
  const shared = {
    app,
    elsewhere: [
      { table: tables.app, origin: config.APP_ORIGIN },
      { table: tables.send, origin: config.SEND_ORIGIN },
      // Its address is no business of strangers at the public ports.
      { table: tables.operator, origin: null },
    ],
    errorPage: options.errorPage ?? null,
    rate,
    throttle: new Throttle(clock),
    concurrency: new ConcurrencyLimits(),
    sources: new Sources(config.TRUSTED_PROXIES),
    largeBodies: new LargeBodies(clock),
    corsOrigins: new Set(config.CORS_ORIGINS),
    checkReplies: options.checkReplies ?? false,
  }
  const open = (surface: Surface, origin: string) => {
    const credential = (secret: string) =>
      isAgentSecret(secret) ? () => app.agents.tokens.recognise(secret, surface) : app.directory.keys.recogniser(secret)
    const actorTables = surface === 'app' ? { api: tableOfActors(routes), operator: tables.operator } : null
    return openListener({
      ...shared,
      origin,
      base: API_BASE,
      credential,
      headers: headersOf(origin),
      table: tables[surface],
      actorTables,
    })
  }
  const listeners = {
    app: open('app', config.APP_ORIGIN),
    send: open('send', config.SEND_ORIGIN),
    operator: openListener({ ...shared, ...operatorListener(app, tables.operator) }),
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
      return { app: listeners.app.port, send: listeners.send.port, operator: listeners.operator.port, https: 0 }
    },
    async start() {
      rate.start((error) => log.error({ event: 'http.rate_counts_not_saved', err: error }, 'Request counts not saved'))
      try {
        await listeners.app.listen(config.HTTP_PORT, config.HTTP_BIND)
        await listeners.send.listen(config.SEND_PORT, config.HTTP_BIND)
        await listeners.operator.listen(operator.port, operator.host)
      } catch (error) {
        // Listeners that did open are closed when the start fails.
        await stop()
        throw error
      }
    },
    stop,
  }
}

/** Differences of the operator's listener: its keys, its base path, no CORS origins. */
function operatorListener(app: Context, table: RouteTable) {
  const origin = `http://${app.config.OPERATOR_BIND}`
  return {
    origin,
    base: OPERATOR_BASE,
    credential: (secret: string) => () => {
      const principal = app.directory.operatorKeys.recognise(secret)
      return principal && { principal, suspended: false }
    },
    corsOrigins: new Set<string>(),
    headers: headersOf(origin),
    table,
    actorTables: null,
  }
}

function operatorTable(routes: readonly Route[]): RouteTable {
  return new RouteTable(routes.filter(({ surface }) => surface === 'operator').map(prepareRoute))
}

/** What people reach below `/as`: the routes of the app's API that need a credential. The Sending API is for programs. */
function tableOfActors(routes: readonly Route[]): RouteTable {
  const api = routes.filter(({ surface = 'app', root, as }) => surface === 'app' && root !== true && as !== 'none')
  return new RouteTable(api.map(prepareRoute))
}

/** The routes of one origin, including its OpenAPI document. */
function routesOf(routes: readonly Route[], app: Context, surface: Surface, webhooks: WebhookDocs): Route[] {
  const isServed = ({ surface: at = 'app' }: Route) =>
    at === surface || at === 'both' || (at === 'me' && surface === 'app')
  const own = routes.filter(isServed)
  const combined = surface === 'app' ? [combinedOpenapiRoute(routes, app.config, webhooks)] : []
  return [...own, openapiRoute(routes, app.config, surface, webhooks), ...combined]
}

function openListener(context: Omit<ListenerContext, 'streams'>): Listener {
  const { log, clock } = context.app
  // Connections lost during a response, and streams that failed; every other error is handled where it occurs.
  const lost = (error: unknown) => log.debug({ event: 'http.connection_lost', err: error }, 'Connection lost')
  const listener: ListenerContext = { ...context, streams: new StreamWriter(new Koa(), lost) }
  return new Listener({
    clock,
    handler: mount(listener),
    refuse: (socket, error) => refusal(listener, socket, error),
    perAddress: context.app.config.HTTP_MAX_PER_ADDRESS,
    isProxy: (address) => context.sources.isProxy(address),
    failed: (error) => log.error({ event: 'http.accept_failed', err: error }, 'Connections cannot be accepted'),
  })
}

function headersOf(origin: string): ListenerContext['headers'] {
  return [
    ['Cache-Control', 'no-store'],
    ['X-Content-Type-Options', 'nosniff'],
    ['X-API-Version', API_VERSION],
    ...(origin.startsWith('https:') ? [['Strict-Transport-Security', HSTS] as [string, string]] : []),
  ]
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
    ...listener.headers,
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
