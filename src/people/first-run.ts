// The first run: while no team has an owner, one address with a one-time token makes the person who opens it owner and operator.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Clock } from '../base/clock.ts'
import { DAY_MS } from '../base/durations.ts'
import { conflict, ProductError } from '../base/errors.ts'
import { sha256 } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import type { Team, Teams } from '../directory/keys/teams.ts'
import type { Browser, PersonAuthentication } from './authentication.ts'
import type { SignInScope } from './links.ts'
import { checkPersonEmail, type Members } from './members.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import type { Persons } from './persons.ts'
import type { SignInBrowser, SignInSession } from './sessions.ts'
import type { StartedFlow } from './webauthn.ts'

/** Lifetime of the token, ms; the next start prints another one. */
export const FIRST_RUN_MS = DAY_MS
const TOKEN_BYTES = 32

/** What the first owner signs in with. */
export type FirstCredential =
  | { flowId: string; response: RegistrationResponseJSON; name: string }
  | { password: string }

export interface FirstOwner {
  token: string
  email: string
  displayName: string | null
  teamName: string
  credential: FirstCredential
}

interface Deps {
  db: Db
  clock: Clock
  config: Config
  teams: Pick<Teams, 'list' | 'createIn' | 'renameIn'>
  members: Members
  persons: Persons
  authentication: PersonAuthentication
  signInAs(tx: Tx, scope: SignInScope, client: SignInBrowser): SignInSession
}

export class FirstRun {
  readonly #deps: Deps
  /** Only its hash is kept, and only in memory: it is worth the whole appliance. */
  #token: { hash: Buffer; expiresAt: number } | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether the appliance waits for its first owner. */
  isOpen(reader?: Reader): boolean {
    const { teams, members } = this.#deps
    return teams.list(reader).every(({ id }) => members.owners(id, reader).length === 0)
  }

  /** Makes the address to print; earlier ones no longer work. Null when there is an owner. */
  begin(): string | null {
    if (!this.isOpen()) return null
    const { clock, config } = this.#deps
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    this.#token = { hash: sha256(token), expiresAt: clock.now() + FIRST_RUN_MS }
    // After `#`, where browsers send it to no server and no log.
    return `${config.APP_ORIGIN}/first-run#${token}`
  }

  /** Asks the browser for a passkey of the first owner. @throws ProductError authentication_required, conflict */
  async startPasskey(token: string, written: string): Promise<StartedFlow<object>> {
    this.#require(token)
    return this.#deps.authentication.startPasskey({ email: checkPersonEmail(written), teamId: null })
  }

  /**
   * Makes the first owner, who is also an operator, and signs them in. The token is used up.
   * @returns the session, and the team
   * @throws ProductError authentication_required for a token that is not valid, conflict when there is an owner, validation_error
   */
  async complete(owner: FirstOwner, browser: Browser): Promise<{ session: SignInSession; team: Team }> {
    this.#require(owner.token)
    const email = checkPersonEmail(owner.email)
    const storeCredential = await this.#prepareCredential(email, owner.credential)
    return this.#deps.db.write((tx) => {
      // Two browsers may have opened the same address.
      this.#require(owner.token, tx)
      const { persons, signInAs } = this.#deps
      const team = this.#appoint(tx, email, owner.teamName)
      const { locale, timeZone } = persons.ensure(tx, email)
      persons.setProfile(tx, email, { displayName: owner.displayName, locale, timeZone })
      storeCredential(tx)
      tx.afterCommit(() => {
        this.#token = null
      })
      const scope = { email, teamId: null, mailboxId: null, shownBy: null }
      return { session: signInAs(tx, scope, { ...browser, method: 'first_run' }), team }
    })
  }

  /**
   * Makes the first owner, who is also an operator, without a way to sign in: the command line prints a link.
   * @throws ProductError validation_error, conflict when there is an owner
   */
  appoint(tx: Tx, owner: Pick<FirstOwner, 'email' | 'teamName'>): Team {
    if (!this.isOpen(tx)) throw hasOwner()
    const team = this.#appoint(tx, checkPersonEmail(owner.email), owner.teamName)
    tx.afterCommit(() => {
      this.#token = null
    })
    return team
  }

  #appoint(tx: Tx, email: string, teamName: string): Team {
    const { members, persons } = this.#deps
    const team = this.#nameTeam(tx, teamName)
    members.addOwner(tx, team.id, email)
    persons.setOperator(tx, email, true)
    return team
  }

  async #prepareCredential(email: string, credential: FirstCredential): Promise<(tx: Tx) => void> {
    const { authentication, persons } = this.#deps
    if ('response' in credential) {
      const scope = { email, teamId: null, name: credential.name }
      const store = await authentication.webauthn.verifyRegistration(credential.flowId, credential.response, scope)
      return (tx) => void store(tx)
    }
    authentication.requireAllowed('password')
    checkPassword(credential.password, email)
    const hashed = await hashPassword(credential.password, { source: email, isPreferred: true })
    return (tx) => persons.setPassword(tx, { email, teamId: null }, hashed)
  }

  /** The first team gets the name the owner chose. */
  #nameTeam(tx: Tx, name: string): Team {
    const { teams } = this.#deps
    const [first] = teams.list(tx)
    return first === undefined ? teams.createIn(tx, name) : teams.renameIn(tx, first.id, name)
  }

  /** @throws ProductError authentication_required, conflict */
  #require(given: string, reader?: Reader): void {
    if (!this.isOpen(reader)) throw hasOwner()
    const token = this.#token
    if (token !== null && token.expiresAt > this.#deps.clock.now() && timingSafeEqual(sha256(given), token.hash)) return
    throw new ProductError(
      'authentication_required',
      'This address is not valid any more. Restart Mailstead to get a new one.',
    )
  }
}

function hasOwner(): ProductError {
  return conflict('This appliance has an owner. Sign in, or ask them for an invitation.')
}
