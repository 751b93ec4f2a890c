// Routes at the root of the two origins: health and discovery documents.

import { AUDIENCE_SCOPES } from '../agents/tokens.ts'
import type { Config } from '../config/config.ts'
import { sendBase } from '../config/origins.ts'
import { MCP_PATH } from '../http/prepared-route.ts'
import { type Route, route } from '../http/route.ts'
import { issuerOf, resourceOf } from './agents/resources.ts'
import { checkReady } from './readiness.ts'
import { Health, ProtectedResource, Readiness } from './schemas/discovery.ts'

const METADATA_PATH = '/.well-known/oauth-protected-resource'
const RESOURCE_PATH = `${METADATA_PATH}/api/v1`

const readHealth = route({
  method: 'GET',
  path: '/healthz',
  root: true,
  surface: 'both',
  docs: {
    operation: 'getHealth',
    tag: 'Service',
    summary: 'Check that the process is running',
    description: 'For supervisors that restart: it reads no database.',
  },
  access: { as: 'none' },
  reply: { bare: true, schema: Health },
  async handle() {
    return { status: 'ok' }
  },
})

const readReadiness = route({
  method: 'GET',
  path: '/readyz',
  root: true,
  docs: {
    operation: 'getReadiness',
    tag: 'Service',
    summary: 'Check that messages can be accepted and read; 503 while a database cannot be written or read',
    description: 'For load balancers and alarms: each check with its state, also free space and inodes of the disk.',
  },
  access: { as: 'none' },
  reply: { bare: true, schema: Readiness },
  async handle({ app }) {
    const details = await checkReady(app)
    return { status: 'ok', ...(details.length === 0 ? {} : { details }) }
  },
})

const readAppResource = route({
  method: 'GET',
  path: RESOURCE_PATH,
  root: true,
  surface: 'app',
  docs: {
    operation: 'getProtectedResource',
    tag: 'Service',
    summary: 'Get where clients obtain a credential for the Management and Mailbox API (RFC 9728)',
    description: 'A client that got 401 finds it through `WWW-Authenticate`.',
  },
  access: { as: 'none', open: true },
  reply: { bare: true, schema: ProtectedResource },
  handle({ app: { config } }) {
    return {
      ...resource(config, config.APP_ORIGIN),
      resource_name: 'Mail appliance: Management and Mailbox API',
      scopes_supported: ['mailbox.read', 'email.receive'],
    }
  },
})

const readSendResource = route({
  method: 'GET',
  path: RESOURCE_PATH,
  root: true,
  surface: 'send',
  docs: {
    operation: 'getSendingProtectedResource',
    tag: 'Service',
    summary: 'Get where clients obtain a credential for the Sending API (RFC 9728)',
    description: 'A client that got 401 finds it through `WWW-Authenticate`.',
  },
  access: { as: 'none', open: true },
  reply: { bare: true, schema: ProtectedResource },
  handle({ app: { config } }) {
    return {
      ...resource(config, sendBase(config)),
      resource_name: 'Mail appliance: Sending API',
      scopes_supported: ['email.send'],
    }
  },
})

const readToolsResource = route({
  method: 'GET',
  path: METADATA_PATH + MCP_PATH,
  root: true,
  surface: 'app',
  docs: {
    operation: 'getToolsProtectedResource',
    tag: 'Service',
    summary: 'Get where clients obtain a credential for the tools of the Model Context Protocol (RFC 9728)',
    description: 'A client that got 401 finds it through `WWW-Authenticate`.',
  },
  access: { as: 'none', open: true },
  reply: { bare: true, schema: ProtectedResource },
  handle({ app: { config } }) {
    return {
      ...resource(config, config.APP_ORIGIN),
      resource: resourceOf(config, 'mcp'),
      resource_name: 'Mail appliance: tools for assistants',
      scopes_supported: [...AUDIENCE_SCOPES.mcp],
    }
  },
})

function resource(config: Config, origin: string) {
  return {
    resource: `${origin}/api/v1`,
    authorization_servers: [issuerOf(config)],
    bearer_methods_supported: ['header'],
    resource_documentation: `${origin}/api/v1/openapi.json`,
  }
}

export const rootDocuments: readonly Route[] = [
  ...[readHealth, readReadiness, readAppResource, readSendResource, readToolsResource],
]
