// What lies at the roots of the two origins: health, and the documents strangers find the service by.

import { ProductError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { type Route, route } from '../http/route.ts'
import { issuerOf } from './agents/resources.ts'
import { Health, ProtectedResource } from './schemas/discovery.ts'

const NOT_READY_RETRY_SECONDS = 1
const RESOURCE_PATH = '/.well-known/oauth-protected-resource/api/v1'

const readHealth = route({
  method: 'GET',
  path: '/healthz',
  root: true,
  surface: 'both',
  operation: 'getHealth',
  tag: 'Service',
  summary: 'Says that the process is up.',
  as: 'none',
  bare: true,
  reply: Health,
  async handle() {
    return { status: 'ok' }
  },
})

const readReadiness = route({
  method: 'GET',
  path: '/readyz',
  root: true,
  operation: 'getReadiness',
  tag: 'Service',
  summary: 'Says whether mail can be taken and read: 503 while the database cannot be written.',
  as: 'none',
  bare: true,
  reply: Health,
  async handle({ app }) {
    try {
      // An empty unit of work waits its turn, takes the write lock and commits, as a delivery does.
      await app.db.write(async () => {})
    } catch (cause) {
      throw new ProductError('service_unavailable', 'The database cannot be written now.', {
        cause,
        retryAfter: NOT_READY_RETRY_SECONDS,
      })
    }
    return { status: 'ok' }
  },
})

const readAppResource = route({
  method: 'GET',
  path: RESOURCE_PATH,
  root: true,
  surface: 'app',
  operation: 'getProtectedResource',
  tag: 'Service',
  summary: 'Tells clients where a credential for the Management and Mailbox API comes from (RFC 9728).',
  as: 'none',
  bare: true,
  open: true,
  reply: ProtectedResource,
  async handle({ app: { config } }) {
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
  operation: 'getSendingProtectedResource',
  tag: 'Service',
  summary: 'Tells clients where a credential for the Sending API comes from (RFC 9728).',
  as: 'none',
  bare: true,
  open: true,
  reply: ProtectedResource,
  async handle({ app: { config } }) {
    return {
      ...resource(config, config.SEND_ORIGIN),
      resource_name: 'Mail appliance: Sending API',
      scopes_supported: ['email.send'],
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

export const rootDocuments: readonly Route[] = [readHealth, readReadiness, readAppResource, readSendResource]
