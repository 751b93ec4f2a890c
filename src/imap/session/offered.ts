// The capabilities of a session: they depend on encryption and login.

import { offeredMechanisms, type TlsEnd } from '../../net/sasl.ts'
import { capabilitiesAfterLogin, capabilitiesBeforeLogin } from './capabilities.ts'
import type { ImapSession } from './session.ts'

/** Where the TLS of a session ends. */
export function tlsEndOf(session: ImapSession): TlsEnd {
  if (session.tls !== null) return 'here'
  return session.isSecure ? 'proxy' : null
}

export function offeredCapabilities(session: ImapSession): readonly string[] {
  if (session.user !== null) return capabilitiesAfterLogin()
  const security = { isSecure: session.isSecure, canStartTls: !session.isSecure }
  return capabilitiesBeforeLogin(security, offeredMechanisms(tlsEndOf(session)))
}

/** As a response code. */
export function capabilityCode(session: ImapSession): string {
  return `CAPABILITY ${offeredCapabilities(session).join(' ')}`
}
