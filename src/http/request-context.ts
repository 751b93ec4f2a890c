// The context of one request, and the context shared by all requests of a listener.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { newId } from '../base/ids.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import type { Principal, Recognised } from '../directory/names/principal.ts'
import type { SignInSession } from '../people/sessions.ts'
import type { PageKey } from '../store/rows/records.ts'
import { type Actor, isActorPath, splitActor } from './actor.ts'
import type { ConcurrencyLimits } from './concurrency.ts'
import type { ErrorAnswer, RouteError } from './error-answer.ts'
import type { LargeBodies } from './large-bodies.ts'
import { ME_BASE } from './prepared-route.ts'
import type { Allowance, RateLimit } from './rate-limit.ts'
import type { Answer } from './route.ts'
import type { Sources } from './source.ts'
import { NO_MATCH, type RouteMatch, type RouteTable } from './table.ts'
import type { Throttle } from './throttle.ts'
import type { StreamWriter } from './write.ts'

/** Renders an error as a page. @param next the address to go on with */
export type ErrorPage = (error: RouteError, next: string) => ErrorAnswer

/** Context of all requests of a listener. */
export interface ListenerContext {
  app: Context
  /** Public origin of this listener, without a path. */
  origin: string
  /** Base path that needs a credential. */
  base: string
  /** @returns a function that resolves the credential to its principal on this listener, as it is when it is called */
  credential(secret: string): () => Recognised | undefined
  /** The same for the tools for assistants, and for the operations that they call. */
  toolCredential(secret: string): () => Recognised | undefined
  table: RouteTable
  /** Routes that a signed-in person reaches below `/as`; null on listeners that know no sessions. */
  actorTables: { readonly api: RouteTable; readonly operator: RouteTable } | null
  /** The routes of every port, with the public origin of each; null for the port of the operator. */
  elsewhere: readonly { table: RouteTable; origin: string | null }[]
  /** Shows an error at an unknown address to a browser; null: as JSON. */
  errorPage: ErrorPage | null
  rate: RateLimit
  throttle: Throttle
  concurrency: ConcurrencyLimits
  sources: Sources
  largeBodies: LargeBodies
  streams: StreamWriter
  /** Origins permitted by CORS. */
  corsOrigins: ReadonlySet<string>
  /** Validates every response against its schema. */
  checkReplies: boolean
  /** Headers of every response. */
  headers(): readonly [name: string, value: string][]
}

/** The claim of a request with an Idempotency-Key. */
export interface Replay {
  /** See {@link RequestFacts.keep}. */
  keep(tx: Tx, value: Answer): void
  /** True once the response is stored, in the same unit of work as its effects. */
  kept: boolean
}

/** One request; each step of the middleware fills in its part. */
export class RequestContext {
  readonly listener: ListenerContext
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly id = newId('request')
  /** Path as received, not decoded; below `/as/{actor}` the path of the API behind it. */
  readonly path: string
  /** For whom a signed-in person acts; null elsewhere. */
  readonly actor: Actor | null = null
  /** True where the credential is the session of a browser: below `/as` and `/me/v1`. */
  readonly isPersonal: boolean
  /** Query string without its `?`. */
  readonly query: string
  readonly match: RouteMatch
  principal: Principal | null = null
  /** The session of a personal request. */
  session: SignInSession | null = null
  /** True when the request carries a credential, valid or not. */
  hasCredential = false
  suspended = false
  /** True once 100 Continue was sent. */
  continued = false
  allowance: Allowance | null = null
  accepts = 'application/json'
  input: { params: object; query: object; body: object; after: PageKey | null } = {
    params: {},
    query: {},
    body: {},
    after: null,
  }
  /** Content-Type of a raw body; null for JSON. */
  rawType: string | null = null
  /** Equal for equal bodies; null where repetitions are not detected. */
  bodyDigest: Uint8Array | null = null
  /** Where the response is stored for replay; null without an Idempotency-Key. */
  replay: Replay | null = null
  /** The filters and the order of a list, which its cursors are bound to. */
  selection: object = {}
  /** What cursors of this list are bound to, once it is known. */
  cursorScope: string | null = null
  /** True for a streamed answer. */
  isStreaming = false
  /** What the change gives access to, for the audit log; null where it gives none. */
  opens: string | null = null
  /** Code of the error that was sent; null for a success. */
  errorCode: string | null = null
  #source: string | undefined
  #endings: (() => void)[] | null = []
  #leaving: AbortController | undefined

  constructor(listener: ListenerContext, req: IncomingMessage, res: ServerResponse) {
    this.listener = listener
    this.req = req
    this.res = res
    const { path, query } = targetOf(req.url ?? '/')
    const { actorTables, table } = listener
    const isForActor = actorTables !== null && isActorPath(path)
    const split = isForActor ? splitActor(path) : null
    this.path = split?.path ?? path
    this.query = query
    this.actor = split?.actor ?? null
    this.isPersonal = isForActor || (actorTables !== null && isBelow(path, ME_BASE))
    this.match = matchOf(this.method, this.path, isForActor ? tableOf(actorTables, this.actor) : table)
  }

  get method(): string {
    return this.req.method ?? 'GET'
  }

  /** True for paths below the versioned base. */
  get underApi(): boolean {
    return this.isPersonal || isBelow(this.path, this.listener.base)
  }

  /** Address for the rate limit. */
  get source(): string {
    this.#source ??= this.listener.sources.of(this.req.socket.remoteAddress, this.header('x-forwarded-for'))
    return this.#source
  }

  /**
   * Aborted when the client disconnects before the response. A client that closes only its half looks the same as one that
   * left: work that listens to this signal is then stopped. Other requests are answered.
   */
  get signal(): AbortSignal {
    if (this.#leaving === undefined) {
      const leaving = new AbortController()
      this.#leaving = leaving
      const { socket } = this.req
      const leave = () => {
        if (!this.res.writableFinished) leaving.abort()
      }
      this.res.once('close', leave)
      socket.once('end', leave)
      this.onEnd(() => socket.off('end', leave))
      if (socket.readableEnded) leave()
    }
    return this.#leaving.signal
  }

  /** Runs when the request ends, immediately when it has ended. */
  onEnd(run: () => void): void {
    if (this.#endings === null) run()
    else this.#endings.push(run)
  }

  /** Ends the request and runs the `onEnd` functions. */
  end(): void {
    const endings = this.#endings ?? []
    this.#endings = null
    for (const run of endings) run()
  }

  header(name: string): string | undefined {
    const value = this.req.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /** Sets a header of the response, unless it is sent already. */
  set(name: string, value: string): void {
    if (!this.res.headersSent) this.res.setHeader(name, value)
  }

  /** Adds a header of the request to `Vary` of the response. */
  vary(name: string): void {
    const before = this.res.getHeader('Vary')
    const names = before === undefined ? [] : String(before).toLowerCase().split(',')
    if (names.some((one) => one.trim() === name.toLowerCase() || one.trim() === '*')) return
    this.set('Vary', before === undefined ? name : `${String(before)}, ${name}`)
  }
}

function isBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`)
}

function tableOf(tables: NonNullable<ListenerContext['actorTables']>, actor: Actor | null): RouteTable | null {
  if (actor === null) return null
  return actor.kind === 'operator' ? tables.operator : tables.api
}

function matchOf(method: string, path: string, table: RouteTable | null): RouteMatch {
  return table === null ? NO_MATCH : table.find(method, path)
}

/** Path and query of a request target; a client may send an absolute URL (RFC 9112 §3.2.2). */
function targetOf(url: string): { path: string; query: string } {
  const isPlain = url.startsWith('/') && !url.includes('#')
  const target = isPlain ? url : url.replace(/^https?:\/\/[^/?#]*/i, '').split('#', 1)[0]!
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : target.slice(mark + 1) }
}
