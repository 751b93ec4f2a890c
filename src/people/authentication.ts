// How people prove who they are: passkeys, passwords and recovery codes; and the fresh proof that dangerous actions need.

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Clock } from '../base/clock.ts'
import { conflict, notFound, ProductError } from '../base/errors.ts'
import type { TurnOwner } from '../base/fair-turns.ts'
import type { Config } from '../config/config.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import { type CountedAttempt, SignInAttempts } from './attempts.ts'
import type { KnownDevices } from './devices.ts'
import type { SignInScope } from './links.ts'
import { checkPersonEmail } from './members.ts'
import type { Passkey, Passkeys } from './passkeys.ts'
import { checkPassword, hashPassword, isPassword } from './passwords.ts'
import type { Persons } from './persons.ts'
import type { CredentialScope, RecoveryCodes } from './recovery-codes.ts'
import type { SessionRecord, Sessions, SignInBrowser, SignInSession } from './sessions.ts'
import { type StartedFlow, WebAuthn } from './webauthn.ts'

/** What a browser says of itself; the method follows from the proof. */
export type Browser = Omit<SignInBrowser, 'method'>

/** A proof of an open session that it is still the person. */
export type FreshProof =
  | { flowId: string; response: AuthenticationResponseJSON }
  | { password: string }
  | { code: string }

/** An attempt that is counted, and whose turn its computation takes. */
interface BegunAttempt {
  attempt: CountedAttempt
  owner: TurnOwner
}

interface Deps {
  db: Db
  clock: Clock
  config: Config
  persons: Persons
  passkeys: Passkeys
  recoveryCodes: RecoveryCodes
  sessions: Sessions
  devices: Pick<KnownDevices, 'keyOf'>
  /** Whether a sign-in opens anything. */
  mayEnter(scope: CredentialScope, reader?: Reader): boolean
  signInAs(tx: Tx, scope: SignInScope, client: SignInBrowser): SignInSession
  /** @throws ProductError insufficient_permissions for a session that opens one team of a person who has more */
  requireWhole(session: SessionRecord, reader?: Reader): void
  /** Whether links are mailed to an address. */
  isLinkMailed(email: string): boolean
}

export class PersonAuthentication {
  readonly webauthn: WebAuthn
  readonly #deps: Deps
  readonly #attempts: SignInAttempts

  constructor(deps: Deps) {
    this.#deps = deps
    this.webauthn = new WebAuthn(deps)
    this.#attempts = new SignInAttempts(deps)
  }

  /** @throws ProductError insufficient_permissions when the operator does not allow this way to sign in */
  requireAllowed(method: 'passkey' | 'link' | 'password'): void {
    if (this.#deps.config.SIGN_IN.includes(method)) return
    throw new ProductError('insufficient_permissions', `Signing in by ${method} is disabled on this appliance.`)
  }

  /** @throws ProductError authentication_required, insufficient_permissions */
  async byPasskey(flowId: string, response: AuthenticationResponseJSON, browser: Browser): Promise<SignInSession> {
    this.requireAllowed('passkey')
    const { passkey, record } = await this.webauthn.verifyUse('sign_in', flowId, response)
    return this.#enter(passkey, { ...browser, method: 'passkey' }, record)
  }

  /** @throws ProductError authentication_required, rate_limit_exceeded, insufficient_permissions, service_unavailable */
  async byPassword(written: string, password: string, browser: Browser): Promise<SignInSession> {
    this.requireAllowed('password')
    const email = checkPersonEmail(written)
    const scope = await this.#checkPassword(email, password, this.#begin(email, browser))
    return this.#enter(scope, { ...browser, method: 'password' })
  }

  /** @throws ProductError authentication_required, rate_limit_exceeded */
  async byRecoveryCode(written: string, code: string, browser: Browser): Promise<SignInSession> {
    const email = checkPersonEmail(written)
    const { attempt } = this.#begin(email, browser)
    const scope = await checked(
      attempt,
      this.#deps.db.write((tx) => this.#deps.recoveryCodes.use(tx, email, code)),
    )
    if (scope === undefined) throw wrongProof()
    attempt.succeed()
    return this.#enter(scope, { ...browser, method: 'recovery' })
  }

  /** Asks for a passkey of the person as a fresh proof. */
  startConfirmation({ email, teamId }: SessionRecord): ReturnType<WebAuthn['startUse']> {
    return this.webauthn.startUse('confirm', { email, teamId })
  }

  /** @returns until when dangerous actions are permitted @throws ProductError authentication_required, rate_limit_exceeded */
  async confirm(session: SessionRecord, proof: FreshProof, source: string): Promise<number> {
    const { db, sessions, recoveryCodes } = this.#deps
    if ('response' in proof) {
      const { passkey, record } = await this.webauthn.verifyUse('confirm', proof.flowId, proof.response)
      if (!covers(passkey, session)) throw wrongProof()
      return db.write((tx) => {
        record(tx)
        return sessions.confirm(tx, session.id)
      })
    }
    if ('password' in proof) {
      this.requireAllowed('password')
      const scope = await this.#checkPassword(session.email, proof.password, this.#beginIn(session, source))
      if (!covers(scope, session)) throw wrongProof()
      return db.write((tx) => sessions.confirm(tx, session.id))
    }
    const { attempt } = this.#beginIn(session, source)
    const confirming = db.write((tx) => {
      const scope = recoveryCodes.use(tx, session.email, proof.code)
      return scope !== undefined && covers(scope, session) ? sessions.confirm(tx, session.id) : null
    })
    const until = await checked(attempt, confirming)
    if (until === null) throw wrongProof()
    attempt.succeed()
    return until
  }

  /** Asks for a new passkey of the person. @throws ProductError conflict, insufficient_permissions */
  async startPasskey({ email, teamId }: CredentialScope): Promise<StartedFlow<object>> {
    this.requireAllowed('passkey')
    const person = await this.#deps.db.write((tx) => this.#deps.persons.ensure(tx, email))
    return this.webauthn.startRegistration({ email, teamId }, person)
  }

  /** @throws ProductError conflict, authentication_required, insufficient_permissions */
  async addPasskey(
    { email, teamId }: CredentialScope,
    flowId: string,
    response: RegistrationResponseJSON,
    name: string,
  ): Promise<Passkey> {
    this.requireAllowed('passkey')
    const store = await this.webauthn.verifyRegistration(flowId, response, { email, teamId, name })
    return this.#deps.db.write((tx) => {
      this.#requireEntry(tx, { email, teamId })
      return store(tx)
    })
  }

  /** How many passkeys of a session can be used at the present address. */
  usablePasskeysOf(scope: CredentialScope): number {
    return this.webauthn.usable(scope).length
  }

  /** The passkeys a session may see: one that opens a single team sees those of that team. */
  passkeysOf(scope: CredentialScope): Passkey[] {
    return this.webauthn.visible(scope)
  }

  /** @throws ProductError not_found */
  async renamePasskey(scope: CredentialScope, id: string, name: string): Promise<Passkey> {
    this.#requirePasskey(scope, id)
    const renamed = await this.#deps.db.write((tx) => this.#deps.passkeys.rename(tx, scope.email, id, name))
    if (renamed === undefined) throw notFound('passkey')
    return renamed
  }

  /** @throws ProductError not_found, conflict for the last way to sign in */
  async deletePasskey(scope: CredentialScope, id: string): Promise<void> {
    this.#requirePasskey(scope, id)
    const { db, passkeys } = this.#deps
    await db.write((tx) => {
      const left = passkeys.list(scope.email, tx).filter((one) => one.id !== id)
      this.#requireRemainingMethod(scope.email, { passkeys: left.length, password: this.#hasPassword(scope.email, tx) })
      if (!passkeys.delete(tx, scope.email, id)) throw notFound('passkey')
    })
  }

  /** Sets the password, and ends the other sessions of the person. @throws ProductError validation_error, conflict, … */
  async setPassword(session: SessionRecord, password: string): Promise<void> {
    this.requireAllowed('password')
    this.#requireOwnPassword(session)
    this.#deps.requireWhole(session)
    checkPassword(password, session.email)
    const hashed = await hashPassword(password, { source: session.id, isPreferred: true })
    await this.#deps.db.write((tx) => {
      // Hashing takes a while: the person may have been removed.
      this.#requireEntry(tx, session)
      this.#deps.requireWhole(session, tx)
      this.#deps.persons.setPassword(tx, session, hashed)
      this.#deps.sessions.closeOf(tx, session.email, session.id)
    })
  }

  /** @throws ProductError not_found without a password, conflict for the last way to sign in */
  async deletePassword(session: SessionRecord): Promise<void> {
    if (!this.#hasPassword(session.email)) throw notFound('password')
    this.#requireOwnPassword(session)
    this.#deps.requireWhole(session)
    const { db, persons, passkeys } = this.#deps
    await db.write((tx) => {
      // The last passkey may be removed at the same time.
      this.#requireRemainingMethod(session.email, { passkeys: passkeys.count(session.email, tx), password: false })
      persons.setPassword(tx, session, null)
    })
  }

  /** Makes new recovery codes; earlier ones no longer work. */
  replaceRecoveryCodes({ email, teamId }: CredentialScope): Promise<string[]> {
    return this.#deps.db.write((tx) => {
      this.#requireEntry(tx, { email, teamId })
      return this.#deps.recoveryCodes.replace(tx, { email, teamId })
    })
  }

  /** Counts an attempt; in a browser the person signed in with, and where they are signed in, strangers do not lock them out. */
  #begin(email: string, { source, cookies }: Browser): BegunAttempt {
    const { sessions, devices } = this.#deps
    const known = devices.keyOf(email, cookies?.device ?? null)
    const isSignedIn = sessions.list(email).some((session) => session.source === source)
    return {
      attempt: this.#attempts.begin(email, { source, known, isSignedIn }),
      owner: { source: known ?? source, isPreferred: known !== null },
    }
  }

  /** Counts an attempt in an open session. */
  #beginIn({ id, email }: SessionRecord, source: string): BegunAttempt {
    return {
      attempt: this.#attempts.begin(email, { source, known: id, isSignedIn: true }),
      owner: { source: id, isPreferred: true },
    }
  }

  async #checkPassword(email: string, password: string, { attempt, owner }: BegunAttempt): Promise<CredentialScope> {
    const person = this.#deps.persons.get(email)
    const isRight = await checked(attempt, isPassword(password, person?.password ?? null, owner))
    if (!isRight) throw wrongProof()
    attempt.succeed()
    return { email, teamId: person?.passwordTeamId ?? null }
  }

  /** Opens a session, in the unit of work that records the use of the proof; also on a full disk, so that the person can delete. */
  #enter({ email, teamId }: CredentialScope, client: SignInBrowser, record: (tx: Tx) => void = () => {}) {
    const { db, mayEnter, signInAs } = this.#deps
    return db.writeFreeing((tx) => {
      // Asked in the unit of work: a removal may come between the check of the proof and the session.
      if (!mayEnter({ email, teamId }, tx)) throw wrongProof()
      record(tx)
      return signInAs(tx, { email, teamId, mailboxId: null, shownBy: null }, client)
    })
  }

  /** A person who was removed while their request was under way leaves nothing to sign in with. */
  #requireEntry(tx: Tx, { email, teamId }: CredentialScope): void {
    if (!this.#deps.mayEnter({ email, teamId }, tx)) throw wrongProof()
  }

  #hasPassword(email: string, reader?: Reader): boolean {
    return (this.#deps.persons.get(email, reader)?.password ?? null) !== null
  }

  #requirePasskey(scope: CredentialScope, id: string): void {
    if (this.passkeysOf(scope).every((one) => one.id !== id)) throw notFound('passkey')
  }

  /** A session that opens one team, because a link was shown, must not replace what the person proved for all. */
  #requireOwnPassword({ email, teamId }: CredentialScope): void {
    const person = this.#deps.persons.get(email)
    if (teamId === null || person === undefined || person.password === null || person.passwordTeamId === teamId) return
    throw conflict('This session opens one team only. Sign in with your password, then change it.')
  }

  /** @throws ProductError conflict when nothing would be left to sign in with */
  #requireRemainingMethod(email: string, left: { passkeys: number; password: boolean }): void {
    const { config, isLinkMailed } = this.#deps
    const { SIGN_IN: allowed } = config
    if (left.passkeys > 0 && allowed.includes('passkey')) return
    if (left.password && allowed.includes('password')) return
    if (allowed.includes('link') && isLinkMailed(email)) return
    throw conflict('This is the last way to sign in. Add another one first.')
  }
}

/** Waits for a check; one that could not be made does not count as an attempt. */
async function checked<T>(attempt: CountedAttempt, check: Promise<T>): Promise<T> {
  try {
    return await check
  } catch (error) {
    attempt.takeBack()
    throw error
  }
}

/** Whether a credential proves a session: of the same person, and not for less than the session opens. */
function covers(credential: CredentialScope, session: CredentialScope): boolean {
  return credential.email === session.email && (credential.teamId === null || credential.teamId === session.teamId)
}

/** One answer for unknown persons and wrong proofs. */
function wrongProof(): ProductError {
  return new ProductError(
    'authentication_required',
    'The sign-in was not accepted. Check what you entered, and try again.',
  )
}
