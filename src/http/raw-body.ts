// A body that is the content itself instead of JSON: its bytes stream to the route, with a size limit.

import { ProductError } from '../base/errors.ts'
import { cutOff, proceed, reserveMemory, tooLarge } from './body.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Lets the route read the body.
 * @throws ProductError payload_too_large at the first byte above the limit
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
    // Node drains an unread body; a partly read one would keep the connection waiting.
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
