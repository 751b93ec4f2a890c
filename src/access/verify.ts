// Finds the credential of a try to sign in: an app password, a mailbox key, or the token of an agent.

import type { AgentTokens } from '../agents/tokens.ts'
import { isScramProof, type ScramKeys, type ScramProof, scramServerSignature } from '../base/scram.ts'
import { isAgentSecret, sha256 } from '../base/secrets.ts'
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../config/client-protocols.ts'
import type { Keys } from '../directory/keys/keys.ts'
import { APP_PASSWORDS_MAX, type AppPassword, type AppPasswords } from '../directory/mailboxes/app-passwords.ts'
import type { MailboxPrincipal } from '../directory/names/principal.ts'
import type { SaslCredentials } from '../net/sasl-exchange.ts'

/** A credential that was proven. */
export interface ProvenCredential {
  principal: MailboxPrincipal
  protocols: readonly ClientProtocol[]
  savesSent: boolean
  isActive: boolean
  /** See `SignedIn`. */
  secretHash: Uint8Array | null
  serverSignature: Uint8Array | null
}

export interface VerifyDeps {
  appPasswords: Pick<AppPasswords, 'bySecret' | 'scramKeys'>
  keys: Pick<Keys, 'recognise'>
  tokens: Pick<AgentTokens, 'recognise'>
}

/** Longest secret that is looked up, as for the API. */
const SECRET_MAX = 256
const SPELLINGS = 2
/** Keys no proof fits: proofs for unknown names take as long as others. */
const NO_KEYS: ScramKeys = { storedKey: Buffer.alloc(32), serverKey: Buffer.alloc(32) }

/**
 * The credential that `credentials` prove, for any mailbox: the caller compares it with the name.
 * @param mailboxId mailbox of the name; SCRAM is tried against its app passwords only
 */
export function verify(
  deps: VerifyDeps,
  credentials: SaslCredentials,
  mailboxId: string | undefined,
): ProvenCredential | undefined {
  switch (credentials.kind) {
    case 'password':
      return bySecret(deps, credentials.secret)
    case 'bearer':
      return byBearer(deps, credentials.token)
    case 'scram':
      return byProof(deps, credentials.proof, mailboxId)
  }
}

function bySecret(deps: VerifyDeps, secret: string): ProvenCredential | undefined {
  if (secret.length > SECRET_MAX) return undefined
  const known = deps.appPasswords.bySecret(secret)
  return known === undefined ? byKey(deps, secret) : ofAppPassword(known, null)
}

function byBearer(deps: VerifyDeps, token: string): ProvenCredential | undefined {
  if (token.length > SECRET_MAX) return undefined
  if (!isAgentSecret(token)) return byKey(deps, token)
  const principal = deps.tokens.recognise(token, 'app')?.principal
  return principal && ofPrincipal(principal, token)
}

function byKey({ keys }: VerifyDeps, secret: string): ProvenCredential | undefined {
  // A root key reads no mail.
  if (!secret.startsWith('smk_')) return undefined
  const principal = keys.recognise(secret)?.principal
  return principal?.kind === 'mailbox' ? ofPrincipal(principal, secret) : undefined
}

/** Tries a proof against every app password in both spellings, and as many times where there are fewer. */
function byProof(deps: VerifyDeps, proof: ScramProof, mailboxId: string | undefined): ProvenCredential | undefined {
  const candidates = mailboxId === undefined ? [] : deps.appPasswords.scramKeys(mailboxId)
  let proven: ProvenCredential | undefined
  for (let index = 0; index < APP_PASSWORDS_MAX; index++) {
    const candidate = candidates[index]
    for (let spelling = 0; spelling < SPELLINGS; spelling++) {
      const keys = candidate?.keys[spelling] ?? NO_KEYS
      const fits = isScramProof(keys, proof)
      if (!fits || candidate === undefined) continue
      proven = ofAppPassword(candidate.appPassword, scramServerSignature(keys, proof.authMessage))
    }
  }
  return proven
}

function ofAppPassword(known: AppPassword, serverSignature: Uint8Array | null): ProvenCredential {
  const { id: keyId, teamId, mailboxId, permissions, protocols, savesSent, status } = known
  const principal: MailboxPrincipal = { kind: 'mailbox', keyId, teamId, mailboxId, permissions }
  return { principal, protocols, savesSent, isActive: status === 'active', secretHash: null, serverSignature }
}

function ofPrincipal(principal: MailboxPrincipal, secret: string): ProvenCredential {
  const secretHash = sha256(secret)
  return { principal, protocols: CLIENT_PROTOCOLS, savesSent: false, isActive: true, secretHash, serverSignature: null }
}
