// Sign-in of mail programs (docs/design/mail-programs.md §1): the one place where all their listeners check credentials.

import type { AgentTokens } from '../agents/tokens.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { SignInInput, SignInOutcome } from '../directory/keys/sign-ins.ts'
import { clientText } from '../directory/mailboxes/app-passwords.ts'
import { loginName } from '../directory/mailboxes/mailbox-input.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import { sourceOf } from '../net/connections.ts'
import type { Accounts } from '../store/rows/accounts.ts'
import type { RemoteAccounts } from '../sync/accounts/accounts.ts'
import { mayUse, permissionsFor } from './permitted.ts'
import type { ImportedSoFar, SignedIn, SignInRefusal, SignInRequest, SignInResult } from './signed-in.ts'
import { type SignInTarget, SignInThrottle } from './throttle.ts'
import { type ProvenCredential, verify } from './verify.ts'

export interface SignInDeps {
  db: Db
  clock: Clock
  log: Log
  config: Config
  directory: Pick<Directory, 'mailboxes' | 'keys' | 'appPasswords' | 'signIns'>
  tokens: Pick<AgentTokens, 'recognise' | 'acceptedAmong'>
  accounts: Pick<Accounts, 'byMailbox'>
  remotes: Pick<RemoteAccounts, 'mirrorOf'>
}

/** A verification without its delay. */
interface Evaluation {
  outcome: SignInOutcome
  refusal: SignInRefusal | null
  mailboxId: string | null
  credentialId: string | null
  session?: SignedIn
  serverSignature?: Uint8Array | null
  importing?: ImportedSoFar
}

export class SignInGate {
  readonly #deps: SignInDeps
  readonly #throttle: SignInThrottle

  constructor(deps: SignInDeps) {
    this.#deps = deps
    this.#throttle = new SignInThrottle(deps)
  }

  /** Never rejects for wrong input; a wrong secret is answered after a second or more, which does not depend on what was wrong. */
  async signIn(request: SignInRequest): Promise<SignInResult> {
    const name = loginName(request.credentials.name)
    const named = name === null ? undefined : this.#named(name, request)
    const target = targetOf(request, named)
    const isKnown = () => named !== undefined && this.#isKnownSource(named.id, request.source)
    if (this.#throttle.refuses(request.source, target, isKnown)) {
      const mailboxId = named?.id ?? null
      this.#record(request, { outcome: 'too_many', refusal: 'too_many', mailboxId, credentialId: null })
      return { accepted: false, reason: 'too_many' }
    }
    // Nothing is awaited before a failure is counted: tries at the same time cannot pass the limit together.
    const evaluation = this.#evaluate(request, named)
    this.#record(request, evaluation)
    const { refusal, session, serverSignature, importing } = evaluation
    if (session !== undefined) return { accepted: true, session, serverSignature: serverSignature ?? null }
    if (refusal === 'wrong') await this.#wait(this.#delay(request, target, evaluation))
    return { accepted: false, reason: refusal!, ...(importing === undefined ? {} : { importing }) }
  }

  /** Records what a program says of itself after it has signed in (the command ID of IMAP). */
  noteClient(session: SignedIn, client: string): void {
    const text = clientText(client)
    if (text === null) return
    const { directory } = this.#deps
    const { principal, source } = session
    const at = this.#deps.clock.now()
    const row = { ...rowOf(session, 'ok', principal.keyId, text), mailboxId: principal.mailboxId, at }
    this.#write((tx) => {
      directory.signIns.noteClientIn(tx, row)
      if (principal.keyId.startsWith('apw_')) {
        directory.appPasswords.noteUseIn(tx, principal.keyId, { from: source, client: text })
      }
    })
  }

  #named(name: string, { credentials }: SignInRequest): Mailbox | undefined {
    const found = this.#deps.directory.mailboxes.byLogin(name) ?? this.#outside(name, credentials)
    // The salt of SCRAM is that of the address: with an alias no proof can fit.
    return credentials.kind === 'scram' && found?.email !== name ? undefined : found
  }

  /** Several teams may have attached one address: the credential says which mailbox is meant. */
  #outside(name: string, credentials: SignInRequest['credentials']): Mailbox | undefined {
    const { mailboxes, appPasswords, keys } = this.#deps.directory
    const [first, ...others] = mailboxes.outsideAt(name)
    if (first === undefined || others.length === 0) return first
    const deps = { appPasswords, keys, tokens: this.#deps.tokens }
    return [first, ...others].find(({ id }) => verify(deps, credentials, id)?.principal.mailboxId === id) ?? first
  }

  #evaluate(request: SignInRequest, named: Mailbox | undefined): Evaluation {
    const { appPasswords, keys, mailboxes } = this.#deps.directory
    const deps = { appPasswords, keys, tokens: this.#deps.tokens }
    const proven = verify(deps, request.credentials, named?.id)
    const owner = named ?? (proven && this.#ownerOf(request, proven))
    const mailboxId = owner?.id ?? null
    if (proven === undefined || owner === undefined || proven.principal.mailboxId !== owner.id) {
      return { outcome: 'wrong_secret', refusal: 'wrong', mailboxId, credentialId: null }
    }
    const { keyId: credentialId } = proven.principal
    const found = { mailboxId: owner.id, credentialId }
    if (!proven.isActive) return { ...found, outcome: 'expired', refusal: 'wrong' }
    const { protocol, mechanism, source } = request
    const permissions = permissionsFor(proven.principal, owner)
    if (!proven.protocols.includes(protocol) || !mayUse(protocol, permissions, this.#deps.config)) {
      return { ...found, outcome: 'not_allowed', refusal: 'not_allowed' }
    }
    const [state] = mailboxes.statesOf([owner.id])
    if (state?.isTeamSuspended !== false) return { ...found, outcome: 'not_allowed', refusal: 'team_suspended' }
    const account = this.#deps.accounts.byMailbox(owner.id)
    if (account === undefined) return { ...found, outcome: 'not_allowed', refusal: 'provisioning' }
    const outside = this.#whyNotOutside(request, owner)
    if (outside !== null) return { ...found, outcome: 'not_allowed', ...outside }
    const session: SignedIn = {
      ...{ protocol, mechanism, source, account: account.n, email: owner.email },
      principal: { ...proven.principal, permissions },
      suspended: state.status === 'suspended',
      ...{ savesSent: proven.savesSent, secretHash: proven.secretHash },
    }
    return { ...found, outcome: 'ok', refusal: null, session, serverSignature: proven.serverSignature }
  }

  /** What is closed to the mailbox of an outside account (docs/design/outside-accounts.md §1). */
  #whyNotOutside(
    { protocol }: SignInRequest,
    { id, domainId }: Mailbox,
  ): Pick<Evaluation, 'refusal' | 'importing'> | null {
    if (domainId !== null || protocol === 'submission') return null
    if (protocol === 'managesieve') return { refusal: 'filtered_elsewhere' }
    const progress = this.#deps.remotes.mirrorOf(id)?.import
    if (progress === undefined || progress.state === 'done') return null
    const { messagesDone, messagesTotal } = progress
    return { refusal: 'importing', importing: { messagesDone, messagesTotal } }
  }

  /** A bearer token may come without a name: it names its mailbox itself (RFC 7628 §3.1). */
  #ownerOf({ credentials }: SignInRequest, { principal }: ProvenCredential): Mailbox | undefined {
    if (credentials.kind !== 'bearer' || credentials.name !== '') return undefined
    const mailbox = this.#deps.directory.mailboxes.byId(principal.mailboxId)
    return mailbox?.status === 'deleted' ? undefined : mailbox
  }

  #isKnownSource(mailboxId: string, address: string): boolean {
    const source = sourceOf(address)
    return this.#deps.directory.signIns.knownSources(mailboxId).some((known) => sourceOf(known) === source)
  }

  #record(request: SignInRequest, { outcome, mailboxId, credentialId }: Evaluation): void {
    if (mailboxId === null) return
    const { signIns, appPasswords } = this.#deps.directory
    const client = clientText(request.client)
    const row = { ...rowOf(request, outcome, credentialId, client), mailboxId, at: this.#deps.clock.now() }
    this.#write((tx) => {
      signIns.recordIn(tx, row)
      if (outcome === 'ok' && credentialId?.startsWith('apw_')) {
        appPasswords.noteUseIn(tx, credentialId, { from: request.source, client })
      }
    })
  }

  /** In the background: a record that cannot be written must not prevent a sign-in. */
  #write(work: Parameters<Db['write']>[0]): void {
    const { db, log } = this.#deps
    db.write(work).catch((error: unknown) =>
      log.warn({ event: 'sign_in.not_recorded', err: error }, 'Sign-in could not be recorded'),
    )
  }

  /** Counts a failure, unless its app password is only no longer valid: a device that goes on trying must not lock out its network. */
  #delay({ source }: SignInRequest, target: SignInTarget | null, { outcome }: Evaluation): number {
    return outcome === 'expired' ? this.#throttle.delay(source) : this.#throttle.failed(source, target)
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.after(ms, resolve))
  }
}

function targetOf({ credentials }: SignInRequest, named: Mailbox | undefined): SignInTarget | null {
  if (named !== undefined) return { mailboxId: named.id }
  // Cut, so that long names take no memory.
  return credentials.name === '' ? null : { name: (loginName(credentials.name) ?? credentials.name).slice(0, 64) }
}

function rowOf(
  { protocol, mechanism, source }: Pick<SignInRequest, 'protocol' | 'mechanism' | 'source'>,
  outcome: SignInOutcome,
  credentialId: string | null,
  client: string | null,
): Omit<SignInInput, 'mailboxId' | 'at'> {
  return { protocol, mechanism, outcome, source, credentialId, client }
}
