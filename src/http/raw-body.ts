// A body that is no JSON but the content itself: its bytes go to the route as they come, never more than allowed.

import { ProductError } from '../base/errors.ts'
import { cutOff, proceed, takeRoom, tooLarge } from './body.ts'
import type { Visit } from './request-context.ts'

/**
 * Lets the route take the body.
 * @throws ProductError payload_too_large as soon as one byte too many has come
 */
export async function readRawBody(visit: Visit, type: string): Promise<void> {
  const { req, input, desk } = visit
  const { limit, take } = visit.found.entry!.route.raw!
  const declared = Number(visit.header('content-length') ?? 0)
  if (declared > limit) throw tooLarge(limit)
  await takeRoom(visit, declared > 0 ? declared : limit)
  proceed(visit)
  const pieces = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  try {
    const { value, digest } = await take({ type, query: input.query, bytes: bounded(pieces, limit), app: desk.app })
    input.body = value as object
    visit.bodyDigest = digest
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
