// Which types a request accepts and sends (decisions §1.10).

import type { IncomingMessage } from 'node:http'
import { ProductError } from '../../base/errors.ts'
import type { Visit } from './visit.ts'

const JSON_BODY = /^application\/(?:json|[\w.!#$&^-]+\+json)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i
const ANYTHING = '*/*'

/** 406 when `Accept` excludes every type the route produces. */
export function chooseType(visit: Visit): void {
  const { produces } = visit.found.entry!
  const accept = visit.header('accept')
  visit.accepts = produces[0]!
  if (accept === undefined || accept === ANYTHING || accept === visit.accepts || produces.includes(ANYTHING)) return
  const chosen = visit.ctx.accepts(...produces)
  if (typeof chosen !== 'string') {
    throw new ProductError('not_acceptable', `This produces ${produces.join(' or ')} only.`, { param: 'Accept' })
  }
  visit.accepts = chosen
}

/** 415 for a body that is anything but plain JSON. */
export function requireJsonBody(visit: Visit): void {
  if (visit.found.entry!.body === null || !hasBody(visit.req)) return
  const coding = visit.header('content-encoding')
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') {
    visit.ctx.set('Accept-Encoding', 'identity')
    throw new ProductError('unsupported_media_type', 'A body must come without a Content-Encoding.', {
      param: 'Content-Encoding',
    })
  }
  const type = visit.header('content-type')
  if (type === undefined || JSON_BODY.test(type)) return
  if (visit.method === 'POST') visit.ctx.set('Accept-Post', 'application/json')
  if (visit.method === 'PATCH') visit.ctx.set('Accept-Patch', 'application/json')
  throw new ProductError('unsupported_media_type', 'A body must be application/json in UTF-8.', {
    param: 'Content-Type',
  })
}

export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}
