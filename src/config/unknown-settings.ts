// Names that look like a setting and are none: refused in the settings file, and in the environment where a slip is certain enough.

import { nearest } from '../base/nearest.ts'
import { settings } from './config.ts'

const KNOWN = Object.keys(settings)
/** Slips for which the settings file still names what was meant. */
const FILE_SLIPS = 3
/** Names of other programs that are one slip away from one of ours. */
const OF_OTHERS = new Set([
  'HTTPS_PORT',
  'HTTPS_BIND',
  'SMTPS_PORT',
  'SMTPS_BIND',
  'DATA_DIRS',
  'LOG_LEVELS',
  'APP_SECRETS',
])
/** What container runtimes set for a linked service, such as HTTPD_PORT=tcp://10.0.0.1:80. */
const LINK = /^(?:tcp|udp|sctp):\/\//

/** @returns " Did you mean HTTP_PORT?", or "" where nothing is near */
export function suggestionFor(name: string): string {
  const meant = nearest(name.toUpperCase(), KNOWN, FILE_SLIPS)
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}

/**
 * The environment belongs to the whole machine: a variable counts as a slip only where its name is in capitals, has a value, and is
 * one slip away from a setting. Everything else (PATH, NODE_ENV, AWS_REGION, npm_…) is somebody else's.
 * @returns the sentence that refuses the first one; undefined where there is none
 */
export function unknownInEnvironment(env: Record<string, string | undefined>): string | undefined {
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '' || LINK.test(value) || !/^[A-Z][A-Z0-9_]*$/.test(name)) continue
    if (Object.hasOwn(settings, name) || OF_OTHERS.has(name)) continue
    const meant = nearest(name, KNOWN, 1)
    if (meant === undefined) continue
    return `The environment names an unknown setting ${name}. Did you mean ${meant}? If it belongs to another program, start Mailstead without it.`
  }
  return undefined
}
