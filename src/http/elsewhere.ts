// Paths that this port does not serve: the error names the port that does, and browsers get a page.

import { notFound, ProductError } from '../base/errors.ts'
import type { RequestContext } from './request-context.ts'

/** The error for an unknown path: it says where the path is, if another port serves it. */
export function unknownPath(request: RequestContext): ProductError {
  const port = portOf(request)
  if (port === undefined) return notFound('path')
  const where =
    port.origin === null
      ? "The operator's API has a port of its own. Use the address in the setting OPERATOR_BIND."
      : `This path is at another origin. Use ${port.origin}${request.path}.`
  return new ProductError('not_found', where)
}

/** Where a browser goes on from the page of an error. */
export function nextAddress(request: RequestContext): string {
  const origin = portOf(request)?.origin ?? null
  return origin === null ? `${request.listener.app.config.APP_ORIGIN}/` : `${origin}${request.path}`
}

/** Whether a browser opened an address that is no path of the API. */
export function wantsPage(request: RequestContext): boolean {
  const { match, method, underApi } = request
  if (match.entry !== null || underApi || (method !== 'GET' && method !== 'HEAD')) return false
  request.vary('Accept')
  // Programs send `*/*` or nothing.
  return /\btext\/html\b/i.test(request.header('accept') ?? '')
}

function portOf({ listener, method, path, isPersonal }: RequestContext) {
  // A session is accepted at the app's origin only.
  if (isPersonal) return undefined
  return listener.elsewhere.find(({ table }) => table !== listener.table && table.find(method, path).entry !== null)
}
