// The OpenAPI document, generated from the routes themselves so that it cannot drift (docs/design/http.md §11).

import { type TObject, type TSchema, Type } from 'typebox'
import type { ErrorCode } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import { sendBase } from '../config/origins.ts'
import { liftSchemas } from './components.ts'
import { ERRORS } from './errors.ts'
import { BYTES, bodyOf, plain } from './openapi-body.ts'
import { exampleOf } from './openapi-examples.ts'
import { TAGS } from './openapi-tags.ts'
import { NO_WEBHOOKS, type WebhookDocs, webhooksOf } from './openapi-webhooks.ts'
import { API_BASE, ME_BASE, OPERATOR_BASE, prepareRoute } from './prepared-route.ts'
import { isTagged } from './reply.ts'
import { type Route, route } from './route.ts'
import { ErrorEnvelope, envelopeOf } from './schema.ts'

/** Version of the interface; also the header X-API-Version. */
export const API_VERSION = '1.0.0'

/** One of the two origins. */
export type Surface = 'app' | 'send'

type Json = Record<string, unknown>

/** The routes a document describes: those of an origin, of a signed-in person, or of the operator. */
export type DescribedSurface = Surface | 'me' | 'operator'

const TITLES: Record<DescribedSurface, string> = {
  app: 'Mailstead: Management and Mailbox API',
  send: 'Mailstead: Sending API',
  me: 'Mailstead: the signed-in person',
  operator: 'Mailstead: Operator API',
}

/** The credential of each. */
const SCHEMES: Record<DescribedSurface, [name: string, scheme: Json]> = {
  app: ['bearerAuth', { type: 'http', scheme: 'bearer' }],
  send: ['bearerAuth', { type: 'http', scheme: 'bearer' }],
  me: ['session', { type: 'apiKey', in: 'cookie', name: '__Host-mailstead' }],
  operator: ['bearerAuth', { type: 'http', scheme: 'bearer' }],
}

/** What holds for all responses and is no schema. */
export const COMPRESSION =
  'Text responses of 1 KiB and more are compressed (`zstd`, `gzip`) as `Accept-Encoding` asks; an `ETag` is the same for every coding. ' +
  'Event streams, responses with a secret, and the bytes of messages and attachments are not.'

/** `GET {base_url}/openapi.json` of one origin. */
export function openapiRoute(routes: readonly Route[], config: Config, surface: Surface, webhooks: WebhookDocs): Route {
  let document: Json | undefined
  const self: Route = route({
    method: 'GET',
    path: '/openapi.json',
    surface,
    docs: {
      operation: surface === 'app' ? 'getOpenapi' : 'getSendingOpenapi',
      tag: 'Service',
      summary: 'Get the OpenAPI document of this API',
      description: 'What this listener serves, in OpenAPI 3.1; `/docs/openapi.json` has every operation.',
    },
    access: { as: 'none', open: true },
    reply: { bare: true, etag: true, schema: Type.Object({}, { additionalProperties: true }) },
    async handle() {
      document ??= Object.freeze(buildOpenapi([...routes, self], config, surface, webhooks))
      return document
    },
  })
  return self
}

/** The OpenAPI 3.1.0 document of one origin, of `/me/v1`, or of `/operator/v1`. */
export function buildOpenapi(
  routes: readonly Route[],
  config: Config,
  surface: DescribedSurface,
  webhooks: WebhookDocs = NO_WEBHOOKS,
): Json {
  const [scheme, credential] = SCHEMES[surface]
  const isPublic = surface === 'app' || surface === 'send'
  const own = routes.filter(
    ({ hidden, surface: at = 'app' }) => hidden !== true && (at === surface || (at === 'both' && isPublic)),
  )
  const paths: Record<string, Json> = {}
  for (const one of own) {
    // Paths are relative to the servers; a route at the origin names the origin as its own server.
    const servers = one.root === true ? { servers: [{ url: originOf(config, surface) }] } : {}
    paths[one.path] = { ...servers, ...paths[one.path], [one.method.toLowerCase()]: operationOf(one) }
  }
  return liftSchemas({
    openapi: '3.1.0',
    info: {
      title: TITLES[surface],
      version: API_VERSION,
      description: COMPRESSION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: serversOf(config, surface),
    tags: [...new Set(own.map((one) => one.tag))].map((name) => ({ name, description: TAGS[name] })),
    security: [{ [scheme]: [] }],
    paths,
    ...(surface === 'app' ? { webhooks: webhooksOf(webhooks) } : {}),
    components: {
      securitySchemes: { [scheme]: credential },
      schemas: { Error: plain(ErrorEnvelope) },
      headers: HEADERS,
      responses: errorResponses(),
    },
  })
}

const HEADERS: Json = {
  'X-Request-Id': { description: 'Equal to meta.request_id.', schema: { type: 'string' } },
  'X-API-Version': { description: 'Version of the interface.', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'Requests per minute.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in this minute.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'Unix second at which the minute ends.', schema: { type: 'integer' } },
  ETag: {
    description: 'Version of the resource, one for every `include` and `body_chars`; for If-None-Match and If-Match.',
    schema: { type: 'string' },
  },
  'Idempotent-Replayed': {
    description: '`true`: the stored response of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  'Content-Disposition': { description: 'Name of the file.', schema: { type: 'string' } },
  Location: { description: 'Path of the resource that was created or accepted.', schema: { type: 'string' } },
  'Content-Range': { description: 'The range of the bytes in this response.', schema: { type: 'string' } },
  'Retry-After': {
    description:
      'Seconds to wait before the next request. A 409 has it where a request with the same Idempotency-Key is under way.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Accept-Post': { description: 'Content types that a POST takes.', schema: { type: 'string' } },
  'Accept-Patch': { description: 'Content types that a PATCH takes.', schema: { type: 'string' } },
  'Accept-Encoding': { description: 'Content codings of a body that are accepted.', schema: { type: 'string' } },
  'WWW-Authenticate': {
    description:
      'How to obtain a credential (RFC 9728); a 403 for an agent names the scopes that are missing (RFC 6750).',
    schema: { type: 'string' },
  },
}

/** Headers of errors by their status, in addition to those of all responses. */
const OF_ERRORS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  409: ['Retry-After'],
  415: ['Accept-Post', 'Accept-Patch', 'Accept-Encoding'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** Headers of all responses. */
const EVERYWHERE = Object.keys(HEADERS).filter((name) => name.startsWith('X-'))

function originOf(config: Config, surface: DescribedSurface): string {
  return surface === 'send' ? sendBase(config) : config.APP_ORIGIN
}

/** Both hosts, the host of the document first. */
function serversOf(config: Config, surface: DescribedSurface): Json[] {
  if (surface === 'me') return [{ url: config.APP_ORIGIN + ME_BASE, description: TITLES.me }]
  if (surface === 'operator')
    return [{ url: `http://${config.OPERATOR_BIND}${OPERATOR_BASE}`, description: TITLES.operator }]
  const other: Surface = surface === 'app' ? 'send' : 'app'
  return [surface, other].map((name) => ({ url: originOf(config, name) + API_BASE, description: TITLES[name] }))
}

function operationOf(one: Route): Json {
  const { permissions, paged, produces, body } = prepareRoute(one)
  return {
    operationId: one.operation,
    tags: [one.tag],
    summary: one.summary,
    ...(one.description === undefined ? {} : { description: one.description }),
    ...(permissions.length === 0 ? {} : { 'x-required-permission': permissions.join(' or ') }),
    ...(one.alsoNeeds === undefined ? {} : { 'x-also-required-permission': one.alsoNeeds }),
    ...(one.as === 'none' ? { security: [] } : {}),
    parameters: parametersOf(one),
    ...(one.body === undefined ? {} : { requestBody: bodyOf(one, body?.optional === true) }),
    responses: {
      [one.status ?? 200]: successOf(one, paged, produces),
      ...(one.otherwise ? { 200: { ...successOf(one, paged, produces), description: one.otherwise } } : {}),
      ...(canBeUnchanged(one)
        ? { 304: { description: 'Not modified since the given ETag.', headers: headersOf(['ETag']) } }
        : {}),
      ...(givesBytes(one) ? { 206: partOf(produces) } : {}),
      ...(one.errorFormat === undefined ? refsOf(errorsOf(one)) : formattedErrorsOf(one.errorFormat)),
    },
  }
}

/** Reads of these can return 304. */
function canBeUnchanged(one: Route): boolean {
  return one.method === 'GET' && (one.etag === true || givesBytes(one))
}

function givesBytes(one: Route): boolean {
  return one.stream !== true && one.produces?.some((type) => type !== 'application/json') === true
}

function parametersOf(one: Route): Json[] {
  const header = (name: string, description: string, required = false) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  })
  const headers: Json[] = []
  if (canBeUnchanged(one)) headers.push(header('If-None-Match', 'Known ETag.'))
  if (givesBytes(one))
    headers.push(header('Range', 'One range of bytes.'), header('If-Range', 'Strong ETag the range belongs to.'))
  if (one.etag === true && one.method !== 'GET')
    headers.push(header('If-Match', 'ETag of the resource as it was read; 409 when it has changed since.'))
  if (one.stream === true) headers.push(header('Last-Event-ID', 'The last event `id` the client received.'))
  if (one.fromMailbox === true) {
    headers.push(header('X-Source-Authorization', 'Bearer and the key of the source mailbox.', true))
  }
  if (one.idempotent) {
    headers.push(header('Idempotency-Key', '1-255 visible ASCII characters.', one.idempotent === 'required'))
  }
  return [...fieldsOf(one.params, 'path'), ...fieldsOf(one.query, 'query'), ...headers]
}

interface FieldSchema extends Json {
  description?: string
  deprecated?: boolean
  type?: string
  default?: unknown
}

function fieldsOf(schema: TObject | undefined, location: 'path' | 'query'): Json[] {
  if (schema === undefined) return []
  const required = new Set((schema as { required?: readonly string[] }).required ?? [])
  return Object.entries(schema.properties as Record<string, TSchema>).map(([name, field]) => {
    const { description, deprecated, 'x-replaced-by': _replacement, ...rest } = plain(field) as FieldSchema
    return {
      name,
      in: location,
      required: location === 'path' || (required.has(name) && rest.default === undefined),
      ...(description === undefined ? {} : { description }),
      ...(deprecated === true ? { deprecated } : {}),
      ...(rest.type === 'array' ? { style: 'form', explode: false } : {}),
      schema: rest,
    }
  })
}

function successOf(one: Route, paged: boolean, produces: readonly string[]): Json {
  const json = described(one.bare === true ? plain(one.reply) : plain(envelopeOf(one.reply, paged)))
  const other = one.stream === true ? described(plain(one.reply)) : BYTES
  const content = produces.map((type) => [type, type === 'application/json' ? json : other])
  const own = [
    ...(isTagged({ route: one, status: one.status ?? 200 }) || one.createdTag === true || givesBytes(one)
      ? ['ETag']
      : []),
    ...(one.status === 201 || one.location === true ? ['Location'] : []),
    ...(one.idempotent ? ['Idempotent-Replayed'] : []),
    ...(givesBytes(one) ? ['Content-Disposition'] : []),
  ]
  return {
    description: one.status === 201 ? 'Created.' : 'Success.',
    headers: headersOf(own),
    content: Object.fromEntries(content),
  }
}

function described(schema: Json): Json {
  return { schema, example: exampleOf(schema) }
}

function partOf(produces: readonly string[]): Json {
  const content = produces.filter((type) => type !== 'application/json').map((type) => [type, BYTES])
  const headers = headersOf(['ETag', 'Content-Range', 'Content-Disposition'])
  return { description: 'The requested range.', headers, content: Object.fromEntries(content) }
}

/** @param own headers in addition to those of all responses */
function headersOf(own: readonly string[]): Json {
  return Object.fromEntries([...EVERYWHERE, ...own].map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Error codes of a route. */
function errorsOf(one: Route): ErrorCode[] {
  const codes: ErrorCode[] = ['invalid_parameter', 'not_acceptable', 'rate_limit_exceeded', 'internal_error']
  codes.push(...(one.errors ?? []))
  codes.push('service_unavailable')
  if (one.as !== 'none') codes.push('authentication_required', 'insufficient_permissions')
  if (one.params !== undefined || queryNamesResource(one) || one.fromMailbox === true) codes.push('not_found')
  if (one.method !== 'GET' || queryHasState(one)) codes.push('conflict')
  // An action without a body accepts an empty one, and rejects others.
  if (one.method !== 'GET' && one.method !== 'DELETE') {
    codes.push('payload_too_large', 'unsupported_media_type', 'validation_error')
  }
  // An unknown parameter of the query.
  if (one.root !== true) codes.push('validation_error')
  if (givesBytes(one)) codes.push('range_not_satisfiable')
  return codes
}

/** True when a parameter of the query is a state, which may be too old. */
function queryHasState({ query }: Route): boolean {
  return Object.keys(query?.properties ?? {}).some((name) => /^since(?:_|$)/.test(name))
}

/** True when a parameter of the query names a resource, which may be missing. */
function queryNamesResource({ query }: Route): boolean {
  return Object.values(query?.properties ?? {}).some((field) => 'x-id' in (field as TSchema))
}

function refsOf(codes: readonly ErrorCode[]): Json {
  const entries = codes.map((code) => [ERRORS[code].status, { $ref: `#/components/responses/${ERRORS[code].status}` }])
  return Object.fromEntries(entries)
}

/** The errors of a route with its own error format. */
function formattedErrorsOf({ schema, meanings }: NonNullable<Route['errorFormat']>): Json {
  const content = { 'application/json': { schema: plain(schema) } }
  const entries = Object.entries(meanings).map(([status, description]) => {
    return [status, { description, headers: headersOf(OF_ERRORS[Number(status)] ?? []), content }]
  })
  return Object.fromEntries(entries)
}

/** One response per status; a status may stand for several codes. */
function errorResponses(): Json {
  const responses: Record<string, { description: string; headers: Json; content: Json }> = {}
  for (const [code, rule] of Object.entries(ERRORS)) {
    const sentence = `${code}: ${rule.meaning}`
    const known = responses[rule.status]
    if (known) known.description += ` ${sentence}`
    else {
      const schema = { $ref: '#/components/schemas/Error' }
      const headers = headersOf(OF_ERRORS[rule.status] ?? [])
      responses[rule.status] = { description: sentence, headers, content: { 'application/json': { schema } } }
    }
  }
  return responses
}
