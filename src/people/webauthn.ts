// Passkeys as browsers make and use them (WebAuthn Level 3): discoverable, with user verification, for the host of APP_ORIGIN.

import { randomBytes } from 'node:crypto'
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
import type { CredentialScope } from './recovery-codes.ts'

/** How long a browser may take, ms. */
export const FLOW_MS = 5 * MINUTE_MS
/** Flows in memory; the oldest are dropped first. */
export const FLOWS_MAX = 10_000
const FLOW_ID_BYTES = 16
/** The COSE algorithms Ed25519, ES256 and RS256. */
const ALGORITHMS = [-8, -7, -257]
const TRANSPORTS = new Set<string>(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])

interface Flow {
  challenge: string
  /** Whose passkey is expected, or added; null when any person may sign in. */
  email: string | null
  kind: 'sign_in' | 'confirm' | 'register'
  expiresAt: number
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
}

export class WebAuthn {
  readonly #deps: Deps
  readonly #flows = new Map<string, Flow>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Asks for a passkey. @param scope whose, of those the session may see; null for any person with a passkey for this appliance */
  async startUse(
    kind: 'sign_in' | 'confirm',
    scope: CredentialScope | null,
  ): Promise<StartedFlow<PublicKeyCredentialRequestOptionsJSON>> {
    const { generateAuthenticationOptions } = await library()
    const known = scope === null ? [] : this.visible(scope)
    const email = scope?.email ?? null
    const options = await generateAuthenticationOptions({
      rpID: this.#rpId,
      userVerification: 'required',
      timeout: FLOW_MS,
      allowCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports })),
    })
    return { flowId: this.#begin({ challenge: options.challenge, email, kind }), options }
  }

  /**
   * Verifies the use of a passkey. The flow has ended, whatever the outcome.
   * @returns the passkey, and a function that records its use in a unit of work
   * @throws ProductError authentication_required
   */
  async verifyUse(
    kind: 'sign_in' | 'confirm',
    flowId: string,
    response: AuthenticationResponseJSON,
  ): Promise<{ passkey: Passkey; record(tx: Tx): void }> {
    const flow = this.#end(flowId, kind)
    const passkey = this.#deps.passkeys.byCredential(response.id)
    if (passkey === undefined || (flow.email !== null && passkey.email !== flow.email)) throw refused()
    const { credentialId: id, publicKey, counter, transports } = passkey
    const { verifyAuthenticationResponse } = await library()
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: flow.challenge,
      expectedOrigin: this.#deps.config.APP_ORIGIN,
      expectedRPID: this.#rpId,
      credential: { id, publicKey, counter, transports },
      requireUserVerification: true,
    }).catch((error: unknown) => {
      throw refused(error)
    })
    if (!verified) throw refused()
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
    const options = await generateRegistrationOptions({
      rpName: 'Mailstead',
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
    return { flowId: this.#begin({ challenge: options.challenge, email, kind: 'register' }), options }
  }

  /**
   * Verifies a new passkey. The flow has ended, whatever the outcome.
   * @returns a function that stores it in a unit of work
   * @throws ProductError authentication_required; inside, conflict for one that is known or one too many
   */
  async verifyRegistration(
    flowId: string,
    response: RegistrationResponseJSON,
    { email, teamId, name }: CredentialScope & { name: string },
  ): Promise<(tx: Tx) => Passkey> {
    const flow = this.#end(flowId, 'register')
    if (flow.email !== email) throw refused()
    const { verifyRegistrationResponse } = await library()
    const { verified, registrationInfo: info } = await verifyRegistrationResponse({
      response,
      expectedChallenge: flow.challenge,
      expectedOrigin: this.#deps.config.APP_ORIGIN,
      expectedRPID: this.#rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch((error: unknown) => {
      throw refused(error)
    })
    if (!verified || info === undefined) throw refused()
    const { id: credentialId, publicKey, counter } = info.credential
    const transports = (response.response.transports ?? []).filter((one) =>
      TRANSPORTS.has(one),
    ) as AuthenticatorTransport[]
    const isBackedUp = info.credentialBackedUp
    return (tx) => {
      const { passkeys } = this.#deps
      if (this.#sameScope({ email, teamId }, tx).length >= PASSKEYS_MAX) throw tooMany()
      const added = passkeys.add(tx, { email, teamId, credentialId, publicKey, counter, transports, isBackedUp, name })
      if (added === undefined) throw conflict('This passkey is known already.')
      return added
    }
  }

  /** The passkeys a session may see: one that opens a single team sees those of that team. */
  visible({ email, teamId }: CredentialScope): Passkey[] {
    return this.#deps.passkeys.list(email).filter((one) => teamId === null || one.teamId === teamId)
  }

  /** Those a person added in sessions that open as much: one that opens a single team must not use up the others. */
  #sameScope({ email, teamId }: CredentialScope, reader?: Reader): Passkey[] {
    return this.#deps.passkeys.list(email, reader).filter((one) => one.teamId === teamId)
  }

  get #rpId(): string {
    return new URL(this.#deps.config.APP_ORIGIN).hostname
  }

  #begin(flow: Omit<Flow, 'expiresAt'>): string {
    const id = randomBytes(FLOW_ID_BYTES).toString('base64url')
    this.#flows.set(id, { ...flow, expiresAt: this.#deps.clock.now() + FLOW_MS })
    if (this.#flows.size > FLOWS_MAX) {
      const [oldest] = this.#flows.keys()
      this.#flows.delete(oldest!)
    }
    return id
  }

  /** Ends a flow: a challenge is used once. */
  #end(id: string, kind: Flow['kind']): Flow {
    const flow = this.#flows.get(id)
    this.#flows.delete(id)
    if (flow === undefined || flow.kind !== kind || flow.expiresAt <= this.#deps.clock.now()) {
      throw new ProductError('authentication_required', 'This request for a passkey has expired. Start again.')
    }
    return flow
  }
}

// With its certificates it takes 5 MB: it is loaded with the first passkey.
const library = async () => {
  const { default: simpleWebAuthn } = await import('./webauthn-library.cts')
  return simpleWebAuthn as unknown as typeof import('@simplewebauthn/server')
}

/**
 * A device replaces the passkey it has for a user handle. One that opens a single team has another handle, so that it does not take the place
 * of one that opens more, which the session may not know of.
 */
function handleOf(handle: Uint8Array, teamId: string | null): Uint8Array<ArrayBuffer> {
  return new Uint8Array(teamId === null ? handle : sha256(Buffer.concat([handle, Buffer.from(teamId)])))
}

function refused(cause?: unknown): ProductError {
  return new ProductError('authentication_required', 'The passkey was not accepted. Try again, or use another one.', {
    cause,
  })
}

function tooMany(): ProductError {
  return conflict(`A person has at most ${PASSKEYS_MAX} passkeys. Remove one first.`)
}
