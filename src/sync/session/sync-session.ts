// One signed-in connection to an outside account with the mailbox it belongs to: what the parts of a round share.

import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { Directory } from '../../directory/directory.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import type { Outbox } from '../../events/outbox.ts'
import type { CloseLinks } from '../../store/mailbox/delivery.ts'
import type { Account } from '../../store/rows/records.ts'
import type { Store } from '../../store/store.ts'
import type { Inspector } from '../../workers/inspector.ts'
import { type AccountStates, AccountTaken } from '../accounts/accounts-state.ts'
import type { Intents } from '../ledger/intents.ts'
import type { RemoteFolder, RemoteFolders } from '../ledger/remote-folders.ts'
import type { RemoteMessages } from '../ledger/remote-messages.ts'
import type { RemoteAccount } from '../model/records.ts'
import {
  type AccountServer,
  type LastSelected,
  type OpenedFolder,
  ServerError,
  type ServerFacts,
} from '../model/server.ts'
import { type ContentMemory, type FetchBreaks, holderOf, type WorkSlot } from './content-memory.ts'

export interface RoundDeps {
  closeLinks: CloseLinks
  db: Db
  clock: Clock
  log: Log
  store: Store
  directory: Pick<Directory, 'mailboxes' | 'teams'>
  inspector: Pick<Inspector, 'readAll'>
  outbox: Outbox
  states: AccountStates
  folders: RemoteFolders
  messages: RemoteMessages
  intents: Intents
  memory: ContentMemory
  breaks: FetchBreaks
  /** Those of heads, and of the beginnings of contents that are compared. */
  headBreaks: FetchBreaks
  pieceBreaks: FetchBreaks
}

export class SyncSession {
  readonly deps: RoundDeps
  readonly server: AccountServer
  readonly signal: AbortSignal
  readonly #token: string
  #account: RemoteAccount
  #mail: Account
  #slot: WorkSlot | null = null
  #selected: { path: string; opened: OpenedFolder } | null = null
  /** UIDVALIDITY of folders by path, as each was selected last. */
  readonly #validities = new Map<string, number>()

  constructor(
    deps: RoundDeps,
    account: RemoteAccount,
    connection: { server: AccountServer; token: string; signal: AbortSignal },
  ) {
    this.deps = deps
    this.server = connection.server
    this.signal = connection.signal
    this.#token = connection.token
    this.#account = account
    this.#mail = this.#readMail()
  }

  get facts(): ServerFacts {
    return this.server.facts
  }

  /** As of the last unit of work or {@link refresh}. */
  get account(): RemoteAccount {
    return this.#account
  }

  /** The account of the mailbox in the store. */
  get mail(): Account {
    return this.#mail
  }

  /** Labels are folders here. */
  get areLabels(): boolean {
    return this.facts.hasLabels
  }

  /** @throws AccountTaken */
  mailbox(tx?: Tx): Mailbox {
    const mailbox = this.deps.directory.mailboxes.byId(this.#account.mailboxId, tx)
    if (mailbox === undefined || mailbox.status === 'deleted') throw new AccountTaken()
    return mailbox
  }

  /** @throws AccountTaken when the worker may not go on */
  refresh(): RemoteAccount {
    const current = this.deps.states.read(this.#account.n)
    if (current === undefined || current.status === 'paused') throw new AccountTaken()
    if (current.settingsVersion !== this.#account.settingsVersion || this.signal.aborted) throw new AccountTaken()
    this.#account = current
    this.#mail = this.#readMail()
    return current
  }

  /**
   * One unit of work on the base and the mailbox. Changes of the mailbox in it are those of the server, and are not sent back.
   * @throws AccountTaken when the worker may not go on
   */
  write<T>(work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): Promise<T> {
    const { db, states, store } = this.deps
    return db.write<T>(((tx: Tx) => {
      this.#account = states.require(tx, this.#account, this.#token)
      const before = store.accounts.seqIn(tx, this.#mail.n)
      const result = work(tx)
      const after = store.accounts.seqIn(tx, this.#mail.n)
      if (after !== before) states.ownChange(tx, this.#account.n, before, after)
      return result
    }) as never)
  }

  /** Selects a folder. @param known what is known of it, for its difference (QRESYNC) */
  async select(path: string, known: LastSelected | null = null): Promise<OpenedFolder> {
    this.#selected = null
    const opened = await this.server.select(path, known)
    this.#selected = { path, opened }
    this.#validities.set(path, opened.uidValidity)
    return opened
  }

  isSelected(path: string): boolean {
    return this.#selected?.path === path
  }

  /**
   * Selects a folder unless it is selected already.
   * @throws ServerError when it was numbered again since it was selected last: UIDs that were read then name other messages (RFC 9051 §2.3.1.1)
   */
  async ensure(path: string): Promise<OpenedFolder> {
    if (this.#selected?.path === path) return this.#selected.opened
    const before = this.#validities.get(path)
    const opened = await this.select(path)
    if (before === undefined || before === opened.uidValidity) return opened
    throw new ServerError('delay', 'The server has numbered a folder again while it was read.')
  }

  /** Runs a part of the work on the account, when it is its turn. */
  working<T>(work: () => Promise<T>): Promise<T> {
    return this.deps.memory.working(holderOf(this.#account), async (slot) => {
      this.#slot = slot
      try {
        return await work()
      } finally {
        this.#slot = null
      }
    })
  }

  /** To be called before contents are asked for. @throws ServerError */
  async ready(): Promise<void> {
    const slot = this.#slot
    await this.server.ready((wait) => (slot === null ? wait() : slot.without(wait)))
    // Behind the end of the last answer: others of the team may wait for what it holds.
    await slot?.yieldTurn()
  }

  /** Folders whose messages are read. */
  followed(): RemoteFolder[] {
    const { folders } = this.deps
    const all = folders.list(this.#account.n).filter(({ state, folder }) => state === 'followed' && folder !== null)
    return all.filter((folder) => this.isRead(folder)).sort((a, b) => rank(a) - rank(b))
  }

  /** Whether the messages of a folder are read: with labels those of All Mail, Trash and Junk only, which have all messages. */
  isRead({ role, state }: RemoteFolder): boolean {
    if (state !== 'followed') return false
    return !this.areLabels || role === 'archive' || role === 'trash' || role === 'junk'
  }

  #readMail(): Account {
    const mail = this.deps.store.accounts.byMailbox(this.#account.mailboxId, this.deps.db.read)
    if (mail === undefined) throw new AccountTaken()
    return mail
  }
}

/** What people look at first comes first. */
function rank({ role }: RemoteFolder): number {
  const order = ['inbox', 'sent', 'drafts', null, 'archive', 'junk', 'trash']
  return order.indexOf(role)
}
