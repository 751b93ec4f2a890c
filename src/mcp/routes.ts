// `POST /mcp`: the tools of a mailbox over HTTP, for the credential that asks (docs/design/agents.md §15).

import { Type } from 'typebox'
import { ProductError } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import type { ErrorAnswer, RouteError } from '../http/error-answer.ts'
import { MCP_PATH } from '../http/prepared-route.ts'
import { page, type RequestFacts, route } from '../http/route.ts'

const BODY_MAX = 524_288
const CALLS_AT_ONCE = 8
/** JSON-RPC 2.0 §5.1. */
const PARSE_ERROR = -32_700
const SERVER_ERROR = -32_000
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

const anything = () => Type.Optional(Type.Unknown())

const callMcp = route({
  method: 'POST',
  path: MCP_PATH,
  root: true,
  docs: {
    operation: 'callMcp',
    tag: 'Mailbox',
    summary: 'Call a tool of the Model Context Protocol',
    // The protocol describes itself.
    hidden: true,
  },
  access: { as: 'mailbox', permission: ['mailbox.read', 'email.receive', 'email.send'], audited: false },
  limits: { maxConcurrentOfCaller: CALLS_AT_ONCE },
  body: {
    limit: BODY_MAX,
    schema: Type.Object({
      ...{ jsonrpc: anything(), id: anything(), method: anything(), params: anything() },
      ...{ result: anything(), error: anything() },
    }),
  },
  reply: { bare: true, schema: Type.Unknown(), types: ['application/json', 'text/event-stream'], renderError },
  async handle({ body, principal, app: { config }, request }) {
    requireOwnOrigin(config, request)
    // The SDK is loaded with the first call.
    const { answerMcp } = await import('./http-endpoint.ts')
    const { status, type, text } = await answerMcp(config.APP_ORIGIN + MCP_PATH, principal.keyId, body, request)
    return page({ status, html: text, headers: { 'Content-Type': type } })
  },
})

/** A page of another site cannot call it, not even through a name of its own that leads to this machine (DNS rebinding). */
function requireOwnOrigin({ APP_ORIGIN, CORS_ORIGINS }: Config, request: RequestFacts): void {
  const origin = request.header('origin')
  const isOwn = origin === null || origin === APP_ORIGIN || CORS_ORIGINS.includes(origin)
  const isLocal = LOOPBACK.test(new URL(APP_ORIGIN).hostname)
  if (isOwn && (!isLocal || LOOPBACK.test(request.host))) return
  throw new ProductError(
    'insufficient_permissions',
    'This origin may not call the endpoint. Name it in CORS_ORIGINS.',
    {
      param: isOwn ? 'Host' : 'Origin',
    },
  )
}

/** In the form of JSON-RPC, with the code of the API as data. */
function renderError({ error, status, requestId }: RouteError): ErrorAnswer {
  const isUnread = error.param === 'body'
  const data = { code: error.code, request_id: requestId }
  const shown = { code: isUnread ? PARSE_ERROR : SERVER_ERROR, message: error.message, data }
  return { status, type: 'application/json', text: JSON.stringify({ jsonrpc: '2.0', id: null, error: shown }) }
}

export const mcpRoutes = [callMcp]
