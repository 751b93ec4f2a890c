// The HTTP service: a listener for each public origin and one for the operator, over one list of routes.

import type { Service } from '../base/lifecycle.ts'
import { isAgentSecret } from '../base/secrets.ts'
import { sendBase } from '../config/origins.ts'
import type { Context } from '../context.ts'
import { ConcurrencyLimits } from './concurrency.ts'
import { Hsts } from './hsts.ts'
import { LargeBodies } from './large-bodies.ts'
import { openapiRoute, type Surface } from './openapi.ts'
import { combinedOpenapiRoute } from './openapi-combined.ts'
import { NO_WEBHOOKS, type WebhookDocs } from './openapi-webhooks.ts'
import { splitHostPort } from './ports.ts'
import { API_BASE, OPERATOR_BASE, prepareRoute } from './prepared-route.ts'
import { headersOf, openListener, openPublicListeners, streamWriter } from './public-listeners.ts'
import { RateLimit } from './rate-limit.ts'
import type { ErrorPage, ListenerContext } from './request-context.ts'
import type { Route } from './route.ts'
import { Sources } from './source.ts'
import { RouteTable } from './table.ts'
import { Throttle } from './throttle.ts'

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
  const shared = sharedParts(app, tables, { rate, ...options })
  const hsts = new Hsts(app)
  const context = (surface: 'app' | 'send', table: RouteTable = tables[surface]): ListenerContext => {
    const credentialAt = (resource: 'app' | 'send' | 'mcp') => (secret: string) =>
      isAgentSecret(secret)
        ? () => app.agents.tokens.recognise(secret, resource)
        : app.directory.keys.recogniser(secret)
    const [credential, toolCredential] = [credentialAt(surface), credentialAt('mcp')]
    const actorTables =
      surface === 'app' && table === tables.app ? { api: tableOfActors(routes), operator: tables.operator } : null
    const origin = surface === 'app' ? config.APP_ORIGIN : sendBase(config)
    const own = { origin, base: API_BASE, credential, toolCredential, table, actorTables, streams: streamWriter(app) }
    return { ...shared, ...own, headers: headersOf(origin, hsts) }
  }
  const contexts = { app: context('app'), send: context('send') }
  const documents = tablesByName(routes).map(([name, table]) => [name, context('app', table)] as const)
  const listeners = {
    ...openPublicListeners(app, { ...contexts, documents: new Map(documents), hsts }),
    operator: openListener({ ...shared, ...operatorListener(app, tables.operator), streams: streamWriter(app) }),
  }
  const operator = splitHostPort(config.OPERATOR_BIND)
  const stop = async () => {
    hsts.close()
    await Promise.all(Object.values(listeners).map((listener) => listener?.close()))
    await shared.largeBodies.close()
    await rate.stop()
  }
  return {
    name: 'http',
    get ports() {
      return {
        app: listeners.app.port,
        send: listeners.send.port,
        operator: listeners.operator.port,
        https: listeners.https?.port ?? 0,
      }
    },
    async start() {
      rate.start((error) => log.error({ event: 'http.rate_counts_not_saved', err: error }, 'Request counts not saved'))
      try {
        await listeners.app.listen(config.HTTP_PORT, config.HTTP_BIND)
        await listeners.send.listen(config.SEND_PORT, config.HTTP_BIND)
        await listeners.operator.listen(operator.port, operator.host)
        await listeners.https?.listen(config.HTTPS_PORT, config.HTTP_BIND)
      } catch (error) {
        // Listeners that did open are closed when the start fails.
        await stop()
        throw error
      }
    },
    stop,
  }
}

/** Parts that all listeners of the process use. */
function sharedParts(
  app: Context,
  tables: { app: RouteTable; send: RouteTable; operator: RouteTable },
  { rate, errorPage, checkReplies = false }: HttpOptions & { rate: RateLimit },
) {
  const { config, clock } = app
  return {
    app,
    elsewhere: [
      { table: tables.app, origin: config.APP_ORIGIN },
      { table: tables.send, origin: sendBase(config) },
      // Its address is no business of strangers at the public ports.
      { table: tables.operator, origin: null },
    ],
    errorPage: errorPage ?? null,
    rate,
    throttle: new Throttle(clock),
    concurrency: new ConcurrencyLimits(),
    sources: new Sources(config.TRUSTED_PROXIES),
    largeBodies: new LargeBodies(clock, app.memory),
    corsOrigins: new Set(config.CORS_ORIGINS),
    checkReplies,
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
    toolCredential: () => () => undefined,
    corsOrigins: new Set<string>(),
    headers: headersOf(origin, null),
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

/** The routes that names below domains serve, by the first label of the name. */
function tablesByName(routes: readonly Route[]): [name: string, table: RouteTable][] {
  const names = new Set(routes.flatMap(({ names = [] }) => names))
  return [...names].map((name) => {
    const served = routes.filter((route) => route.names?.includes(name) === true)
    return [name, new RouteTable(served.map(prepareRoute))]
  })
}
