// A body that is no JSON but the content itself: its bytes go to the route as they come, never more than allowed.

import { ProductError } from '../base/errors.ts'
import { cutOff, proceed, reserveMemory, tooLarge } from './body.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Lets the route take the body.
 * @throws ProductError payload_too_large as soon as one byte too many has come
 */
export async function readRawBody(request: RequestContext, type: string): Promise<void> {
  const { req, input, listener } = request
  const { limit, take } = request.match.entry!.route.raw!
  const declared = Number(request.header('content-length') ?? 0)
  if (declared > limit) throw tooLarge(limit)
  await reserveMemory(request, declared > 0 ? declared : limit)
  proceed(request)
  const pieces = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  try {
    const { value, digest } = await take({ type, query: input.query, bytes: bounded(pieces, limit), app: listener.app })
    input.body = value as object
    request.bodyDigest = digest
  } catch (error) {
    // Node drains what nobody has begun to read; what was begun would keep the connection waiting.
    req.resume()
    throw error
  }
}

async function* bounded(pieces: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    for await (const piece of pieces) {
      size += piece.length
      if (size > limit) throw tooLarge(limit)
      yield piece
    }
  } catch (error) {
    throw error instanceof ProductError ? error : cutOff()
  }
}
