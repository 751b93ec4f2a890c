// Turns the result of a handler, or an error, into the response.

import { Readable } from 'node:stream'
import { ProductError } from '../base/errors.ts'
import { answerAndLinger, unreadBody } from './body.ts'
import { compress, compressOnce, isCompressibleSize, isTextType, negotiateCoding } from './compress.ts'
import { encodeCursor } from './cursor.ts'
import { nextAddress, wantsPage } from './elsewhere.ts'
import type { ErrorAnswer } from './error-answer.ts'
import { errorMember, statusOf } from './errors.ts'
import { etagOf, namesTag } from './etag.ts'
import { cursorScopeOf } from './input.ts'
import { dataOf, isFrozen, jsonOf } from './json-text.ts'
import type { PreparedRoute } from './prepared-route.ts'
import { byteRangeOf } from './ranges.ts'
import type { RequestContext } from './request-context.ts'
import {
  type BytesAnswer,
  isAnswer,
  isBytes,
  isPage,
  isStream,
  type ListAnswer,
  type PageAnswer,
  type StreamAnswer,
} from './route.ts'
import { byteLength, bytesOf, type Text, writeEmpty, writeText } from './write.ts'

/** Default of Retry-After for 503, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 10

/** A stream's connection is closed after this idle time: twice the longest interval of pings, ms. */
const STREAM_SILENCE_MS = 600_000

/** Shorter JSON is copied into one piece with its envelope, bytes. */
const PARTS_FROM = 4096

/** Larger bytes are streamed, not gathered and compressed. */
const GATHERED_MAX = 1_048_576

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
    const isVersioned = isTagged(entry) || entry.route.createdTag === true
    if (value.version !== undefined && isVersioned) outcome.etag = etagOf(value.version)
  } else if (entry.paged) {
    const { items, next, meta } = value as ListAnswer
    outcome.data = items
    outcome.meta = meta ?? {}
    outcome.pagination =
      next === null
        ? { has_more: false }
        : { has_more: true, next_cursor: encodeCursor(request.listener.app.vault, cursorScopeOf(request), next) }
  }
  if (request.listener.checkReplies && !entry.reply.passes(dataOf(outcome.data))) {
    const issues = JSON.stringify(entry.reply.issues(dataOf(outcome.data)))
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
  const { route } = request.match.entry!
  for (const name in outcome.headers) request.set(name, outcome.headers[name]!)
  if (isTagged(request.match.entry!)) {
    const etag = outcome.etag ?? etagOf(outcome.data)
    request.set('ETag', etag)
    if (route.method === 'GET' && isUnchanged(request, etag)) {
      // A 304 has the `Vary` of the response it stands for (RFC 9110 §15.4.5).
      negotiateCoding(request)
      return sendUnchanged(request)
    }
  } else if (outcome.etag !== undefined) request.set('ETag', outcome.etag)
  if (route.bare !== true) return sendJson(request, outcome.status, envelope(request, outcome))
  return sendJson(request, outcome.status, jsonOf(outcome.data), outcome.data)
}

/** Sends bytes, or the requested range of them. */
export async function sendBytes(request: RequestContext, bytes: BytesAnswer): Promise<void> {
  const { res } = request
  const { sizeBytes: size, etag } = bytes
  request.set('ETag', etag)
  // A weak tag means that the bytes can differ between responses: their ranges do not fit together.
  const isRanged = !etag.startsWith('W/')
  if (isRanged) request.set('Accept-Ranges', 'bytes')
  const coding = isCompressible(bytes) ? negotiateCoding(request) : null
  if (isUnchanged(request, etag)) {
    // A 304 has the cache rules of the response it stands for (RFC 9110 §15.4.5).
    for (const name of ['Cache-Control', 'Vary']) if (bytes.headers?.[name]) request.set(name, bytes.headers[name])
    return sendUnchanged(request)
  }
  if (coding !== null) return sendBytesAsText(request, bytes)
  // Range is defined for GET only (RFC 9110 §14.2).
  const range = isRanged && request.method === 'GET' ? request.header('range') : undefined
  const span = byteRangeOf(range, request.header('if-range'), size, etag)
  if (span === 'unsatisfiable') {
    request.set('Content-Range', `bytes */${size}`)
    throw new ProductError('range_not_satisfiable', `The content has ${size} bytes.`, { param: 'Range' })
  }
  const { start, end } = span ?? { start: 0, end: size }
  const body = request.method === 'HEAD' ? null : await openStream(request, await bytes.read(start, end))
  for (const [name, value] of Object.entries(bytes.headers ?? {})) request.set(name, value)
  if (span !== null) request.set('Content-Range', `bytes ${start}-${end - 1}/${size}`)
  request.set('Content-Type', bytes.type)
  request.set('Content-Length', String(end - start))
  res.statusCode = span === null ? 200 : 206
  if (body === null) res.end()
  else request.listener.streams.write(request.req, res, { status: res.statusCode, body })
}

/** A strong tag and ranges belong to the stored bytes: only text with a weak tag is compressed. */
function isCompressible({ etag, type, sizeBytes, headers = {} }: BytesAnswer): boolean {
  const isPlain = headers['Content-Encoding'] === undefined
  return (
    etag.startsWith('W/') && isTextType(type) && isPlain && isCompressibleSize(sizeBytes) && sizeBytes <= GATHERED_MAX
  )
}

async function sendBytesAsText(
  request: RequestContext,
  { read, sizeBytes, type, headers = {} }: BytesAnswer,
): Promise<void> {
  const pieces = await Array.fromAsync(await read(0, sizeBytes))
  for (const [name, value] of Object.entries(headers)) request.set(name, value)
  return sendText(request, 200, Buffer.concat(pieces), type)
}

/** Sends a stream: the request ends with it, or when the client disconnects. */
export async function sendStream(request: RequestContext, { headers, open }: StreamAnswer): Promise<void> {
  const { req, res } = request
  const body = request.method === 'HEAD' ? null : await open()
  for (const [name, value] of Object.entries(headers)) request.set(name, value)
  request.set('Content-Type', `${request.accepts}; charset=utf-8`)
  if (body === null) return void res.end()
  request.isStreaming = true
  body.once('close', () => request.end())
  request.listener.streams.write(req, res, { status: 200, body })
  req.socket.setTimeout(STREAM_SILENCE_MS)
  // A stream has no last response to wait for: a client that closes its half has left.
  if (req.socket.readableEnded) req.socket.destroy()
  else req.socket.once('end', () => req.socket.destroy())
}

/** Sends a page. */
export function sendPage(request: RequestContext, { status, html, headers }: PageAnswer): void {
  const { res } = request
  for (const [name, value] of Object.entries(headers)) request.set(name, value)
  res.statusCode = status
  if (headers['Content-Type'] === undefined) request.set('Content-Type', 'text/html; charset=utf-8')
  writeText(res, html, byteLength(html))
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
  const { listener } = request
  const status = statusOf(error.code)
  const given = error.retryAfter ?? defaultWait(request, status)
  const wait = given === undefined ? undefined : Math.max(1, Math.ceil(given))
  if (wait !== undefined) request.set('Retry-After', String(wait))
  const shown = { error, status, requestId: request.id, wait }
  const { renderError: render } = request.match.entry?.route ?? {}
  if (render !== undefined) return sendFormattedError(request, render(shown))
  if (listener.errorPage !== null && wantsPage(request)) {
    return sendFormattedError(request, listener.errorPage(shown, nextAddress(request)))
  }
  const member = errorMember(error, listener.app.config.APP_ORIGIN)
  return sendJson(request, status, JSON.stringify({ ok: false, error: member, meta: { request_id: request.id } }))
}

/** The error in the route's own form. */
function sendFormattedError(
  request: RequestContext,
  { status, type, text, headers = {} }: ErrorAnswer,
): Promise<void> | void {
  for (const [name, value] of Object.entries(headers)) request.set(name, value)
  return sendText(request, status, text, type)
}

/** @param source the data of the whole text, if it is nothing else */
function sendJson(request: RequestContext, status: number, text: Text, source?: unknown): Promise<void> | void {
  return sendText(request, status, text, 'application/json; charset=utf-8', source)
}

function sendText(
  request: RequestContext,
  status: number,
  text: Text,
  type: string,
  source?: unknown,
): Promise<void> | void {
  const { res } = request
  res.statusCode = status
  request.set('Content-Type', type)
  const length = byteLength(text)
  const unread = unreadBody(request)
  if (unread !== 'nothing') request.set('Connection', 'close')
  if (unread === 'linger') {
    res.setHeader('Content-Length', length)
    return answerAndLinger(request, bytesOf(text))
  }
  const coding = isCompressibleSize(length) ? negotiateCoding(request) : null
  if (coding === null) return writeText(res, text, length)
  const write = (compressed: Buffer | null) => {
    if (compressed === null) return writeText(res, text, length)
    request.set('Content-Encoding', coding)
    writeText(res, compressed, compressed.length)
  }
  const compressed = isFrozen(source) ? compressOnce(source, bytesOf(text), coding) : compress(bytesOf(text), coding)
  if (compressed instanceof Promise) return compressed.then(write)
  write(compressed)
}

const ENVELOPE_START = '{"ok":true,"data":'
const ENVELOPE_BYTES = Buffer.from(ENVELOPE_START)

function envelope(request: RequestContext, outcome: JsonAnswer): Text {
  const pagination = outcome.pagination === undefined ? '' : `,"pagination":${JSON.stringify(outcome.pagination)}`
  const end = `${pagination},"meta":${JSON.stringify({ request_id: request.id, ...outcome.meta })}}`
  const data = jsonOf(outcome.data)
  if (typeof data === 'string') return ENVELOPE_START + data + end
  if (data.length >= PARTS_FROM) return [ENVELOPE_START, data, end]
  return Buffer.concat([ENVELOPE_BYTES, data, Buffer.from(end)])
}

function isUnchanged(request: RequestContext, etag: string): boolean {
  const known = request.header('if-none-match')
  return known !== undefined && namesTag(known, etag)
}

function sendUnchanged({ res }: RequestContext): void {
  res.statusCode = 304
  writeEmpty(res)
}

function defaultWait(request: RequestContext, status: number): number | undefined {
  if (status === 429) return request.allowance?.retryAfter
  return status === 503 ? UNAVAILABLE_RETRY_SECONDS : undefined
}
