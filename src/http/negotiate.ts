// Negotiates the media types of requests and responses (docs/design/http.md §10).

import type { IncomingMessage } from 'node:http'
import { ProductError } from '../base/errors.ts'
import type { RequestContext } from './request-context.ts'

const JSON_TYPE = /^application\/(?:json|[\w.!#$&^-]{1,100}\+json)$/
const FORM_TYPE = 'application/x-www-form-urlencoded'
const ANYTHING = '*/*'

/** 406 when `Accept` excludes every type the route produces. */
export function chooseType(request: RequestContext): void {
  const { produces } = request.match.entry!
  const accept = request.header('accept')
  request.accepts = produces[0]!
  if (accept === undefined || accept === ANYTHING || accept === request.accepts || produces.includes(ANYTHING)) return
  const chosen = bestType(accept, produces)
  if (chosen === null) {
    throw new ProductError('not_acceptable', `Accept excludes every available type. Accept ${produces.join(' or ')}.`, {
      param: 'Accept',
    })
  }
  request.accepts = chosen
}

/** 415 for a body of another type than the route reads (JSON, or a form). */
export function requireBodyType(request: RequestContext): void {
  const { body, route } = request.match.entry!
  if (body === null || !hasBody(request.req)) return
  const coding = request.header('content-encoding')
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') {
    request.set('Accept-Encoding', 'identity')
    throw new ProductError('unsupported_media_type', 'Content-Encoding is not supported. Send the body unencoded.', {
      param: 'Content-Encoding',
    })
  }
  const type = request.header('content-type')
  if (route.raw !== undefined && type !== undefined && !JSON_TYPE.test(nameOf(type))) {
    request.rawType = type
    return
  }
  const isForm = route.form === true
  if (isForm ? isFormType(type) : type === undefined || isOneOf(type, route.takes)) return
  const wanted = isForm ? FORM_TYPE : 'application/json'
  if (request.method === 'POST') request.set('Accept-Post', wanted)
  if (request.method === 'PATCH') request.set('Accept-Patch', wanted)
  throw new ProductError('unsupported_media_type', `The body has an unsupported type. Send ${wanted} in UTF-8.`, {
    param: 'Content-Type',
  })
}

function nameOf(contentType: string): string {
  return contentType.split(';', 1)[0]!.trim().toLowerCase()
}

function isFormType(contentType = ''): boolean {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  return type === FORM_TYPE && parameters.every((part) => part === '' || /^charset="?utf-8"?$/.test(part))
}

/** JSON or a form of it, in UTF-8. Parts are trimmed one by one: a single pattern takes quadratic time on spaces. */
function isOneOf(contentType: string, others: readonly string[] = []): boolean {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const isKnown = JSON_TYPE.test(type!) || others.includes(type!)
  return isKnown && parameters.every((part) => part === '' || /^charset="?utf-8"?$/.test(part))
}

/** The produced type the client prefers, the first of equals; null when it accepts none (RFC 9110 §12.5.1). */
function bestType(accept: string, produces: readonly string[]): string | null {
  const ranges = new Map<string, number>()
  for (const item of accept.split(',')) {
    // Parameters beside the weight ("charset=utf-8") do not matter for the types produced here.
    const [range, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))
    ranges.set(range!, weight === undefined ? 1 : Number(weight.slice(weight.indexOf('=') + 1)))
  }
  let best: string | null = null
  let most = 0
  for (const type of produces) {
    const family = `${type.slice(0, type.indexOf('/'))}/*`
    const weight = ranges.get(type) ?? ranges.get(family) ?? ranges.get(ANYTHING) ?? 0
    if (weight > most) {
      best = type
      most = weight
    }
  }
  return best
}

export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}
