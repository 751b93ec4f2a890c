// The names of the authorization server and of the two resources it gives tokens for.

import type { TokenAudience } from '../../agents/tokens.ts'
import type { Config } from '../../config/config.ts'

/** Path of everything the authorization server answers. */
export const AUTH_PATH = '/agent-auth'

export function issuerOf(config: Config): string {
  return config.APP_ORIGIN + AUTH_PATH
}

export function resourceOf(config: Config, audience: TokenAudience): string {
  return `${audience === 'app' ? config.APP_ORIGIN : config.SEND_ORIGIN}/api/v1`
}

/** Which resource is named; null for none of ours. One slash at the end is no difference. */
export function audienceOf(config: Config, resource: string): TokenAudience | null {
  const plain = resource.endsWith('/') ? resource.slice(0, -1) : resource
  return (['app', 'send'] as const).find((audience) => resourceOf(config, audience) === plain) ?? null
}
