// Takes the bytes of a body off the wire, never more than allowed.

import type { IncomingMessage } from 'node:http'
import type { Timer } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { hasBody } from './negotiate.ts'
import { BODY_LIMIT } from './prepared-route.ts'
import type { RequestContext } from './request-context.ts'

// How much of a refused body is still read, and how long, so that the client comes to read the answer (RFC 9112 9.6).
const LINGER_BYTES = 134_217_728
export const LINGER_MS = 5_000
const PIECE_BYTES = 1_048_576

/** 413 on the declared size, before anything is read. */
export function checkDeclaredSize(request: RequestContext): void {
  const limit = request.match.entry?.bodyLimit ?? BODY_LIMIT
  if (Number(request.header('content-length') ?? 0) > limit) throw tooLarge(limit)
}

/** A whole body: in one piece, or, where it is large, in pieces of their own memory that a thread can be given. */
export type ReceivedBody = { bytes: Buffer } | { pieces: Uint8Array[] }

/**
 * Reads a whole body. A large one waits until there is room for it.
 * @throws ProductError payload_too_large as soon as one byte too many has come
 */
export async function readBody(request: RequestContext): Promise<ReceivedBody> {
  const { req } = request
  const limit = request.match.entry?.bodyLimit ?? BODY_LIMIT
  if (!hasBody(req)) return { bytes: Buffer.alloc(0) }
  const declared = Number(request.header('content-length') ?? 0)
  if (declared > BODY_LIMIT) await reserveMemory(request, declared)
  proceed(request)
  return new Promise((resolve, reject) => {
    if (req.destroyed) return reject(cutOff())
    const gathering = new BodyBuffer()
    let hasRoom = declared > BODY_LIMIT
    const done = (settle: () => void) => {
      req.off('data', take).off('end', ended).off('close', broken).off('error', broken)
      settle()
    }
    const take = (chunk: Buffer) => {
      gathering.add(chunk)
      if (gathering.size > limit) {
        req.pause()
        done(() => reject(tooLarge(limit)))
      } else if (gathering.size > BODY_LIMIT && !hasRoom) {
        // Its length was not told before.
        hasRoom = true
        req.pause()
        void reserveMemory(request, limit).then(() => req.resume())
      }
    }
    const ended = () => done(() => resolve(gathering.gathered()))
    const broken = () => done(() => reject(cutOff()))
    req.on('data', take).on('end', ended).on('close', broken).on('error', broken)
  })
}

/** Says that only now the body is wanted: a client that asks first is spared sending what would have been refused. */
export function proceed(request: RequestContext): void {
  if (!asksFirst(request.req)) return
  request.res.writeContinue()
  request.continued = true
}

/** Waits until there is room for so many bytes; it is given back when the request is over. */
export async function reserveMemory(request: RequestContext, bytes: number): Promise<void> {
  request.onEnd(await request.listener.largeBodies.reserve(bytes))
}

/** What has come of a body. */
class BodyBuffer {
  size = 0
  readonly #chunks: Buffer[] = []
  /** Filled one after another once the body is large, so that no single step copies all of it. */
  readonly #pieces: Uint8Array[] = []
  #filled = PIECE_BYTES

  add(chunk: Buffer): void {
    this.size += chunk.length
    this.#chunks.push(chunk)
    if (this.size <= BODY_LIMIT) return
    for (const waiting of this.#chunks.splice(0)) this.#copy(waiting)
  }

  gathered(): ReceivedBody {
    if (this.#pieces.length === 0) {
      const [first] = this.#chunks
      return { bytes: this.#chunks.length === 1 ? first! : Buffer.concat(this.#chunks, this.size) }
    }
    const last = this.#pieces.pop()!
    return { pieces: [...this.#pieces, last.slice(0, this.#filled)] }
  }

  #copy(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.#filled === PIECE_BYTES) {
        this.#pieces.push(new Uint8Array(PIECE_BYTES))
        this.#filled = 0
      }
      const part = chunk.subarray(from, from + PIECE_BYTES - this.#filled)
      this.#pieces.at(-1)!.set(part, this.#filled)
      this.#filled += part.length
      from += part.length
    }
  }
}

/**
 * What to do about a body that was not read when the answer goes out: nothing (Node reads a small rest away), close the
 * connection, or linger before closing it.
 */
export function unreadBody(request: RequestContext): 'nothing' | 'close' | 'linger' {
  const { req } = request
  if (req.complete || req.destroyed || !hasBody(req)) return 'nothing'
  if (asksFirst(req) && !request.continued) return 'close'
  const endless = req.headers['transfer-encoding'] !== undefined
  return endless || Number(req.headers['content-length']) > BODY_LIMIT ? 'linger' : 'nothing'
}

/**
 * Sends an answer at once while the client is still sending, lets it finish for a while, and closes the connection.
 * Closing at once would throw the answer away together with what was not read.
 */
export function answerAndLinger(request: RequestContext, text: string): Promise<void> {
  const { req, res } = request
  res.write(text)
  return new Promise((resolve) => {
    let left = LINGER_BYTES
    let timer: Timer | undefined
    const done = () => {
      timer?.cancel()
      req.off('data', drop).off('end', done).off('close', done)
      res.end()
      resolve()
    }
    const drop = (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) done()
    }
    timer = request.listener.app.clock.after(LINGER_MS, done)
    req.on('data', drop).on('end', done).on('close', done).resume()
  })
}

function asksFirst(req: IncomingMessage): boolean {
  return req.headers.expect?.toLowerCase() === '100-continue'
}

export function cutOff(): ProductError {
  return new ProductError('invalid_parameter', 'The body ended too early.')
}

export function tooLarge(limit: number): ProductError {
  return new ProductError('payload_too_large', `The body is larger than ${limit} bytes.`)
}
