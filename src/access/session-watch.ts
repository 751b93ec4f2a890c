// Ends sessions of mail programs when their credential, mailbox or team does (docs/design/mail-programs.md §1: within 30 s).

import type { AgentTokens } from '../agents/tokens.ts'
import type { Clock, Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Directory } from '../directory/directory.ts'
import type { MailboxState } from '../directory/mailboxes/mailboxes-reads.ts'
import type { SessionEnd, SignedIn } from './signed-in.ts'

interface Deps {
  clock: Clock
  log: Log
  directory: Pick<Directory, 'mailboxes' | 'keys' | 'appPasswords'>
  tokens: Pick<AgentTokens, 'acceptedAmong'>
}

type End = (why: SessionEnd) => void

/** Time between two looks at all sessions, ms; with the time a look may take, below 30 s. */
export const LOOK_MS = 20_000
/** Sessions looked at before other work of the thread gets its turn. */
const BATCH = 200

export class SessionWatch {
  readonly #deps: Deps
  readonly #sessions = new Map<SignedIn, End>()
  #timer: Timer | undefined
  #looking: Promise<void> | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#sessions.size
  }

  /**
   * Watches a session until the returned function is called. Keeps `session.suspended` current.
   * @param end is called once, within 30 s after the credential was revoked, has expired, or its mailbox or team has ended
   */
  add(session: SignedIn, end: End): () => void {
    this.#sessions.set(session, end)
    this.#timer ??= this.#deps.clock.every(LOOK_MS, () => void this.look())
    return () => this.#remove(session)
  }

  /** Looks at all sessions now. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) =>
        this.#deps.log.error({ event: 'sign_in.watch_failed', err: error }, 'Sessions could not be checked'),
      )
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  async #look(): Promise<void> {
    const sessions = [...this.#sessions.keys()]
    for (let from = 0; from < sessions.length; from += BATCH) {
      if (from > 0) await new Promise(setImmediate)
      this.#check(sessions.slice(from, from + BATCH))
    }
  }

  #check(sessions: readonly SignedIn[]): void {
    const accepted = this.#accepted(sessions)
    const ids = [...new Set(sessions.map(({ principal }) => principal.mailboxId))]
    const states = new Map(this.#deps.directory.mailboxes.statesOf(ids).map((state) => [state.id, state]))
    for (const session of sessions) {
      const state = states.get(session.principal.mailboxId)
      const why = endOf(state, accepted.has(nameOf(session)))
      if (why !== null) this.#end(session, why)
      else session.suspended = state?.status === 'suspended'
    }
  }

  /** Credentials that are accepted now, by `nameOf`. */
  #accepted(sessions: readonly SignedIn[]): Set<string> {
    const { directory, tokens } = this.#deps
    const named = { appPasswords: new Set<string>(), keys: new Set<string>(), tokens: new Set<string>() }
    for (const session of sessions) {
      const kind = session.secretHash === null ? 'appPasswords' : session.principal.agent ? 'tokens' : 'keys'
      named[kind].add(nameOf(session))
    }
    const hashes = (names: Set<string>) => [...names].map((name) => Buffer.from(name, 'hex'))
    return directory.appPasswords
      .activeAmong([...named.appPasswords])
      .union(directory.keys.acceptedAmong(hashes(named.keys)))
      .union(tokens.acceptedAmong(hashes(named.tokens)))
  }

  #end(session: SignedIn, why: SessionEnd): void {
    const end = this.#sessions.get(session)
    this.#remove(session)
    try {
      end?.(why)
    } catch (error) {
      // The other sessions must be checked.
      this.#deps.log.error({ event: 'sign_in.session_not_ended', err: error }, 'Session could not be ended')
    }
  }

  #remove(session: SignedIn): void {
    this.#sessions.delete(session)
    if (this.#sessions.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }
}

/** What is looked up: the id of an app password, the hash of a key or token. A rotated key keeps its id, not its hash. */
function nameOf({ principal, secretHash }: SignedIn): string {
  return secretHash === null ? principal.keyId : Buffer.from(secretHash).toString('hex')
}

function endOf(state: MailboxState | undefined, isAccepted: boolean): SessionEnd | null {
  if (state === undefined || state.status === 'deleted') return 'mailbox'
  if (state.isTeamSuspended) return 'team'
  return isAccepted ? null : 'credential'
}
