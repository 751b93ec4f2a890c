// One OpenAPI document with the operations of both public listeners, each with the server that answers it: for the API reference.

import { Type } from 'typebox'
import type { Config } from '../config/config.ts'
import { buildOpenapi, COMPRESSION } from './openapi.ts'
import type { WebhookDocs } from './openapi-webhooks.ts'
import { API_BASE } from './prepared-route.ts'
import { type Route, route } from './route.ts'

type Json = Record<string, unknown>

interface Document extends Json {
  paths: Record<string, Json>
  tags: { name: string }[]
  components: Record<string, Json>
}

export const COMBINED_PATH = '/docs/openapi.json'

const DESCRIPTION = `Mailstead answers on two origins: the Management and Mailbox API on one, the Sending API on the other.
Each operation below names its server. Authenticate with \`Authorization: Bearer <key>\`: a root key (\`srk_…\`) for the team, a mailbox
key (\`smk_…\`) for one mailbox. [Getting started](/docs/getting-started) shows the first requests; [Errors](/docs/errors) explains every
error code.

${COMPRESSION}`

/** `GET /docs/openapi.json` of the app origin. */
export function combinedOpenapiRoute(routes: readonly Route[], config: Config, webhooks: WebhookDocs): Route {
  let document: Json | undefined
  return route({
    method: 'GET',
    path: COMBINED_PATH,
    root: true,
    docs: {
      hidden: true,
      operation: 'getCombinedOpenapi',
      tag: 'Service',
      summary: 'Get the OpenAPI document of both public listeners',
    },
    access: { as: 'none', open: true },
    reply: { bare: true, etag: true, schema: Type.Object({}, { additionalProperties: true }) },
    async handle() {
      document ??= Object.freeze(combineOpenapi(routes, config, webhooks))
      return document
    },
  })
}

/** @throws Error when the two documents describe one component differently */
export function combineOpenapi(routes: readonly Route[], config: Config, webhooks: WebhookDocs): Json {
  const app = buildOpenapi(routes, config, 'app', webhooks) as Document
  const send = buildOpenapi(routes, config, 'send', webhooks) as Document
  const sendServers = [{ url: config.SEND_ORIGIN + API_BASE, description: 'Sending API' }]
  const paths = { ...app.paths }
  // Operations of both origins are taken from the document of the app.
  for (const [path, item] of Object.entries(send.paths)) paths[path] ??= { servers: sendServers, ...item }
  const known = new Set(app.tags.map(({ name }) => name))
  const title = 'Mailstead API'
  return {
    ...app,
    info: { ...(app.info as Json), title, description: DESCRIPTION },
    servers: [{ url: config.APP_ORIGIN + API_BASE, description: 'Management and Mailbox API' }],
    tags: [...send.tags.filter(({ name }) => !known.has(name)), ...app.tags],
    paths,
    components: combineComponents(app.components, send.components),
  }
}

function combineComponents(one: Record<string, Json>, other: Record<string, Json>): Record<string, Json> {
  const kinds = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...kinds].map((kind) => [kind, combined(one[kind] ?? {}, other[kind] ?? {})]))
}

function combined(one: Json, other: Json): Json {
  for (const [name, value] of Object.entries(other)) {
    if (name in one && JSON.stringify(one[name]) !== JSON.stringify(value)) {
      throw new Error(`The two listeners describe the component ${name} differently.`)
    }
  }
  return { ...one, ...other }
}
