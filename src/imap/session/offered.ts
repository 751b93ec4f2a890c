// The capabilities of a session: they depend on encryption and login.

import { BlockList, isIPv6 } from 'node:net'
import { offeredMechanisms, type TlsEnd } from '../../net/sasl.ts'
import { capabilitiesAfterLogin, capabilitiesBeforeLogin } from './capabilities.ts'
import type { ImapSession } from './session.ts'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Where the TLS of a session ends. */
export function tlsEndOf(session: ImapSession): TlsEnd {
  if (session.tls !== null) return 'here'
  return session.isSecure ? 'proxy' : null
}

export function offeredCapabilities(session: ImapSession): readonly string[] {
  if (session.user !== null)
    return capabilitiesAfterLogin(
      LOOPBACK.check(session.source.address, isIPv6(session.source.address) ? 'ipv6' : 'ipv4'),
    )
  const security = { isSecure: session.isSecure, canStartTls: !session.isSecure }
  return capabilitiesBeforeLogin(security, offeredMechanisms(tlsEndOf(session)))
}

/** As a response code. */
export function capabilityCode(session: ImapSession): string {
  return `CAPABILITY ${offeredCapabilities(session).join(' ')}`
}
