// Compares every real response with the OpenAPI documents: its status must be documented.

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
  statuses(): ReadonlySet<string>
}

/** The middleware returns these before an operation is known: wrong method, or malformed request. */
const OF_NO_OPERATION = new Set([405, 431])

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
  let statuses: Set<string> | undefined
  const { method, path, root, operation } = route
  const parts = path.replaceAll(/\{\w+\}/g, '[^/]+')
  return {
    operation,
    method,
    path: new RegExp(`^${root === true ? '' : API_BASE}${parts}/?$`),
    parameters: parts.split('[^/]+').length,
    statuses() {
      const document = () => buildOpenapi([route], config, surface) as Json
      statuses ??= new Set(Object.keys(document().paths[path][method.toLowerCase()].responses))
      return statuses
    },
  }
}

/** @throws AssertionError when the document does not list this status for the operation */
export function assertDescribed(surface: Surface, method: string, path: string, status: number): void {
  if (OF_NO_OPERATION.has(status)) return
  const named = method === 'HEAD' ? 'GET' : method
  // A path without parameters wins over one with.
  const meant = describedOf(surface)
    .filter((one) => one.method === named && one.path.test(path))
    .sort((a, b) => a.parameters - b.parameters)[0]
  if (meant === undefined) return
  assert.ok(
    meant.statuses().has(String(status)),
    `${meant.operation} answers ${status}: its description does not say so`,
  )
}
