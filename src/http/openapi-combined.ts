// One OpenAPI document with the operations of both public listeners, for the API reference and for generators of clients.

import { Type } from 'typebox'
import type { Config } from '../config/config.ts'
import { buildOpenapi, COMPRESSION } from './openapi.ts'
import type { WebhookDocs } from './openapi-webhooks.ts'
import { API_BASE } from './prepared-route.ts'
import { type Route, route } from './route.ts'

type Json = Record<string, unknown>

interface Document extends Json {
  info: Json
}

export const COMBINED_PATH = '/docs/openapi.json'

const DESCRIPTION = `One origin answers everything: the Management, Mailbox and Sending API. The operations of the Sending API are served at an
origin of their own as well, for programs that only send and for agents, whose sending tokens are accepted there alone. Authenticate with \`Authorization: Bearer <key>\`: a root key (\`srk_…\`) for the team, a mailbox
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

/** The document of the app's origin, which takes every operation, for readers of both. */
export function combineOpenapi(routes: readonly Route[], config: Config, webhooks: WebhookDocs): Json {
  const app = buildOpenapi(routes, config, 'app', webhooks) as Document
  return {
    ...app,
    info: { ...app.info, title: 'Mailstead API', description: DESCRIPTION },
    servers: [{ url: config.APP_ORIGIN + API_BASE, description: 'Every operation' }],
  }
}
