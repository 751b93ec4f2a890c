// Compares every real response with the OpenAPI documents: its status and its headers must be documented.

import assert from 'node:assert/strict'
import { routes } from '../../src/api/routes.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { buildOpenapi, openapiRoute, type Surface } from '../../src/http/openapi.ts'
import { NO_WEBHOOKS } from '../../src/http/openapi-webhooks.ts'
import { API_BASE } from '../../src/http/prepared-route.ts'
import type { Route } from '../../src/http/route.ts'
import type { Json } from './appliance.ts'

/** A route, and what its document says. */
interface Described {
  operation: string
  method: string
  path: RegExp
  /** How many parts of the path are parameters. */
  parameters: number
  /** The names of the headers of each documented status, in lower case. */
  responses(): ReadonlyMap<string, ReadonlySet<string>>
}

/** The middleware returns these before an operation is known: wrong method, or malformed request. */
const OF_NO_OPERATION = new Set([405, 431])

/** Headers of HTTP itself, and of what a browser may do with the content, which say nothing of the operation. */
const OF_HTTP = new Set([
  'accept-ranges',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'keep-alive',
  'pragma',
  'transfer-encoding',
  'vary',
  'x-accel-buffering',
  'x-content-type-options',
])

const known = new Map<Surface, Described[]>()

function describedOf(surface: Surface): Described[] {
  const before = known.get(surface)
  if (before !== undefined) return before
  const config = loadConfig({}, '/no/settings/file.json')
  const own = [...routes, openapiRoute(routes, config, surface, NO_WEBHOOKS)].filter(
    (one) => one.hidden !== true && [surface, 'both'].includes(one.surface ?? 'app'),
  )
  const all = own.map((one) => describe(one, config, surface))
  known.set(surface, all)
  return all
}

/** The document of a route is built with its first response: that of all of them takes as long as many tests. */
function describe(route: Route, config: Config, surface: Surface): Described {
  let responses: Map<string, ReadonlySet<string>> | undefined
  const { method, path, root, operation } = route
  const parts = path.replaceAll(/\{\w+\}/g, '[^/]+')
  return {
    operation,
    method,
    path: new RegExp(`^${root === true ? '' : API_BASE}${parts}/?$`),
    parameters: parts.split('[^/]+').length,
    responses() {
      responses ??= headersOf(buildOpenapi([route], config, surface) as Json, path, method.toLowerCase())
      return responses
    },
  }
}

function headersOf(document: Json, path: string, method: string): Map<string, ReadonlySet<string>> {
  const { responses } = document.components
  return new Map(
    Object.entries<Json>(document.paths[path][method].responses).map(([status, response]) => {
      const { headers } = response.$ref === undefined ? response : responses[response.$ref.split('/').at(-1)]
      return [status, new Set(Object.keys(headers ?? {}).map((name) => name.toLowerCase()))]
    }),
  )
}

/** @throws AssertionError when the document does not list this status for the operation, or one of its headers */
export function assertDescribed(surface: Surface, method: string, path: string, response: Response): void {
  const { status } = response
  if (OF_NO_OPERATION.has(status)) return
  const named = method === 'HEAD' ? 'GET' : method
  // A path without parameters wins over one with.
  const meant = describedOf(surface)
    .filter((one) => one.method === named && one.path.test(path))
    .sort((a, b) => a.parameters - b.parameters)[0]
  if (meant === undefined) return
  const headers = meant.responses().get(String(status))
  assert.ok(headers !== undefined, `${meant.operation} answers ${status}: its description does not say so`)
  const undeclared = [...response.headers.keys()].filter((name) => !headers.has(name) && !OF_HTTP.has(name))
  assert.deepEqual(
    undeclared,
    [],
    `${meant.operation} answers ${status} with headers that its description does not name`,
  )
}
