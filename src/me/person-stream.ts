// One Server-Sent Events stream of a person: frames for the changes of several mailboxes and teams. What the person may see is checked before each.

import { notFound } from '../base/errors.ts'
import { PROGRAM_VERSION } from '../config/version.ts'
import type { Context } from '../context.ts'
import { allows } from '../directory/names/permissions.ts'
import type { Principal } from '../directory/names/principal.ts'
import type { ReceivedMessage } from '../events/received-events.ts'
import type { Actor } from '../http/actor.ts'
import { idOfStates, receivedData, statesInId } from '../http/mailbox-states.ts'
import { actingAs } from '../http/person-access.ts'
import { type EndReason, SseStream } from '../http/sse-stream.ts'
import type { SignInSession } from '../people/sessions.ts'
import { TEAM_CHANGES, type TeamChange, type TeamSubscriber } from '../people/team-changes.ts'
import { type Account, CHANGE_TYPES, type States } from '../store/rows/records.ts'
import { countApprovals } from './approval-list.ts'

/** Mailboxes and teams of one stream. */
export const ACTORS_MAX = 20
/** Longest Last-Event-ID that is read. */
const ID_MAX = 8192

/** Parameters of a stream. */
export interface PersonStreamOptions {
  /** Ids; empty for all of the person's. */
  actors: readonly string[]
  pingSeconds: number
  /** Checks the session again. */
  status(): Promise<'in' | 'out' | 'suspended'>
}

/** A mailbox the stream follows. */
interface FollowedMailbox {
  /** The account as of its last change. */
  account: Account
  /** The states the client knows; null when they are not known. */
  known: States | null
}

/** The permission to read each kind of things. */
const READS: Readonly<Record<TeamChange, string>> = {
  domains: 'domain.read',
  mailboxes: 'mailbox.admin.read',
  providers: 'provider.read',
  delivery: 'logs.read',
  inbound: 'logs.read',
  suppressions: 'suppression.read',
  webhooks: 'webhook.read',
  members: 'team.read',
  agents: 'team.read',
  keys: 'apikey.read',
  billing: 'billing.read',
  audit: 'audit.read',
}

export class PersonStream extends SseStream implements TeamSubscriber {
  readonly #session: SignInSession
  readonly #options: PersonStreamOptions
  readonly #mailboxes = new Map<string, FollowedMailbox>()
  /** Changes that were not sent yet, by team. */
  readonly #teams = new Map<string, Set<TeamChange>>()
  readonly #unfollow = new Map<string, () => void>()
  #approvals: number | null = null

  private constructor(app: Context, session: SignInSession, options: PersonStreamOptions) {
    super(app, { pingSeconds: options.pingSeconds, about: { session: session.id } })
    this.#session = session
    this.#options = options
  }

  /**
   * @param last id of the last event the client received; null for none
   * @throws ProductError not_found for a mailbox or team the person cannot open, service_unavailable when the appliance is closing
   */
  static async open(
    app: Context,
    session: SignInSession,
    options: PersonStreamOptions,
    last: string | null,
  ): Promise<PersonStream> {
    const stream = new PersonStream(app, session, options)
    const ids = options.actors.length > 0 ? [...new Set(options.actors)] : stream.#ownActors()
    for (const id of ids) if (stream.#principalOf(id) === undefined) throw notFound('actor')
    if (!(await stream.start())) return stream
    await app.db.durable()
    const resumed = readId(last)
    if (resumed !== null && resumed.version !== PROGRAM_VERSION) stream.event('reload', { version: PROGRAM_VERSION })
    try {
      for (const id of ids) stream.#follow(id, resumed)
    } catch (error) {
      stream.destroy()
      throw error
    }
    if (resumed === null) stream.write(`id: ${stream.#id()}\n\n`)
    await stream.#sendApprovals()
    if (!stream.isOver) stream.watch()
    return stream
  }

  /** The teams of the person, then their mailboxes, as many as one stream follows. */
  #ownActors(): string[] {
    const { people } = this.app
    const memberships = people.membershipsOf(this.#session)
    const mailboxes = memberships.flatMap(({ id }) => people.grants.ofMember(id).map(({ mailboxId }) => mailboxId))
    const all = [...memberships.map(({ teamId }) => teamId), ...new Set(mailboxes)]
    return all.filter((id) => this.#principalOf(id) !== undefined).slice(0, ACTORS_MAX)
  }

  #follow(id: string, resumed: Resumed | null): void {
    const { app } = this
    if (id.startsWith('team_')) {
      this.#teams.set(id, new Set())
      this.#unfollow.set(id, app.teamChanges.subscribe(id, this))
      if (resumed !== null) this.teamChanged(id, TEAM_CHANGES)
      return
    }
    const account = app.store.accounts.byMailbox(id)
    // Its account is made within a moment; the client comes back for it.
    if (account === undefined) return
    const states = resumed?.states.get(id)
    const known = resumed === null ? account.states : states === undefined ? null : statesInId(states, account.states)
    this.#mailboxes.set(id, { account, known })
    const subscriber = {
      accountChanged: (changed: Account, received: readonly ReceivedMessage[]) =>
        this.#accountChanged(id, changed, received),
      closing: () => this.closing(),
    }
    this.#unfollow.set(id, app.following.subscribe(account, subscriber))
    this.#sendStates(id)
  }

  protected override async refused(): Promise<EndReason | null> {
    return (await this.#options.status()) === 'in' ? null : 'credential_revoked'
  }

  protected override async check(): Promise<void> {
    await super.check()
    if (this.isOver) return
    for (const id of [...this.#mailboxes.keys(), ...this.#teams.keys()]) this.#mayFollow(id)
    await this.#sendApprovals()
  }

  #accountChanged(id: string, account: Account, received: readonly ReceivedMessage[]): void {
    this.inTurn(async () => {
      const followed = this.#mailboxes.get(id)
      if (followed === undefined || !this.#mayFollow(id)) return
      followed.account = account
      // The account may have been read before its last change was flushed.
      await this.app.db.durable(account.n)
      // Single events come first: a client that receives the state has received all of them.
      for (const message of received) this.event('message.received', { actor: id, ...receivedData(message) })
      this.#sendStates(id)
    })
  }

  teamChanged(teamId: string, changed: readonly TeamChange[]): void {
    const waiting = this.#teams.get(teamId)
    for (const kind of changed) waiting?.add(kind)
    this.inTurn(async () => {
      this.#sendTeam(teamId)
      if (changed.includes('agents') || changed.includes('members')) await this.#sendApprovals()
    })
  }

  #sendTeam(teamId: string): void {
    const waiting = this.#teams.get(teamId)
    if (waiting === undefined || waiting.size === 0 || this.isFull || !this.#mayFollow(teamId)) return
    const principal = this.#principalOf(teamId)
    const permissions = principal?.kind === 'team' ? principal.permissions : []
    const changed = TEAM_CHANGES.filter((kind) => waiting.has(kind) && allows(permissions, READS[kind]))
    waiting.clear()
    if (changed.length > 0) this.event('team', { actor: teamId, changed })
  }

  /** Sends the states that the client does not know; they wait while it does not read. */
  #sendStates(id: string): void {
    const followed = this.#mailboxes.get(id)
    if (followed === undefined || this.isFull) return
    const { account, known } = followed
    const types = CHANGE_TYPES.filter((type) => known === null || account.states[type] !== known[type])
    if (types.length === 0) return
    const changed = Object.fromEntries(types.map((type) => [type, account.states[type]]))
    followed.known = account.states
    this.event('state', { actor: id, mailbox_id: id, changed }, this.#id())
  }

  async #sendApprovals(): Promise<void> {
    if (this.isFull || this.isOver) return
    const count = await countApprovals(this.app, this.#session)
    if (count !== this.#approvals && this.event('approvals', { count })) this.#approvals = count
  }

  /** Whether the person may still open it; the stream ends with the session, and follows no longer what was taken back. */
  #mayFollow(id: string): boolean {
    if (this.app.people.sessions.read(this.#session.token) === undefined) {
      this.finish('credential_revoked')
      return false
    }
    if (this.#principalOf(id) !== undefined) return true
    this.#unfollow.get(id)?.()
    this.#unfollow.delete(id)
    this.#mailboxes.delete(id)
    this.#teams.delete(id)
    this.event('left', { actor: id })
    return false
  }

  /** As whom the person acts there; undefined for what they cannot open, and for a suspended team. */
  #principalOf(id: string): Principal | undefined {
    const actor: Actor = { kind: id.startsWith('team_') ? 'team' : 'mailbox', id }
    const known = actingAs(this.app, this.#session, actor)
    return known === undefined || known.suspended ? undefined : known.principal
  }

  #id(): string {
    const states = [...this.#mailboxes].flatMap(([id, { known }]) =>
      known === null ? [] : [`${id}:${idOfStates(known)}`],
    )
    return [PROGRAM_VERSION, ...states].join(';')
  }

  protected override resumed(): void {
    this.inTurn(async () => {
      for (const id of [...this.#mailboxes.keys()]) if (this.#mayFollow(id)) this.#sendStates(id)
      for (const id of [...this.#teams.keys()]) this.#sendTeam(id)
    })
  }

  protected override left(): void {
    for (const unfollow of this.#unfollow.values()) unfollow()
    this.#unfollow.clear()
  }
}

/** What the client knew when it lost the connection. */
interface Resumed {
  version: string
  /** By mailbox. */
  states: ReadonlyMap<string, string>
}

/** Null for a new stream. An id of another form names a version that does not exist: everything is sent. */
function readId(id: string | null): Resumed | null {
  if (id === null) return null
  const [version = '', ...parts] = id.slice(0, ID_MAX).split(';')
  const states = parts.slice(0, ACTORS_MAX).map((part) => {
    const cut = part.indexOf(':')
    return [part.slice(0, cut), part.slice(cut + 1)] as const
  })
  return { version, states: new Map(states) }
}
