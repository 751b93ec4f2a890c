// The cookie of a signed-in browser (docs/design/agents.md §4).

import { trimBlanks } from '../base/blanks.ts'
import type { Config } from '../config/config.ts'
import { DEVICE_MS } from '../people/devices.ts'
import type { LinkRequest } from '../people/people.ts'
import type { SignInBrowser, SignInSession } from '../people/sessions.ts'
import { SESSION_MS, TRUSTED_MS } from '../people/sessions.ts'
import type { RequestFacts } from './route.ts'

const COOKIE_RULES = 'Path=/; HttpOnly; SameSite=Lax'

/** The header that signs a browser in. A trusted device keeps the cookie as long as its session can last. */
export function signInCookie(config: Config, { token, trusted }: SignInSession): Record<string, string> {
  return setCookie(config, token, (trusted ? TRUSTED_MS : SESSION_MS) / 1000)
}

/** The headers that sign a browser out: it forgets the cookie, and what the console stored for this origin. */
export function signOutHeaders(config: Config): Record<string, string> {
  return { ...setCookie(config, '', 0), 'Clear-Site-Data': '"cache", "storage"' }
}

/** The header by which a browser is recognised at its next sign-in; the cookie opens no session. */
export function deviceCookie(config: Config, token: string): Record<string, string> {
  return setCookie(config, token, DEVICE_MS / 1000, deviceName(config))
}

/** The cookies a browser brings when it signs in. @param read the value of a cookie, null without it */
export function browserCookies(
  config: Config,
  read: (name: string) => string | null,
): NonNullable<SignInBrowser['cookies']> {
  return { session: read(cookieName(config)), device: read(deviceName(config)) }
}

/** What a request for a sign-in link says of its browser. */
export function linkRequestOf(config: Config, request: Pick<RequestFacts, 'source' | 'cookie'>): LinkRequest {
  return { source: request.source, device: request.cookie(deviceName(config)) }
}

/** `__Host-`: this origin alone, over TLS, for all paths. A browser keeps such a cookie over https only (RFC 6265bis §4.1.3.2). */
export function cookieName(config: Config): string {
  return isSecure(config) ? '__Host-mailstead' : 'mailstead'
}

/**
 * The value of a cookie in a `Cookie` header, null without it. Only spaces and tabs are no part of a name: a sibling host may set a cookie whose
 * name begins with another white space, which browsers do not take for `__Host-`.
 */
export function cookieOf(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';')) {
    const cut = pair.indexOf('=')
    if (cut > 0 && trimBlanks(pair.slice(0, cut)) === name) return trimBlanks(pair.slice(cut + 1))
  }
  return null
}

function deviceName(config: Config): string {
  return `${cookieName(config)}-device`
}

function setCookie(
  config: Config,
  value: string,
  seconds: number,
  name: string = cookieName(config),
): Record<string, string> {
  const rules = isSecure(config) ? `${COOKIE_RULES}; Secure` : COOKIE_RULES
  return { 'Set-Cookie': `${name}=${value}; Max-Age=${seconds}; ${rules}` }
}

function isSecure({ APP_ORIGIN }: Config): boolean {
  return APP_ORIGIN.startsWith('https:')
}
