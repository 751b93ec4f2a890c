// SASL (RFC 4422) on the server's side: each mechanism is a state machine without input or output; protocols carry its messages.

import { openBearer, openXoauth2 } from './sasl-bearer.ts'
import type { SaslDeps, SaslExchange } from './sasl-exchange.ts'
import { openLogin, openPlain } from './sasl-password.ts'
import { openScram } from './sasl-scram.ts'

/** Mechanisms by their names in protocols, in the order they are announced. */
export const SASL_MECHANISMS = [
  'PLAIN',
  'LOGIN',
  'SCRAM-SHA-256',
  'SCRAM-SHA-256-PLUS',
  'OAUTHBEARER',
  'XOAUTH2',
] as const
export type SaslMechanism = (typeof SASL_MECHANISMS)[number]

/** How the connection is protected: by TLS that ends here, by TLS that ended at a trusted proxy, or not at all. */
export type TlsEnd = 'here' | 'proxy' | null

/** The mechanisms to announce; none before TLS, where no secret may be sent. */
export function offeredMechanisms(tls: TlsEnd): readonly SaslMechanism[] {
  if (tls === null) return []
  return SASL_MECHANISMS.filter((mechanism) => tls === 'here' || mechanism !== 'SCRAM-SHA-256-PLUS')
}

/** The mechanism of a name as a client writes it (any case), if it is offered on this connection. */
export function mechanismOf(name: string, tls: TlsEnd): SaslMechanism | undefined {
  return offeredMechanisms(tls).find((mechanism) => mechanism === name.toUpperCase())
}

/** Opens an exchange; pass the initial response to `respond` first. */
export function openSasl(mechanism: SaslMechanism, deps: SaslDeps): SaslExchange {
  switch (mechanism) {
    case 'PLAIN':
      return openPlain()
    case 'LOGIN':
      return openLogin()
    case 'SCRAM-SHA-256':
      return openScram(deps, false)
    case 'SCRAM-SHA-256-PLUS':
      return openScram(deps, true)
    case 'OAUTHBEARER':
      return openBearer(deps)
    case 'XOAUTH2':
      return openXoauth2()
  }
}
