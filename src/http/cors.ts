// What browsers of other origins may do (decisions §1.10).

import type { RequestContext } from './request-context.ts'

const EXPOSED = [
  'ETag',
  'Retry-After',
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Idempotent-Replayed',
  'Location',
].join(', ')
const SENDABLE = 'Authorization, Content-Type, If-Match, If-None-Match, If-Range, Range, Idempotency-Key, X-Request-Id'
const PREFLIGHT_SECONDS = '600'

/** Lets every origin read what is open, and the configured origins the rest. Never with credentials: keys are no cookies. */
export function allowOrigin(request: RequestContext): void {
  const { ctx, listener, match } = request
  const { open } = match
  if (!open && listener.corsOrigins.size > 0) ctx.vary('Origin')
  const origin = request.header('origin')
  if (origin === undefined || (!open && !listener.corsOrigins.has(origin))) return
  ctx.set('Access-Control-Allow-Origin', open ? '*' : origin)
  ctx.set('Access-Control-Expose-Headers', EXPOSED)
}

/** Answers OPTIONS: what the path knows, and the preflight of a browser that may ask. */
export function answerOptions(request: RequestContext, allow: string): void {
  const { ctx } = request
  ctx.status = 204
  ctx.set('Allow', allow)
  if (request.header('access-control-request-method') === undefined) return
  if (!request.res.hasHeader('Access-Control-Allow-Origin')) return
  ctx.set('Access-Control-Allow-Methods', allow)
  ctx.set('Access-Control-Allow-Headers', SENDABLE)
  ctx.set('Access-Control-Max-Age', PREFLIGHT_SECONDS)
}
