// Passkeys as browsers make and use them (WebAuthn Level 3): discoverable, with user verification, for the host of APP_ORIGIN.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import type { Clock } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import { conflict, ProductError } from '../base/errors.ts'
import { sha256 } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Reader, Tx } from '../db/db.ts'
import { PASSKEYS_MAX, type Passkey, type Passkeys } from './passkeys.ts'
import type { Persons } from './persons.ts'
import type { CredentialScope } from './recovery-codes.ts'
import { isOwnPage, isSoundKey } from './webauthn-checks.ts'

/** How long a browser may take, ms. */
export const FLOW_MS = 5 * MINUTE_MS
/** A flow id: when it expires (monotonic ms), random bytes, and a MAC over both, the kind and the person. */
const EXPIRY_BYTES = 8
const RANDOM_BYTES = 16
const MAC_BYTES = 16
const FLOW_ID = new RegExp(`^[A-Za-z0-9_-]{${Math.ceil(((EXPIRY_BYTES + RANDOM_BYTES + MAC_BYTES) * 8) / 6)}}$`)
/** The COSE algorithms Ed25519, ES256 and RS256. */
const ALGORITHMS = [-8, -7, -257]
const TRANSPORTS = new Set<string>(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])

interface Flow {
  /** Whose passkey is expected, or added; null when any person may sign in. */
  email: string | null
  kind: 'sign_in' | 'confirm' | 'register'
}

/** A request to the browser, and the id that its answer names. */
export interface StartedFlow<O> {
  flowId: string
  options: O
}

interface Deps {
  clock: Clock
  config: Pick<Config, 'APP_ORIGIN'>
  passkeys: Passkeys
  persons: Pick<Persons, 'get'>
}

export class WebAuthn {
  readonly #deps: Deps
  /**
   * Flows are kept in their ids and not in memory, where strangers who begin many would push out others. A restart ends them, as the key is
   * forgotten together with the ids that were used.
   */
  readonly #key = randomBytes(32)
  /** Ids whose answer was accepted or is being verified, and when they expire, ms: each works once. */
  readonly #used = new Map<string, number>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Asks for a passkey. @param scope whose, of those the session may see; null for any person with a passkey for this appliance */
  async startUse(
    kind: 'sign_in' | 'confirm',
    scope: CredentialScope | null,
  ): Promise<StartedFlow<PublicKeyCredentialRequestOptionsJSON>> {
    const { generateAuthenticationOptions } = await library()
    const known = scope === null ? [] : this.usable(scope)
    const flowId = this.#begin({ email: scope?.email ?? null, kind })
    const options = await generateAuthenticationOptions({
      rpID: this.#rpId,
      challenge: this.#challengeOf(flowId),
      userVerification: 'required',
      timeout: FLOW_MS,
      allowCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports })),
    })
    return { flowId, options }
  }

  /**
   * Verifies the use of a passkey. An answer that is accepted ends the flow.
   * @returns the passkey, and a function that records its use in a unit of work
   * @throws ProductError authentication_required
   */
  async verifyUse(
    kind: 'sign_in' | 'confirm',
    flowId: string,
    response: AuthenticationResponseJSON,
  ): Promise<{ passkey: Passkey; record(tx: Tx): void }> {
    const passkey = this.#deps.passkeys.byCredential(response.id)
    if (passkey === undefined || !isOwnPage(response.response.clientDataJSON)) throw refused()
    if (!this.#isHandleOf(passkey, response.response.userHandle, kind)) throw refused()
    if (!(await isSoundCoseKey(passkey.publicKey))) throw refused()
    const { credentialId: id, publicKey, counter, transports } = passkey
    const { verifyAuthenticationResponse } = await library()
    const { authenticationInfo: info } = await this.#once(
      flowId,
      { kind, email: kind === 'sign_in' ? null : passkey.email },
      () =>
        verifyAuthenticationResponse({
          response,
          expectedChallenge: this.#challengeOf(flowId).toString('base64url'),
          expectedOrigin: this.#deps.config.APP_ORIGIN,
          expectedRPID: this.#rpId,
          credential: { id, publicKey, counter, transports },
          requireUserVerification: true,
        }),
    )
    return {
      passkey,
      record: (tx) => {
        const use = { counter: info.newCounter, isBackedUp: info.credentialBackedUp }
        // A counter that another use has raised meanwhile means that the device was copied (WebAuthn §6.1.1).
        if (!this.#deps.passkeys.noteUse(tx, passkey, use)) throw refused()
      },
    }
  }

  /** Asks for a new passkey of a person. @throws ProductError conflict when they have too many */
  async startRegistration(
    scope: CredentialScope,
    person: { handle: Uint8Array; displayName: string | null },
  ): Promise<StartedFlow<PublicKeyCredentialCreationOptionsJSON>> {
    const { email } = scope
    if (this.#sameScope(scope).length >= PASSKEYS_MAX) throw tooMany()
    const known = this.visible(scope)
    const { generateRegistrationOptions } = await library()
    const flowId = this.#begin({ email, kind: 'register' })
    const options = await generateRegistrationOptions({
      rpName: 'Mailstead',
      challenge: this.#challengeOf(flowId),
      rpID: this.#rpId,
      userName: email,
      userDisplayName: person.displayName ?? email,
      userID: handleOf(person.handle, scope.teamId),
      timeout: FLOW_MS,
      attestationType: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports })),
      supportedAlgorithmIDs: ALGORITHMS,
    })
    return { flowId, options }
  }

  /**
   * Verifies a new passkey. An answer that is accepted ends the flow.
   * @returns a function that stores it in a unit of work
   * @throws ProductError authentication_required; inside, conflict for one that is known or one too many
   */
  async verifyRegistration(
    flowId: string,
    response: RegistrationResponseJSON,
    { email, teamId, name }: CredentialScope & { name: string },
  ): Promise<(tx: Tx) => Passkey> {
    if (!isOwnPage(response.response.clientDataJSON)) throw refused()
    const { verifyRegistrationResponse } = await library()
    const { registrationInfo: info } = await this.#once(flowId, { kind: 'register', email }, () =>
      verifyRegistrationResponse({
        response,
        expectedChallenge: this.#challengeOf(flowId).toString('base64url'),
        expectedOrigin: this.#deps.config.APP_ORIGIN,
        expectedRPID: this.#rpId,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    )
    if (info === undefined) throw refused()
    const { id: credentialId, publicKey, counter } = info.credential
    if (!(await isSoundCoseKey(publicKey))) throw refused()
    const transports = (response.response.transports ?? []).filter((one) =>
      TRANSPORTS.has(one),
    ) as AuthenticatorTransport[]
    const isBackedUp = info.credentialBackedUp
    return (tx) => {
      const { passkeys } = this.#deps
      if (this.#sameScope({ email, teamId }, tx).length >= PASSKEYS_MAX) throw tooMany()
      const rpId = this.#rpId
      const own = { credentialId, publicKey, counter, transports, isBackedUp, name, rpId }
      const added = passkeys.add(tx, { email, teamId, ...own })
      if (added === undefined) throw conflict('This passkey is known already.')
      return added
    }
  }

  /** WebAuthn §7.2: the handle is that of the passkey's person. A browser that was asked for certain passkeys may leave it out. */
  #isHandleOf({ email, teamId }: Passkey, written: string | undefined, kind: 'sign_in' | 'confirm'): boolean {
    if (written === undefined || written === '') return kind === 'confirm'
    const person = this.#deps.persons.get(email)
    return (
      person !== undefined && Buffer.from(handleOf(person.handle, teamId)).equals(Buffer.from(written, 'base64url'))
    )
  }

  /** The passkeys a session may see: one that opens a single team sees those of that team. */
  visible({ email, teamId }: CredentialScope): Passkey[] {
    return this.#deps.passkeys.list(email).filter((one) => teamId === null || one.teamId === teamId)
  }

  /** Those of them that can be used at the present address of the appliance: a passkey belongs to one host (WebAuthn §5.1.2). */
  usable(scope: CredentialScope): Passkey[] {
    return this.visible(scope).filter(({ rpId }) => rpId === null || rpId === this.#rpId)
  }

  /** Those a person added in sessions that open as much: one that opens a single team must not use up the others. */
  #sameScope({ email, teamId }: CredentialScope, reader?: Reader): Passkey[] {
    return this.#deps.passkeys.list(email, reader).filter((one) => one.teamId === teamId)
  }

  get #rpId(): string {
    return new URL(this.#deps.config.APP_ORIGIN).hostname
  }

  #begin(flow: Flow): string {
    const head = Buffer.alloc(EXPIRY_BYTES + RANDOM_BYTES)
    head.writeDoubleBE(this.#deps.clock.monotonic() + FLOW_MS)
    randomBytes(RANDOM_BYTES).copy(head, EXPIRY_BYTES)
    return Buffer.concat([head, this.#macOf(head, flow)]).toString('base64url')
  }

  /** Verifies the answer to a flow, and ends the flow when it is accepted. @throws ProductError authentication_required */
  async #once<V extends { verified: boolean }>(id: string, flow: Flow, verify: () => Promise<V>): Promise<V> {
    const now = this.#deps.clock.monotonic()
    // Ids are used in about the order in which they expire.
    for (const [used, expiresAt] of this.#used) {
      if (expiresAt > now) break
      this.#used.delete(used)
    }
    const expiresAt = this.#expiryOf(id, flow)
    if (expiresAt === null || expiresAt <= now || this.#used.has(id)) throw expired()
    // Noted before it is verified: of two answers at the same time one counts.
    this.#used.set(id, expiresAt)
    try {
      const result = await verify()
      if (result.verified) return result
    } catch (error) {
      this.#used.delete(id)
      throw refused(error)
    }
    this.#used.delete(id)
    throw refused()
  }

  /** When a flow expires, ms; null for an id that is not one of this flow. */
  #expiryOf(id: string, flow: Flow): number | null {
    if (!FLOW_ID.test(id)) return null
    const bytes = Buffer.from(id, 'base64url')
    // Another spelling of the same bytes would be another id.
    if (bytes.toString('base64url') !== id) return null
    const head = bytes.subarray(0, EXPIRY_BYTES + RANDOM_BYTES)
    return timingSafeEqual(bytes.subarray(head.length), this.#macOf(head, flow)) ? head.readDoubleBE() : null
  }

  #macOf(head: Buffer, { kind, email }: Flow): Buffer {
    const facts = JSON.stringify([kind, email])
    return createHmac('sha256', this.#key).update('flow').update(head).update(facts).digest().subarray(0, MAC_BYTES)
  }

  /** No one can choose it: it is random to those without the key (WebAuthn §13.4.3). */
  #challengeOf(flowId: string): Buffer<ArrayBuffer> {
    return createHmac('sha256', this.#key).update('challenge').update(flowId).digest()
  }
}

// With its certificates it takes 5 MB: it is loaded with the first passkey.
const library = async () => {
  const { default: simpleWebAuthn } = await import('./webauthn-library.cts')
  return simpleWebAuthn as unknown as typeof import('@simplewebauthn/server') &
    Pick<typeof import('@simplewebauthn/server/helpers'), 'decodeCredentialPublicKey'>
}

async function isSoundCoseKey(publicKey: Uint8Array): Promise<boolean> {
  const { decodeCredentialPublicKey } = await library()
  return isSoundKey(decodeCredentialPublicKey(new Uint8Array(publicKey)) as unknown as ReadonlyMap<number, unknown>)
}

/**
 * A device replaces the passkey it has for a user handle. One that opens a single team has another handle, so that it does not take the place
 * of one that opens more, which the session may not know of.
 */
function handleOf(handle: Uint8Array, teamId: string | null): Uint8Array<ArrayBuffer> {
  return new Uint8Array(teamId === null ? handle : sha256(Buffer.concat([handle, Buffer.from(teamId)])))
}

function expired(): ProductError {
  return new ProductError('authentication_required', 'This request for a passkey has expired. Start again.')
}

function refused(cause?: unknown): ProductError {
  return new ProductError('authentication_required', 'The passkey was not accepted. Try again, or use another one.', {
    cause,
  })
}

function tooMany(): ProductError {
  return conflict(`A person has at most ${PASSKEYS_MAX} passkeys. Remove one first.`)
}
