// What a mail program may do after it has signed in, and why it could not.

import type { ClientProtocol } from '../config/client-protocols.ts'
import type { MailboxPrincipal } from '../directory/names/principal.ts'
import type { SaslMechanism } from '../net/sasl.ts'
import type { SaslCredentials } from '../net/sasl-exchange.ts'

/** One try to sign in. */
export interface SignInRequest {
  protocol: ClientProtocol
  /** The command LOGIN of IMAP counts as `LOGIN`. */
  mechanism: SaslMechanism
  credentials: SaslCredentials
  /** Address of the client. */
  source: string
  /** What the program said of itself before, if anything. */
  client?: string | null
}

/** Why a sign-in is refused. Only `wrong` is answered late, and it does not say what was wrong. */
export type SignInRefusal =
  /** Unknown name, wrong, expired or revoked secret: `NO [AUTHENTICATIONFAILED]`, 535 5.7.8. */
  | 'wrong'
  /** Too many failures; the secret was not looked at: `NO [UNAVAILABLE]`, 454 4.7.0. */
  | 'too_many'
  /** The secret is right, but not for this protocol, or the operator has disabled it: `NO [NOPERM]`, 535 5.7.8. */
  | 'not_allowed'
  /** `NO [CONTACTADMIN]`, 535 5.7.13. */
  | 'team_suspended'
  /** The mailbox is being set up: `NO [UNAVAILABLE]`, 454 4.7.0. */
  | 'provisioning'
  /** The mailbox is an outside account that is being imported: `NO [UNAVAILABLE]`, with how far it is. IMAP only. */
  | 'importing'
  /** The mailbox is an outside account, whose provider filters its mail. ManageSieve only. */
  | 'filtered_elsewhere'

/** A mailbox session of a mail program. */
export interface SignedIn {
  readonly protocol: ClientProtocol
  /** As the Mailbox API sees the credential; `keyId` is its id (`apw_…`, `key_…` or `areg_…`), `permissions` what it may do here. */
  readonly principal: MailboxPrincipal
  /** Number of the account in the store. */
  readonly account: number
  /** Address of the mailbox. */
  readonly email: string
  /** True while the mailbox is suspended: it can be read, not changed. `watch` keeps it current. */
  suspended: boolean
  /** Whether submission keeps a copy in Sent. */
  readonly savesSent: boolean
  /** For the record of sign-ins and the checks of `watch`; protocols do not need them. */
  readonly source: string
  readonly mechanism: SaslMechanism
  /** SHA-256 of a key or token; null for an app password. */
  readonly secretHash: Uint8Array | null
}

export type SignInResult =
  /** `serverSignature` is for SCRAM: pass the result to `conclude` of the exchange. */
  | { accepted: true; session: SignedIn; serverSignature: Uint8Array | null }
  | { accepted: false; reason: SignInRefusal; importing?: ImportedSoFar }

/** Messages of an outside account that are here, and that were found there. */
export interface ImportedSoFar {
  messagesDone: number
  messagesTotal: number
}

/** Why a session must end. */
export type SessionEnd = 'credential' | 'mailbox' | 'team'
