// Turns what a handler gave, or an error, into the response.

import { Readable } from 'node:stream'
import { ProductError } from '../base/errors.ts'
import { answerAndLinger, unreadBody } from './body.ts'
import { encodeCursor } from './cursor.ts'
import type { Entry } from './entry.ts'
import { errorMember, statusOf } from './errors.ts'
import { etagOf, namesTag } from './etag.ts'
import { spanOf } from './ranges.ts'
import type { Visit } from './request-context.ts'
import {
  type BytesAnswer,
  type FaultAnswer,
  isAnswer,
  isBytes,
  isPage,
  isStream,
  type ListAnswer,
  type PageAnswer,
  type StreamAnswer,
} from './route.ts'

/** Seconds a client waits before it asks again when nobody knows better. */
const UNAVAILABLE_RETRY_SECONDS = 10

/** A connection with a stream is closed when nothing went over it for so long: twice the longest pause between two pings, ms. */
const STREAM_SILENCE_MS = 600_000

/** What a handler gave, in one form. */
export interface Outcome {
  status: number
  data: unknown
  headers: Record<string, string>
  meta: Record<string, unknown>
  /** The tag of the version that is shown, where the route carries one. */
  etag?: string
  pagination?: { has_more: boolean; next_cursor?: string }
  /** False for an answer that is not kept for repetitions. */
  lasting?: false
}

/** Whatever a handler may answer with, ready to be sent. */
export type Result = Outcome | BytesAnswer | PageAnswer | StreamAnswer

/** @throws Error when replies are checked and this one breaks the schema of its route */
export function outcomeOf(visit: Visit, value: unknown): Result {
  if (isBytes(value) || isPage(value) || isStream(value)) return value
  const entry = visit.found.entry!
  const outcome: Outcome = { status: entry.status, data: value ?? null, headers: {}, meta: {} }
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
        : { has_more: true, next_cursor: encodeCursor(visit.desk.app.vault, visit.cursorScope, next) }
  }
  if (visit.desk.checkReplies && !entry.reply.passes(outcome.data)) {
    const issues = JSON.stringify(entry.reply.issues(outcome.data))
    throw new Error(`The reply of ${entry.route.operation} breaks its schema: ${issues}`)
  }
  return outcome
}

/**
 * Whether answers carry the tag of the resource. What is gone has no version; what was made (201) or accepted (202) is another resource
 * than the one `If-Match` speaks of.
 */
export function isTagged({ route, status }: Pick<Entry, 'route' | 'status'>): boolean {
  return route.etag === true && route.method !== 'DELETE' && status === 200
}

/** Sends data: with its tag where the route carries one, 304 when the client has it already. */
export function sendOutcome(visit: Visit, outcome: Outcome): Promise<void> | void {
  const { ctx } = visit
  const { route } = visit.found.entry!
  for (const [name, value] of Object.entries(outcome.headers)) ctx.set(name, value)
  if (isTagged(visit.found.entry!)) {
    const etag = outcome.etag ?? etagOf(outcome.data)
    ctx.set('ETag', etag)
    if (route.method === 'GET' && unchanged(visit, etag)) return
  }
  return sendJson(visit, outcome.status, route.bare === true ? JSON.stringify(outcome.data) : envelope(visit, outcome))
}

/** Sends bytes, or the range of them that was asked for. */
export async function sendBytes(visit: Visit, bytes: BytesAnswer): Promise<void> {
  const { ctx } = visit
  const { sizeBytes: size, etag } = bytes
  ctx.set('ETag', etag)
  // A weak tag says that the bytes differ from one answer to the next: their ranges do not fit together.
  const isRanged = !etag.startsWith('W/')
  if (isRanged) ctx.set('Accept-Ranges', 'bytes')
  if (unchanged(visit, etag)) return
  // Range is defined for GET alone (RFC 9110 14.2).
  const range = isRanged && visit.method === 'GET' ? visit.header('range') : undefined
  const span = spanOf(range, visit.header('if-range'), size, etag)
  if (span === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${size}`)
    throw new ProductError('range_not_satisfiable', `The content has ${size} bytes.`, { param: 'Range' })
  }
  const { start, end } = span ?? { start: 0, end: size }
  const body = visit.method === 'HEAD' ? '' : await openStream(visit, bytes.read(start, end))
  for (const [name, value] of Object.entries(bytes.headers ?? {})) ctx.set(name, value)
  if (span !== null) ctx.set('Content-Range', `bytes ${start}-${end - 1}/${size}`)
  ctx.status = span === null ? 200 : 206
  ctx.body = body
  ctx.set('Content-Type', bytes.type)
  ctx.length = end - start
}

/** Sends what goes on: the request is over when it ends, or when the client is gone. */
export async function sendStream(visit: Visit, { headers, open }: StreamAnswer): Promise<void> {
  const { ctx, req } = visit
  const body = visit.method === 'HEAD' ? '' : await open()
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value)
  ctx.status = 200
  ctx.body = body
  ctx.remove('Content-Length')
  ctx.set('Content-Type', `${visit.accepts}; charset=utf-8`)
  if (typeof body === 'string') return
  visit.goesOn = true
  // Koa ends it with the connection.
  body.once('close', () => visit.end())
  req.socket.setTimeout(STREAM_SILENCE_MS)
  // A stream has no last answer to wait for: a client that closes its half has left.
  if (req.socket.readableEnded) req.socket.destroy()
  else req.socket.once('end', () => req.socket.destroy())
}

/** Sends a page. */
export function sendPage(visit: Visit, { status, html, headers }: PageAnswer): void {
  const { ctx } = visit
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value)
  ctx.status = status
  ctx.set('Content-Type', 'text/html; charset=utf-8')
  ctx.body = html
}

/** Reads the first piece before anything is sent: what cannot be read at all is an error with an envelope. */
async function openStream(visit: Visit, pieces: AsyncIterable<Uint8Array>): Promise<Readable> {
  const reader = pieces[Symbol.asyncIterator]()
  const first = await reader.next()
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      for (let piece = first; piece.done !== true; piece = await reader.next()) yield piece.value
    } catch (error) {
      visit.desk.app.log.error({ err: error, request_id: visit.id }, 'a content broke off')
      throw error
    } finally {
      await reader.return?.()
    }
  }
  return Readable.from(all(), { objectMode: false })
}

/** Sends an error. @param error always one a caller may see */
export function sendError(visit: Visit, error: ProductError): Promise<void> | void {
  const { ctx, desk } = visit
  const status = statusOf(error.code)
  const given = error.retryAfter ?? defaultWait(visit, status)
  const wait = given === undefined ? undefined : Math.max(1, Math.ceil(given))
  if (wait !== undefined) ctx.set('Retry-After', String(wait))
  const { fault } = visit.found.entry?.route ?? {}
  if (fault !== undefined) return sendFault(visit, fault({ error, status, requestId: visit.id, wait }))
  const member = errorMember(error, desk.app.config.APP_ORIGIN)
  return sendJson(visit, status, JSON.stringify({ ok: false, error: member, meta: { request_id: visit.id } }))
}

/** The error in the route's own form. */
function sendFault(visit: Visit, { status, type, text, headers = {} }: FaultAnswer): Promise<void> | void {
  for (const [name, value] of Object.entries(headers)) visit.ctx.set(name, value)
  return sendText(visit, status, text, type)
}

function sendJson(visit: Visit, status: number, text: string): Promise<void> | void {
  return sendText(visit, status, text, 'application/json; charset=utf-8')
}

function sendText(visit: Visit, status: number, text: string, type: string): Promise<void> | void {
  const { ctx } = visit
  ctx.status = status
  ctx.set('Content-Type', type)
  const unread = unreadBody(visit)
  if (unread !== 'nothing') ctx.set('Connection', 'close')
  ctx.body = text
  if (unread !== 'linger') return
  // Koa would end the response, and with it the connection, at once.
  ctx.respond = false
  return answerAndLinger(visit, text)
}

function envelope(visit: Visit, outcome: Outcome): string {
  const pagination = outcome.pagination === undefined ? '' : `,"pagination":${JSON.stringify(outcome.pagination)}`
  const meta = JSON.stringify({ request_id: visit.id, ...outcome.meta })
  return `{"ok":true,"data":${textOf(outcome.data)}${pagination},"meta":${meta}}`
}

// As with tags (etag.ts): what is frozen by who made it never changes, so its text is made once.
const texts = new WeakMap<object, string>()

function textOf(data: unknown): string {
  if (typeof data !== 'object' || data === null || !Object.isFrozen(data)) return JSON.stringify(data)
  const known = texts.get(data)
  if (known !== undefined) return known
  const text = JSON.stringify(data)
  texts.set(data, text)
  return text
}

function unchanged(visit: Visit, etag: string): boolean {
  const known = visit.header('if-none-match')
  if (known === undefined || !namesTag(known, etag)) return false
  visit.ctx.status = 304
  return true
}

function defaultWait(visit: Visit, status: number): number | undefined {
  if (status === 429) return visit.allowance?.retryAfter
  return status === 503 ? UNAVAILABLE_RETRY_SECONDS : undefined
}
