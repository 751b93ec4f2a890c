// Reads the bytes of a body from the connection, with a size limit.

import type { IncomingMessage } from 'node:http'
import type { Timer } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { hasBody } from './negotiate.ts'
import { ownerOf } from './owner.ts'
import { BODY_LIMIT } from './prepared-route.ts'
import type { RequestContext } from './request-context.ts'

// How much of a rejected body is still read, and for how long, so that the client can read the response (RFC 9112 §9.6).
const LINGER_BYTES = 134_217_728
export const LINGER_MS = 30_000
const PIECE_BYTES = 1_048_576

/** 413 on the declared size, before anything is read. */
export function checkDeclaredSize(request: RequestContext): void {
  const limit = request.match.entry?.bodyLimit ?? BODY_LIMIT
  if (Number(request.header('content-length') ?? 0) > limit) throw tooLarge(limit)
}

/** A whole body: one buffer, or, for a large body, several with their own memory that can be transferred to a thread. */
export type ReceivedBody = { bytes: Buffer } | { pieces: Uint8Array[] }

/**
 * Reads a whole body. A large one waits for free memory.
 * @throws ProductError payload_too_large at the first byte above the limit
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
        // Its length was not declared.
        hasRoom = true
        req.pause()
        reserveMemory(request, limit).then(
          () => req.resume(),
          (error: unknown) => done(() => reject(error)),
        )
      }
    }
    const ended = () => done(() => resolve(gathering.gathered()))
    const broken = () => done(() => reject(cutOff()))
    req.on('data', take).on('end', ended).on('close', broken).on('error', broken)
  })
}

/** Sends 100 Continue only when the body is needed: a client with Expect: 100-continue does not send a body that would be rejected. */
export function proceed(request: RequestContext): void {
  if (!expectsContinue(request.req)) return
  request.res.writeContinue()
  request.continued = true
}

/** Waits until this much memory is free, and reserves it until the end of the request. */
export async function reserveMemory(request: RequestContext, bytes: number): Promise<void> {
  request.onEnd(await request.listener.largeBodies.reserve(bytes, ownerOf(request)))
}

/** The received part of a body. */
class BodyBuffer {
  size = 0
  readonly #chunks: Buffer[] = []
  /** Filled step by step for a large body, so that no single step copies all of it. */
  readonly #pieces: Uint8Array[] = []
  #filled = PIECE_BYTES

  add(chunk: Buffer): void {
    this.size += chunk.length
    this.#chunks.push(chunk)
    if (this.size <= BODY_LIMIT) return
    for (const chunk of this.#chunks.splice(0)) this.#copy(chunk)
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
 * What to do when a response is sent before the body was read: nothing (Node reads a small rest), close the
 * connection, or linger before closing it.
 */
export function unreadBody(request: RequestContext): 'nothing' | 'close' | 'linger' {
  const { req } = request
  if (req.complete || req.destroyed || !hasBody(req)) return 'nothing'
  if (expectsContinue(req) && !request.continued) return 'close'
  const endless = req.headers['transfer-encoding'] !== undefined
  return endless || Number(req.headers['content-length']) > BODY_LIMIT ? 'linger' : 'nothing'
}

/**
 * Responds immediately while the client is still sending, reads on for a while, and closes the connection.
 * Closing immediately would discard the response together with the unread data.
 */
export function answerAndLinger(request: RequestContext, text: string | Buffer): Promise<void> {
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

function expectsContinue(req: IncomingMessage): boolean {
  return req.headers.expect?.toLowerCase() === '100-continue'
}

export function cutOff(): ProductError {
  return new ProductError('invalid_parameter', 'The body is incomplete. Send it again.')
}

export function tooLarge(limit: number): ProductError {
  return new ProductError('payload_too_large', `The body is too large. It has at most ${limit} bytes.`)
}
