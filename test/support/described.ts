// Compares every real response with the OpenAPI documents: its status must be documented.

import assert from 'node:assert/strict'
import { routes } from '../../src/api/routes.ts'
import { loadConfig } from '../../src/config/load.ts'
import { buildOpenapi, openapiRoute, type Surface } from '../../src/http/openapi.ts'
import { NO_WEBHOOKS } from '../../src/http/openapi-webhooks.ts'
import { API_BASE } from '../../src/http/prepared-route.ts'
import type { Json } from './appliance.ts'

interface Described {
  operationId: string
  method: string
  path: RegExp
  statuses: ReadonlySet<string>
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
/** The middleware returns these before an operation is known: wrong method, or malformed request. */
const OF_NO_OPERATION = new Set([405, 431])

const known = new Map<Surface, Described[]>()

function describedOf(surface: Surface): Described[] {
  const before = known.get(surface)
  if (before !== undefined) return before
  const config = loadConfig({}, '/no/settings/file.json')
  const self = openapiRoute(routes, config, surface, NO_WEBHOOKS)
  const document = buildOpenapi([...routes, self], config, surface) as Json
  const all = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => ({
      operationId: item[method].operationId as string,
      method: method.toUpperCase(),
      path: new RegExp(`^${item.servers === undefined ? API_BASE : ''}${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
      statuses: new Set(Object.keys(item[method].responses)),
    })),
  )
  known.set(surface, all)
  return all
}

/** @throws AssertionError when the document does not list this status for the operation */
export function assertDescribed(surface: Surface, method: string, path: string, status: number): void {
  if (OF_NO_OPERATION.has(status)) return
  const named = method === 'HEAD' ? 'GET' : method
  // A path without parameters wins over one with.
  const meant = describedOf(surface)
    .filter((one) => one.method === named && one.path.test(path))
    .sort((a, b) => a.path.source.split('[^/]+').length - b.path.source.split('[^/]+').length)[0]
  if (meant === undefined) return
  assert.ok(
    meant.statuses.has(String(status)),
    `${meant.operationId} answers ${status}: its description does not say so`,
  )
}
