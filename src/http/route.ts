// A route as one object: everything the middleware, the OpenAPI document and a reader need.

import type { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from '../base/errors.ts'
import type { MailboxGate } from '../config/config.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import type {
  MailboxPrincipal,
  OperatorPrincipal,
  PersonPrincipal,
  TeamPrincipal,
} from '../directory/names/principal.ts'
import type { SignInSession } from '../people/sessions.ts'
import type { PageKey } from '../store/rows/records.ts'
import type { BodyReader } from './body-plan.ts'
import type { ErrorAnswer, RouteError } from './error-answer.ts'
import type { InnerAnswer, InnerOperation } from './inner-operation.ts'
import type { RenderedJson } from './json-text.ts'

/** Credential a route takes: a root key, a mailbox credential, either, the operator's, the session of a person, or none. */
export type Audience = 'team' | 'mailbox' | 'any' | 'operator' | 'person' | 'none'

type PrincipalOf<A extends Audience> = A extends 'team'
  ? TeamPrincipal
  : A extends 'mailbox'
    ? MailboxPrincipal
    : A extends 'any'
      ? TeamPrincipal | MailboxPrincipal
      : A extends 'operator'
        ? OperatorPrincipal
        : A extends 'person'
          ? PersonPrincipal
          : null

type Fields<T extends TObject | undefined> = T extends TObject ? Static<T> : Record<never, never>

/** Input of `handle`: validated, and independent of HTTP. */
export interface Input<
  A extends Audience,
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TObject | undefined,
  R = Fields<B>,
> {
  principal: PrincipalOf<A>
  params: Fields<P>
  query: Fields<Q>
  /** The validated body, or the result of the route's reader. */
  body: R
  /** The decoded position of a paged list, null on its first page. */
  after: PageKey | null
  app: Context
  request: RequestFacts
}

/** What a handler can read of the request itself. */
export interface RequestFacts {
  id: string
  /** Address for the rate limit (docs/design/http.md §9). */
  source: string
  /** Host of the request as the client names it, lower-case, without a port. */
  host: string
  /** Its Idempotency-Key, if it has one. */
  idempotencyKey: string | null
  /** A header, null without it: for protocols of others. */
  header(name: string): string | null
  /** The value of a cookie, null without it. */
  cookie(name: string): string | null
  /** `User-Agent`, empty without it. */
  userAgent: string
  /** `Accept-Encoding`, empty without it. */
  acceptEncoding: string
  /** The session of a personal request; null elsewhere. */
  session: SignInSession | null
  /** `Sec-Fetch-Dest`: what a browser wants the response for; empty for other clients. */
  destination: string
  /** The media type chosen from `Accept` among those the route produces. */
  accepts: string
  /** Secret of the second credential, for routes that take one; "" when it is malformed. */
  sourceSecret: string
  range: string | null
  ifRange: string | null
  /** Id of the last event of a resumed stream; null for a new one. */
  lastEventId: string | null
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** Runs an operation of the API of this listener with the credential of the request. */
  callApi(operation: InnerOperation): Promise<InnerAnswer>
  /** Checks the credential again: `out` when it is no longer valid, `suspended` when its team is suspended. */
  credentialStatus(): Promise<'in' | 'out' | 'suspended'>
  /** Counts for a limit that other routes share, where only some requests do; throws rate_limit_exceeded. */
  admit(limit: ThrottleLimit & { shared: string }): void
  /** Whether the request has an `If-Match`. */
  conditional: boolean
  /** Names the session that this request has opened, for the audit log. */
  signedIn(session: SignInSession): void
  /** Names what the change gives access to, for the audit log. Never a secret; null where it gives none. */
  opens(what: string | null): void
  /** Throws insufficient_permissions for a session without a fresh proof, where only some requests of a route need one. */
  requireFreshProof(): void
  /** Checks `If-Match` against the version of the resource (see {@link Answer.version}); throws conflict on a mismatch. */
  matches(version: unknown): void
  /**
   * Stores the response for replay in the unit of work of its effects, so that a crash in between
   * cannot cause them twice. Does nothing without an Idempotency-Key.
   * @throws ProductError idempotency_conflict when a repetition has taken over; the unit of work must fail with it
   */
  keep(tx: Tx, value: Answer): void
}

/** A response of a handler with more than plain data. */
export interface Answer {
  data: unknown
  status?: 200 | 201 | 202
  headers?: Record<string, string>
  /** Additional members of `meta`. */
  meta?: Record<string, unknown>
  /**
   * Source of the ETag, where that is not the data: one version of the resource has one tag, whatever part of it the request asked for.
   * Without members of the mailbox (`state`) and members that depend on the query.
   */
  version?: unknown
  /** False for a response that a retry can improve: it is not stored for replay. */
  lasting?: false
}

/** One page of a list. */
export interface ListAnswer {
  items: readonly unknown[] | RenderedJson<unknown[]>
  next: PageKey | null
  meta?: Record<string, unknown>
}

/** Bytes, with a range where the client requested one. */
export interface BytesAnswer {
  type: string
  sizeBytes: number
  /** Tag of the whole content, quotes included; ranges are served when it is strong. */
  etag: string
  headers?: Record<string, string>
  /**
   * A promise is awaited before anything is sent: what it rejects with is sent as an error response.
   * @param end exclusive
   */
  read(start: number, end: number): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>
}

/** A streaming response. */
export interface StreamAnswer {
  headers: Record<string, string>
  /** Starts it; not called for HEAD. An error it throws is sent as an error response. */
  open(): Promise<Readable>
}

/** An HTML page, a redirect, or a text of another `Content-Type` that `headers` names. */
export interface PageAnswer {
  status: number
  html: string
  headers: Record<string, string>
}

/** How a route reads a raw body: as bytes, chunk by chunk. */
export interface RawBody<R> {
  /** Largest body in bytes. */
  limit: number
  /** @returns the input of `handle`, and a value that is equal for equal requests */
  take(body: {
    /** From the Content-Type. */
    type: string
    /** Validated. */
    query: object
    bytes: AsyncIterable<Uint8Array>
    app: Context
  }): Promise<{ value: R; digest: Uint8Array }>
}

/** A rate: so many times in so many seconds. */
export interface ThrottleLimit {
  times: number
  seconds: number
  /** Name of a limit that several routes share; each route has its own otherwise. */
  shared?: string
}

/** Who may call a route. */
export interface RouteAccess<A extends Audience> {
  as: A
  /** One permission, or several of which one is enough; none by default. */
  permission?: string | readonly string[]
  /** A permission that is needed as well. */
  alsoNeeds?: string
  /** The feature it belongs to, if an operator can disable it (`MAILBOX_GATED`). */
  gate?: MailboxGate
  /** Needs a second credential in X-Source-Authorization: that of the source mailbox of a copy (docs/design/mailbox.md §15). */
  fromMailbox?: boolean
  /** A session must have been confirmed within 15 minutes (`POST /me/v1/confirm`). */
  fresh?: boolean
  /** False for a request that changes nothing although it is no GET; the others are in the audit log. */
  audited?: false
  /** Cross-origin reading allowed for every origin. */
  open?: boolean
}

/** The body of a request. */
export interface RouteBody<B extends TObject | undefined, R> {
  schema?: B
  /** An action with an optional body. */
  optional?: boolean
  /** Largest body in bytes (default 1 MiB); a larger one needs a `reader`. */
  limit?: number
  /** Builds the input of `handle` from the body: in a thread where the body is large. */
  reader?: BodyReader<R> & {
    /** URL of the module a thread runs for large bodies: its default export is `inThread` of the same reader. */
    thread: string
  }
  /** Accepts a raw body instead of JSON. */
  raw?: RawBody<R>
  /** Its body is a form (application/x-www-form-urlencoded, 16 KiB): members are texts, unknown ones are ignored, repeated ones rejected. */
  form?: boolean
  /** Media types of its JSON body in addition to application/json. */
  types?: readonly string[]
}

/** The response. */
export interface RouteReply {
  /** Schema of `data`. */
  schema: TSchema
  /**
   * A list whose `query` is not made by `pageQuery`: paged (the middleware reads `cursor` and writes `pagination`), or returned whole,
   * as `pagination` then says.
   */
  list?: { limit: number } | 'whole'
  status?: 200 | 201 | 202
  /** Returns 200 instead of `status` in this case. */
  otherwise?: string
  /** A read has a weak ETag and can return 304; a request that changes the resource takes If-Match (docs/design/http.md §7). */
  etag?: boolean
  /** The response of a POST has the ETag of the resource that it created or opened (RFC 9110 §15.3.2): the `version` of its answer. */
  createdTag?: boolean
  /** A response with 202 names the resource that it accepted in Location, as every 201 does. */
  location?: boolean
  /** The response is a stream, described by `schema`. The request is under way until it ends. */
  stream?: boolean
  /** The response contains a secret: a stored replay is sealed. */
  secret?: boolean
  /** Data without the envelope: discovery documents, health. */
  bare?: boolean
  /** Media types of the response (default application/json). */
  types?: readonly string[]
  /** Renders errors in its own format instead of the envelope: a page, or an OAuth error. */
  renderError?: (error: RouteError) => ErrorAnswer
  /** Schema and descriptions by status of what `renderError` returns: for the OpenAPI document. */
  errorFormat?: { schema: TSchema; meanings: Readonly<Record<number, string>> }
}

/** Limits in addition to the rate limit of all requests (docs/design/http.md §9). */
export interface RouteLimits {
  /** Rate limit for one owner and one set of path parameters. */
  throttle?: ThrottleLimit
  /** Concurrent requests of one owner. */
  maxConcurrent?: number
  /** Those of one caller of the owner: the others of a shared mailbox are not kept out. */
  maxConcurrentOfCaller?: number
  /** Its requests do not count for the rate limit of their address: it has a `throttle` of its own. */
  uncounted?: boolean
}

/** The OpenAPI document. */
export interface RouteDocs {
  operation: string
  tag: string
  summary: string
  description?: string
  /** Error codes in addition to those that follow from its other members. */
  errors?: readonly ErrorCode[]
  /** Not for clients of the API: left out of the OpenAPI document. */
  hidden?: boolean
}

interface RouteBase<P extends TObject | undefined, Q extends TObject | undefined> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1` unless `root` says otherwise; parameters as `{name}`. */
  path: string
  /** True for paths at the origin itself (`/healthz`, `.well-known`). */
  root?: boolean
  /** True when the case of the path does not matter, for protocols of others. */
  anyCase?: boolean
  /** First labels of the names below domains that serve it as well, such as `autoconfig`. */
  names?: readonly string[]
  /** Origin that serves it; `both` for either public one, `me` for the paths of a signed-in person at the app's. */
  surface?: 'app' | 'send' | 'both' | 'operator' | 'me'
  params?: P
  query?: Q
  /** Takes an Idempotency-Key (docs/design/http.md §8), or requires one. */
  idempotent?: boolean | 'required'
}

/** A route as it is written. */
export interface RouteDefinition<
  A extends Audience,
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TObject | undefined,
  R,
> extends RouteBase<P, Q> {
  docs: RouteDocs
  access: RouteAccess<A>
  body?: RouteBody<B, R>
  reply: RouteReply
  limits?: RouteLimits
  handle(input: Input<A, P, Q, B, R>): unknown
}

type AnyObject = TObject | undefined
type AnyBody = RouteBody<AnyObject, Record<never, never>>

/** A route as the middleware reads it: the members of its definition on one level. */
export interface Route
  extends RouteBase<AnyObject, AnyObject>,
    RouteDocs,
    RouteAccess<Audience>,
    RouteLimits,
    Omit<AnyBody, 'schema' | 'optional' | 'limit' | 'types'>,
    Omit<RouteReply, 'schema' | 'types'> {
  body?: AnyBody['schema']
  bodyOptional?: AnyBody['optional']
  bodyLimit?: AnyBody['limit']
  /** Media types of its body in addition to application/json. */
  takes?: AnyBody['types']
  reply: RouteReply['schema']
  /** Media types of the response. */
  produces?: RouteReply['types']
  handle(input: Input<Audience, AnyObject, AnyObject, AnyObject>): unknown
}

/** Types the definition of a route, and returns the route. */
export function route<
  A extends Audience,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
  R = Fields<B>,
>(definition: RouteDefinition<A, P, Q, B, R>): Route {
  const { docs, access, body = {}, reply, limits, ...base } = definition
  const { schema, optional, limit, types, ...request } = body
  const { schema: data, types: produces, ...response } = reply
  const inputs = { ...request, body: schema, bodyOptional: optional, bodyLimit: limit, takes: types }
  const outputs = { ...response, reply: data, produces }
  return { ...base, ...docs, ...access, ...limits, ...inputs, ...outputs } as unknown as Route
}

const ANSWER = Symbol('answer')
const BYTES = Symbol('bytes')
const PAGE = Symbol('page')
const STREAM = Symbol('stream')

/** Data with a status, headers or additional `meta`. */
export function answer(value: Answer): Answer {
  return Object.assign(value, { [ANSWER]: true })
}

export function bytes(value: BytesAnswer): BytesAnswer {
  return Object.assign(value, { [BYTES]: true })
}

export function page(value: PageAnswer): PageAnswer {
  return Object.assign(value, { [PAGE]: true })
}

export function stream(value: StreamAnswer): StreamAnswer {
  return Object.assign(value, { [STREAM]: true })
}

export function isStream(value: unknown): value is StreamAnswer {
  return typeof value === 'object' && value !== null && STREAM in value
}

export function isPage(value: unknown): value is PageAnswer {
  return typeof value === 'object' && value !== null && PAGE in value
}

export function isAnswer(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && ANSWER in value
}

export function isBytes(value: unknown): value is BytesAnswer {
  return typeof value === 'object' && value !== null && BYTES in value
}
