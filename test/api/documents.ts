// The OpenAPI documents of both origins, as their tests read them.

import { routes } from '../../src/api/routes.ts'
import { webhookEvents } from '../../src/api/schemas/events.ts'
import { loadConfig } from '../../src/config/load.ts'
import { buildOpenapi, type DescribedSurface, openapiRoute, type Surface } from '../../src/http/openapi.ts'
import { combineOpenapi } from '../../src/http/openapi-combined.ts'
import type { Route } from '../../src/http/route.ts'
import { meRoutes } from '../../src/me/routes.ts'

export interface Parameter {
  name: string
  in: string
  required: boolean
  description?: string
  schema: object
}

export interface Operation {
  operationId: string
  summary: string
  tags: string[]
  parameters: Parameter[]
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }> }>
  requestBody?: { content: Record<string, unknown> }
  security?: unknown[]
  'x-required-permission'?: string
}

export interface Document {
  paths: Record<string, Record<string, Operation>>
  tags: { name: string }[]
  components: { schemas: Record<string, object>; responses: Record<string, { headers: object }> }
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete']
export const config = loadConfig(
  { APP_ORIGIN: 'https://mail.example', SEND_ORIGIN: 'https://send.mail.example' },
  '/no/settings/file.json',
)
export const documents = { app: documentOf('app'), send: documentOf('send') }
/** The published document: both origins, each operation with its server. */
export const combined = JSON.parse(JSON.stringify(combineOpenapi(routes, config, webhookEvents))) as Document
/** What a browser reaches with a session, and what the operator reaches. */
export const personal = {
  me: documentOfRoutes(meRoutes, 'me'),
  operator: documentOfRoutes(routes, 'operator'),
}
export const all = Object.values(documents)
export const operations = all.flatMap(({ paths }) =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => ({ path, method, operation: item[method]! })),
  ),
)

function documentOfRoutes(own: readonly Route[], surface: DescribedSurface): Document {
  return JSON.parse(JSON.stringify(buildOpenapi(own, config, surface))) as Document
}

export function documentOf(surface: Surface): Document {
  const own = [...routes, openapiRoute(routes, config, surface, webhookEvents)]
  const document = buildOpenapi(own, config, surface, webhookEvents)
  return JSON.parse(JSON.stringify(document)) as Document
}

export function contentOf({ requestBody }: Operation): Record<string, unknown> {
  return requestBody?.content ?? {}
}

export function visit(value: unknown, look: (node: Record<string, unknown>) => void): void {
  if (value === null || typeof value !== 'object') return
  if (!Array.isArray(value)) look(value as Record<string, unknown>)
  for (const member of Object.values(value)) visit(member, look)
}

export function resolve(document: Document, pointer: string): unknown {
  let at: unknown = document
  for (const step of pointer.split('/').slice(1)) at = (at as Record<string, unknown> | undefined)?.[step]
  return at
}
