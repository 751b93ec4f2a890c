// One route as one object: everything the chain, the OpenAPI document and a reader need to know of it.

import type { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode, ProductError } from '../base/errors.ts'
import type { MailboxGate } from '../config/config.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import type { MailboxPrincipal, OperatorPrincipal, TeamPrincipal } from '../directory/principal.ts'
import type { PageKey } from '../store/records.ts'
import type { BodyReader } from './body-plan.ts'

/** Whose credential a route takes: a root key, a mailbox credential, either, the operator's, or none at all. */
export type Audience = 'team' | 'mailbox' | 'any' | 'operator' | 'none'

type PrincipalOf<A extends Audience> = A extends 'team'
  ? TeamPrincipal
  : A extends 'mailbox'
    ? MailboxPrincipal
    : A extends 'any'
      ? TeamPrincipal | MailboxPrincipal
      : A extends 'operator'
        ? OperatorPrincipal
        : null

type Fields<T extends TObject | undefined> = T extends TObject ? Static<T> : Record<never, never>

/** What `handle` gets: everything checked, nothing of the wire left. */
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
  /** The checked body, or what the route's reader made of it. */
  body: R
  /** The decoded position of a paged list, null on its first page. */
  after: PageKey | null
  app: Context
  request: RequestFacts
}

/** What of the request itself a handler may need. */
export interface RequestFacts {
  id: string
  /** Address the request is counted for (decisions §1.9). */
  source: string
  /** Its Idempotency-Key, where one came along. */
  idempotencyKey: string | null
  /** The value of a cookie, null without it. */
  cookie(name: string): string | null
  /** The media type chosen from `Accept` among those the route produces. */
  accepts: string
  /** Of the second credential, for routes that take one; "" where it has another form. */
  sourceSecret: string
  range: string | null
  ifRange: string | null
  /** Where a stream of events broke off, as the client heard it; null for a new one. */
  lastEventId: string | null
  /** Aborted when the client goes away. */
  signal: AbortSignal
  /** Asks again whether the credential would be let in now: `out` for one that would not, `suspended` with its team. */
  credentialStatus(): Promise<'in' | 'out' | 'suspended'>
  /** Whether an `If-Match` came along. */
  conditional: boolean
  /** Checks `If-Match` against the version of the resource (see {@link Answer.version}); throws conflict on a mismatch. */
  matches(version: unknown): void
  /**
   * Keeps the answer for repetitions of this request within the unit of work that does what it tells, so that a crash in between
   * cannot have it done twice. Nothing where no Idempotency-Key came along.
   * @throws ProductError idempotency_conflict when a repetition has taken the work over; the unit of work must fail with it
   */
  keep(tx: Tx, value: Answer): Promise<void>
}

/** What a handler may answer with beside plain data. */
export interface Answer {
  data: unknown
  status?: 200 | 201 | 202
  headers?: Record<string, string>
  /** Further members of `meta`. */
  meta?: Record<string, unknown>
  /**
   * What the ETag is made of, where that is not the data: one version of the resource has one tag, whatever the request asked to see of it.
   * Without members of the mailbox (`state`) and members that depend on the query.
   */
  version?: unknown
  /** False for an answer that another try may better: it is not kept for repetitions. */
  lasting?: false
}

/** One page of a list. */
export interface ListAnswer {
  items: readonly unknown[]
  next: PageKey | null
  meta?: Record<string, unknown>
}

/** Bytes as they are, with a range where the client asked for one. */
export interface BytesAnswer {
  type: string
  sizeBytes: number
  /** Tag of the whole content, quotes included; ranges are given where it is strong. */
  etag: string
  headers?: Record<string, string>
  /** @param end exclusive */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

/** An answer that goes on for as long as both sides want. */
export interface StreamAnswer {
  headers: Record<string, string>
  /** Begins it; not called where only the headers were asked for. What it throws is still an answer of its own. */
  open(): Promise<Readable>
}

/** A page a person opens, or the way to one. */
export interface PageAnswer {
  status: number
  html: string
  headers: Record<string, string>
}

/** An error on its way out. */
export interface RouteError {
  error: ProductError
  status: number
  requestId: string
  /** Value of `Retry-After` in seconds, where there is one. */
  wait?: number
}

/** How a route shows an error. */
export interface ErrorAnswer {
  status: number
  type: string
  text: string
  headers?: Record<string, string>
}

/** How a route takes a body that is no JSON: as bytes, one piece after another. */
export interface RawBody<R> {
  /** Largest body in bytes. */
  limit: number
  /** @returns what `handle` gets, and what is equal for equal requests */
  take(body: {
    /** As the Content-Type says. */
    type: string
    /** Checked. */
    query: object
    bytes: AsyncIterable<Uint8Array>
    app: Context
  }): Promise<{ value: R; digest: Uint8Array }>
}

/** How often something may be asked for. */
export interface ThrottleLimit {
  times: number
  seconds: number
}

export interface Route<
  A extends Audience = Audience,
  P extends TObject | undefined = TObject | undefined,
  Q extends TObject | undefined = TObject | undefined,
  B extends TObject | undefined = TObject | undefined,
  R = Fields<B>,
> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1` unless `root` says otherwise; parameters as `{name}`. */
  path: string
  /** True for what lies at the origin itself (`/healthz`, `.well-known`). */
  root?: boolean
  /** Which origin serves it; `both` for what is the same on either public one. */
  surface?: 'app' | 'send' | 'both' | 'operator'
  operation: string
  tag: string
  summary: string
  description?: string
  as: A
  /** One permission, or several of which one is enough; none needed when left out. */
  permission?: string | readonly string[]
  /** The feature it belongs to, where that is one an operator can withhold (`MAILBOX_GATED`). */
  gate?: MailboxGate
  params?: P
  query?: Q
  body?: B
  /** An action whose body may be left out. */
  bodyOptional?: boolean
  /** Largest body in bytes (default 1 MiB); a larger one needs a `reader`. */
  bodyLimit?: number
  /** Makes what `handle` gets of the body: in a thread where the body is large. */
  reader?: BodyReader<R> & {
    /** URL of the file a thread runs for large bodies: its default export is `inThread` of the same reader. */
    thread: string
  }
  /** Schema of `data`. */
  reply: TSchema
  /**
   * A list whose `query` is not made by `pageQuery`: paged (the chain reads `cursor` and writes `pagination`), or given whole, which
   * `pagination` says as well.
   */
  list?: { limit: number } | 'whole'
  status?: 200 | 201 | 202
  /** Errors it answers with beside those that follow from its other members. */
  errors?: readonly ErrorCode[]
  /** Answers 200 instead of `status` at times: says when. */
  otherwise?: string
  /** A read carries a weak ETag and answers 304; a request that changes the resource takes If-Match (decisions §1.7). */
  etag?: boolean
  /** Takes an Idempotency-Key (decisions §1.8), or cannot do without one. */
  idempotent?: boolean | 'required'
  /** At most so many times in so many seconds for one owner and one set of path parameters (decisions §1.9). */
  throttle?: ThrottleLimit
  /** At most so many of its requests under way at a time for one owner (decisions §1.9). */
  maxConcurrent?: number
  /** Needs a second credential in X-Source-Authorization: that of the mailbox something is copied from (decisions §10.15). */
  fromMailbox?: boolean
  /** Takes a body that is no JSON as the content itself. */
  raw?: RawBody<R>
  /** Its answer goes on: what it produces is a stream, described by `reply`. It is under way until it ends. */
  stream?: boolean
  /** Its answer holds a secret: a stored replay is sealed. */
  secret?: boolean
  /** Data without the envelope: discovery documents, health. */
  bare?: boolean
  /** Media types it produces (default application/json). */
  produces?: readonly string[]
  /** Media types its JSON body may be called beside application/json. */
  takes?: readonly string[]
  /** Its body is a form (application/x-www-form-urlencoded, 16 KiB): members are texts, unknown ones are ignored, repeated ones refused. */
  form?: boolean
  /** Shows what goes wrong in its own form instead of the envelope: a page, or the words of OAuth. */
  renderError?: (fault: RouteError) => ErrorAnswer
  /** What `fault` shows, by status, and its schema: for the description. */
  errorFormat?: { schema: TSchema; meanings: Readonly<Record<number, string>> }
  /** Cross-origin reading allowed for everyone. */
  open?: boolean
  /** Not for clients of the API: left out of its description. */
  hidden?: boolean
  /** Its requests do not count for the address they come from: it has a `pace` of its own. */
  uncounted?: boolean
  handle(input: Input<A, P, Q, B, R>): Promise<unknown>
}

/** Gives a route its types; the object itself is returned unchanged. */
export function route<
  A extends Audience,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
  R = Fields<B>,
>(definition: Route<A, P, Q, B, R>): Route {
  return definition as unknown as Route
}

const ANSWER = Symbol('answer')
const BYTES = Symbol('bytes')
const PAGE = Symbol('page')
const STREAM = Symbol('stream')

/** Data with a status, headers or more `meta` than the plain case. */
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
