// Turns the result of a handler, or an error, into the response.

import { Readable } from 'node:stream'
import { ProductError } from '../base/errors.ts'
import { answerAndLinger, unreadBody } from './body.ts'
import { encodeCursor } from './cursor.ts'
import { errorMember, statusOf } from './errors.ts'
import { etagOf, namesTag } from './etag.ts'
import type { PreparedRoute } from './prepared-route.ts'
import { byteRangeOf } from './ranges.ts'
import type { RequestContext } from './request-context.ts'
import {
  type BytesAnswer,
  type ErrorAnswer,
  isAnswer,
  isBytes,
  isPage,
  isStream,
  type ListAnswer,
  type PageAnswer,
  type StreamAnswer,
} from './route.ts'

/** Default of Retry-After for 503, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 10

/** A stream's connection is closed after this idle time: twice the longest interval of pings, ms. */
const STREAM_SILENCE_MS = 600_000

/** A JSON answer in normal form. */
export interface JsonAnswer {
  status: number
  data: unknown
  headers: Record<string, string>
  meta: Record<string, unknown>
  /** The tag of the version, for routes with ETags. */
  etag?: string
  pagination?: { has_more: boolean; next_cursor?: string }
  /** False for a response that is not stored for replay. */
  lasting?: false
}

/** A response of a handler, ready to be sent. */
export type SendableAnswer = JsonAnswer | BytesAnswer | PageAnswer | StreamAnswer

/** @throws Error when replies are validated and this one breaks the schema of its route */
export function outcomeOf(request: RequestContext, value: unknown): SendableAnswer {
  if (isBytes(value) || isPage(value) || isStream(value)) return value
  const entry = request.match.entry!
  const outcome: JsonAnswer = { status: entry.status, data: value ?? null, headers: {}, meta: {} }
  if (isAnswer(value)) {
    outcome.status = value.status ?? entry.status
    outcome.data = value.data ?? null
    outcome.headers = value.headers ?? {}
    outcome.meta = value.meta ?? {}
    if (value.lasting === false) outcome.lasting = false
    if (value.version !== undefined && isTagged(entry)) outcome.etag = etagOf(value.version)
  } else if (entry.paged) {
    const { items, next, meta } = value as ListAnswer
    outcome.data = items
    outcome.meta = meta ?? {}
    outcome.pagination =
      next === null
        ? { has_more: false }
        : { has_more: true, next_cursor: encodeCursor(request.listener.app.vault, request.cursorScope, next) }
  }
  if (request.listener.checkReplies && !entry.reply.passes(outcome.data)) {
    const issues = JSON.stringify(entry.reply.issues(outcome.data))
    throw new Error(`The reply of ${entry.route.operation} breaks its schema: ${issues}`)
  }
  return outcome
}

/**
 * Whether responses carry the tag of the resource. A deleted resource has no version; a created (201) or accepted (202) one is another
 * resource than that of `If-Match`.
 */
export function isTagged({ route, status }: Pick<PreparedRoute, 'route' | 'status'>): boolean {
  return route.etag === true && route.method !== 'DELETE' && status === 200
}

/** Sends data: with its tag, or 304 when the client already has it. */
export function sendOutcome(request: RequestContext, outcome: JsonAnswer): Promise<void> | void {
  const { ctx } = request
  const { route } = request.match.entry!
  for (const [name, value] of Object.entries(outcome.headers)) ctx.set(name, value)
  if (isTagged(request.match.entry!)) {
    const etag = outcome.etag ?? etagOf(outcome.data)
    ctx.set('ETag', etag)
    if (route.method === 'GET' && unchanged(request, etag)) return
  }
  return sendJson(
    request,
    outcome.status,
    route.bare === true ? JSON.stringify(outcome.data) : envelope(request, outcome),
  )
}

/** Sends bytes, or the requested range of them. */
export async function sendBytes(request: RequestContext, bytes: BytesAnswer): Promise<void> {
  const { ctx } = request
  const { sizeBytes: size, etag } = bytes
  ctx.set('ETag', etag)
  // A weak tag means that the bytes can differ between responses: their ranges do not fit together.
  const isRanged = !etag.startsWith('W/')
  if (isRanged) ctx.set('Accept-Ranges', 'bytes')
  if (unchanged(request, etag)) return
  // Range is defined for GET only (RFC 9110 §14.2).
  const range = isRanged && request.method === 'GET' ? request.header('range') : undefined
  const span = byteRangeOf(range, request.header('if-range'), size, etag)
  if (span === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${size}`)
    throw new ProductError('range_not_satisfiable', `The content has ${size} bytes.`, { param: 'Range' })
  }
  const { start, end } = span ?? { start: 0, end: size }
  const body = request.method === 'HEAD' ? '' : await openStream(request, bytes.read(start, end))
  for (const [name, value] of Object.entries(bytes.headers ?? {})) ctx.set(name, value)
  if (span !== null) ctx.set('Content-Range', `bytes ${start}-${end - 1}/${size}`)
  ctx.status = span === null ? 200 : 206
  ctx.body = body
  ctx.set('Content-Type', bytes.type)
  ctx.length = end - start
}

/** Sends a stream: the request ends with it, or when the client disconnects. */
export async function sendStream(request: RequestContext, { headers, open }: StreamAnswer): Promise<void> {
  const { ctx, req } = request
  const body = request.method === 'HEAD' ? '' : await open()
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value)
  ctx.status = 200
  ctx.body = body
  ctx.remove('Content-Length')
  ctx.set('Content-Type', `${request.accepts}; charset=utf-8`)
  if (typeof body === 'string') return
  request.isStreaming = true
  // Koa ends it with the connection.
  body.once('close', () => request.end())
  req.socket.setTimeout(STREAM_SILENCE_MS)
  // A stream has no last response to wait for: a client that closes its half has left.
  if (req.socket.readableEnded) req.socket.destroy()
  else req.socket.once('end', () => req.socket.destroy())
}

/** Sends a page. */
export function sendPage(request: RequestContext, { status, html, headers }: PageAnswer): void {
  const { ctx } = request
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value)
  ctx.status = status
  ctx.set('Content-Type', 'text/html; charset=utf-8')
  ctx.body = html
}

/** Reads the first chunk before anything is sent: content that cannot be read is answered with an error envelope. */
async function openStream(request: RequestContext, pieces: AsyncIterable<Uint8Array>): Promise<Readable> {
  const reader = pieces[Symbol.asyncIterator]()
  const first = await reader.next()
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      for (let piece = first; piece.done !== true; piece = await reader.next()) yield piece.value
    } catch (error) {
      request.listener.app.log.error(
        { event: 'http.content_aborted', err: error, request_id: request.id },
        'Content aborted',
      )
      throw error
    } finally {
      await reader.return?.()
    }
  }
  return Readable.from(all(), { objectMode: false })
}

/** Sends an error. @param error one that may be shown to the client */
export function sendError(request: RequestContext, error: ProductError): Promise<void> | void {
  const { ctx, listener } = request
  const status = statusOf(error.code)
  const given = error.retryAfter ?? defaultWait(request, status)
  const wait = given === undefined ? undefined : Math.max(1, Math.ceil(given))
  if (wait !== undefined) ctx.set('Retry-After', String(wait))
  const { renderError: render } = request.match.entry?.route ?? {}
  if (render !== undefined) return sendFormattedError(request, render({ error, status, requestId: request.id, wait }))
  const member = errorMember(error, listener.app.config.APP_ORIGIN)
  return sendJson(request, status, JSON.stringify({ ok: false, error: member, meta: { request_id: request.id } }))
}

/** The error in the route's own form. */
function sendFormattedError(
  request: RequestContext,
  { status, type, text, headers = {} }: ErrorAnswer,
): Promise<void> | void {
  for (const [name, value] of Object.entries(headers)) request.ctx.set(name, value)
  return sendText(request, status, text, type)
}

function sendJson(request: RequestContext, status: number, text: string): Promise<void> | void {
  return sendText(request, status, text, 'application/json; charset=utf-8')
}

function sendText(request: RequestContext, status: number, text: string, type: string): Promise<void> | void {
  const { ctx } = request
  ctx.status = status
  ctx.set('Content-Type', type)
  const unread = unreadBody(request)
  if (unread !== 'nothing') ctx.set('Connection', 'close')
  ctx.body = text
  if (unread !== 'linger') return
  // Koa would end the response, and with it the connection, immediately.
  ctx.respond = false
  return answerAndLinger(request, text)
}

function envelope(request: RequestContext, outcome: JsonAnswer): string {
  const pagination = outcome.pagination === undefined ? '' : `,"pagination":${JSON.stringify(outcome.pagination)}`
  const meta = JSON.stringify({ request_id: request.id, ...outcome.meta })
  return `{"ok":true,"data":${textOf(outcome.data)}${pagination},"meta":${meta}}`
}

// As with tags (etag.ts): a frozen object never changes, so its text is built once.
const texts = new WeakMap<object, string>()

function textOf(data: unknown): string {
  if (typeof data !== 'object' || data === null || !Object.isFrozen(data)) return JSON.stringify(data)
  const known = texts.get(data)
  if (known !== undefined) return known
  const text = JSON.stringify(data)
  texts.set(data, text)
  return text
}

function unchanged(request: RequestContext, etag: string): boolean {
  const known = request.header('if-none-match')
  if (known === undefined || !namesTag(known, etag)) return false
  request.ctx.status = 304
  return true
}

function defaultWait(request: RequestContext, status: number): number | undefined {
  if (status === 429) return request.allowance?.retryAfter
  return status === 503 ? UNAVAILABLE_RETRY_SECONDS : undefined
}
