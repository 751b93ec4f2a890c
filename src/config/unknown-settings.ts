// Detects misspelled settings: unknown names in the settings file, and environment variables close to the name of a setting.

import { nearest } from '../base/nearest.ts'
import { settings } from './config.ts'

const KNOWN = Object.keys(settings)
/** Maximum edit distance for a suggestion about a name in the settings file. */
const FILE_SLIPS = 3
/** Variables of other programs that are one edit away from one of our settings. */
const OF_OTHERS = new Set([
  'HTTPS_PORT',
  'HTTPS_BIND',
  'SMTPS_PORT',
  'SMTPS_BIND',
  'DATA_DIRS',
  'LOG_LEVELS',
  'APP_SECRETS',
])
const IN_CAPITALS = /^[A-Z][A-Z0-9_]*$/
/** Container runtimes set variables for linked services, such as HTTPD_PORT=tcp://10.0.0.1:80. */
const LINK = /^(?:tcp|udp|sctp):\/\//

/** @returns " Did you mean HTTP_PORT?", or "" when no setting has a similar name */
export function suggestionFor(name: string): string {
  const meant = nearest(name.toUpperCase(), KNOWN, FILE_SLIPS)
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}

/** Setting names without regard to case and separators: http_port and SMTPPORT mean a setting. */
const FOLDED = new Map(KNOWN.map((name) => [folded(name), name]))

function folded(name: string): string {
  return name.toUpperCase().replace(/[-_.]/g, '')
}

/**
 * The environment is shared with other programs: a variable counts as misspelled only if it has a value, and its name differs from a
 * setting in case and separators only, or is in capitals and one edit away from one. Everything else (PATH, NODE_ENV, AWS_REGION, npm_…) belongs to other programs.
 * @returns the error message for the first one; undefined when there is none
 */
export function unknownInEnvironment(env: Record<string, string | undefined>): string | undefined {
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '' || LINK.test(value)) continue
    if (Object.hasOwn(settings, name) || OF_OTHERS.has(name)) continue
    const meant = FOLDED.get(folded(name)) ?? (IN_CAPITALS.test(name) ? nearest(name, KNOWN, 1) : undefined)
    if (meant === undefined) continue
    return `The environment contains the unknown setting ${name}. Did you mean ${meant}? If it belongs to another program, start Mailstead without it.`
  }
  return undefined
}
