// The identifiers of the authorization server and of its two protected resources.

import { TOKEN_AUDIENCES, type TokenAudience } from '../../agents/tokens.ts'
import type { Config } from '../../config/config.ts'
import { sendBase } from '../../config/origins.ts'
import { MCP_PATH } from '../../http/prepared-route.ts'

/** Base path of the authorization server. */
export const AUTH_PATH = '/agent-auth'

export function issuerOf(config: Config): string {
  return config.APP_ORIGIN + AUTH_PATH
}

export function resourceOf(config: Config, audience: TokenAudience): string {
  if (audience === 'mcp') return config.APP_ORIGIN + MCP_PATH
  return `${audience === 'app' ? config.APP_ORIGIN : sendBase(config)}/api/v1`
}

/** The resource with this identifier; null for an unknown one. A trailing slash is ignored. */
export function audienceOf(config: Config, resource: string): TokenAudience | null {
  const plain = resource.endsWith('/') ? resource.slice(0, -1) : resource
  return TOKEN_AUDIENCES.find((audience) => resourceOf(config, audience) === plain) ?? null
}
