// The outside accounts of teams: their records and settings, and what people ask of them.

import type { Clock } from '../../base/clock.ts'
import { conflict, notFound } from '../../base/errors.ts'
import type { Notifier } from '../../base/notifier.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import type { Db, SqlValue, Tx } from '../../db/db.ts'
import type { ImapSettings, RemoteAccount, RemoteStatus, RemovalSide } from '../model/records.ts'
import { type EndedAccount, EndedAccounts } from './accounts-ended.ts'
import {
  checkAccountEmail,
  checkAccountName,
  checkImap,
  checkSecret,
  heldRemovals,
  type NewRemoteAccount,
  namesOther,
  type RemoteAccountChange,
  type RemoteActions,
  type RemoteSecret,
  refuseOtherService,
  remoteActions,
  touchesSignIn,
  whyNotRemote,
} from './accounts-input.ts'
import { RemoteAccountReads } from './accounts-reads.ts'

interface RemoteAccountsDeps {
  db: Db
  clock: Clock
  vault: Vault
  notifier: Pick<Notifier, 'notify'>
  config: Pick<Config, 'ALLOW_PRIVATE_IMAP_HOSTS'>
}

/** Receives the current record inside the unit of work; throws to refuse. */
type Check = (current: RemoteAccount, tx: Tx) => void

/** Collecting accounts of a mailbox (docs/design/outside-accounts.md §1). */
const COLLECTORS_MAX = 5
/** Accounts of a team: with 40 connections that take turns of a minute, each is compared every 5 minutes. */
export const ACCOUNTS_PER_TEAM_MAX = 200
const WHAT = 'outside account'

/** The first state of an account. */
const INITIAL = {
  ...{ status: 'pending', push: 'poll', failures: 0, settings_version: 1, wanted_at: 0, pushed_seq: 0 },
  ...{ import_state: 'waiting', import_total: 0, import_done: 0, import_bytes: 0 },
  ...{ import_folders_total: 0, import_folders_done: 0, day: 0, day_bytes: 0 },
}

export class RemoteAccounts extends RemoteAccountReads {
  readonly ended: EndedAccounts
  readonly #deps: RemoteAccountsDeps

  constructor(deps: RemoteAccountsDeps) {
    super(deps.db)
    this.ended = new EndedAccounts(deps.db)
    this.#deps = deps
  }

  /**
   * Creates the record of an account, `pending`: the worker signs in soon after the commit. The caller creates the mailbox and the sending account
   * in the same unit of work (`administration/outside-accounts.ts`).
   * @param ended the same account before: it goes on with what was known of it, when its messages are there (`same-account.ts`)
   * @throws ProductError validation_error; conflict (attached in this team already, too many for the mailbox)
   */
  createIn(tx: Tx, given: NewRemoteAccount, ended?: EndedAccount): RemoteAccount {
    const { clock, config } = this.#deps
    const email = checkAccountEmail(given.email)
    const name = checkAccountName(given.name)
    const imap = given.imap && checkImap(given.imap, config.ALLOW_PRIVATE_IMAP_HOSTS)
    this.#refuseSecond(tx, { ...given, email })
    const now = clock.now()
    const { id, teamId, mailboxId, account, mode, auth, providerId, folderId, since } = given
    tx.insert('remote_accounts', {
      ...INITIAL,
      ...(ended === undefined ? {} : { ...ended.carried, n: ended.remote }),
      ...{ id, team_id: teamId, mailbox_id: mailboxId, account, mode, name, email, auth, since },
      ...(imap === null ? {} : imapColumns(imap)),
      ...{ secret_sealed: this.#sealed(id, given.secret), provider_id: providerId, folder_id: folderId },
      ...{ status_since: now, created_at: now, updated_at: now },
    })
    if (ended !== undefined) this.ended.forget(tx, ended.remote)
    this.#notify(tx, account)
    return this.getIn(tx, teamId, id)!
  }

  /** Whether its secret is that password. */
  hasPassword({ n, id }: Pick<RemoteAccount, 'n' | 'id'>, password: string | null): boolean {
    if (password === null) return false
    const sql = 'SELECT secret_sealed AS sealed FROM remote_accounts WHERE n = ?'
    const sealed = this.#deps.db.read.get<{ sealed: Uint8Array | null }>(sql, [n])?.sealed
    if (!sealed) return false
    const secret = JSON.parse(this.#deps.vault.open(`remote/${id}`, sealed).toString()) as RemoteSecret
    return 'password' in secret && secret.password === password
  }

  /**
   * Changes settings. Other settings of the connection are tried at once: the account is `pending` again, unless it is paused. With another
   * server or user name it is followed only when its known messages are there (`same-account.ts`).
   * @throws ProductError not_found, validation_error, and what the check throws
   */
  updateIn(tx: Tx, teamId: string, id: string, change: RemoteAccountChange, check: Check = () => {}): RemoteAccount {
    const current = this.#current(tx, teamId, id, check)
    const { config } = this.#deps
    const imap = change.imap && checkImap(change.imap, config.ALLOW_PRIVATE_IMAP_HOSTS)
    if (change.secret === undefined) refuseOtherService(imap, current)
    const isOther = touchesSignIn({ ...change, imap }, current)
    this.#write(tx, current, {
      ...(change.name === undefined ? {} : { name: checkAccountName(change.name) }),
      ...(imap === undefined || current.imap === null ? {} : imapColumns({ ...current.imap, ...imap })),
      ...(change.secret === undefined ? {} : { secret_sealed: this.#sealed(id, change.secret) }),
      ...(change.providerId === undefined ? {} : { provider_id: change.providerId }),
      ...(change.folderId === undefined ? {} : { folder_id: change.folderId }),
      ...(change.since === undefined ? {} : { since: change.since }),
      // `If-Match` compares this version alone: it counts other settings of the sending account, too.
      ...(isOther || change.hasOtherSmtp === true ? { settings_version: current.settingsVersion + 1 } : {}),
      ...(isOther ? this.#tryNow(current) : {}),
      // Before anything is compared, the worker finds out whether it is still the same account.
      ...(namesOther(imap, current) ? { kind: null, links_at: null } : {}),
    })
    return this.getIn(tx, teamId, id)!
  }

  /** Ends all work on an account until it is resumed. @throws ProductError not_found, conflict */
  pause(teamId: string, id: string, check?: Check): Promise<RemoteAccount> {
    return this.#act(teamId, id, 'pause', check, (current) => ({
      ...this.#status('paused'),
      resumes_as: current.status === 'error' ? 'pending' : (current.resumesAs ?? current.status),
      next_try_at: null,
    }))
  }

  /** Signs in again. @throws ProductError not_found, conflict (neither paused nor in error) */
  resume(teamId: string, id: string, check?: Check): Promise<RemoteAccount> {
    return this.#act(teamId, id, 'resume', check, () => this.#restart())
  }

  /** Asks for a round now. @throws ProductError not_found, conflict (paused or in error) */
  sync(teamId: string, id: string, check?: Check): Promise<RemoteAccount> {
    const now = this.#deps.clock.now()
    return this.#act(teamId, id, 'sync', check, ({ status }) => ({
      wanted_at: now,
      ...(status === 'delayed' ? { next_try_at: now } : {}),
    }))
  }

  /**
   * Lets a removal happen that is held back.
   * @param at where the messages are that are then removed; undefined: the side on which one is held
   * @throws ProductError not_found, conflict (none is held, or on both sides)
   */
  confirmRemoval(teamId: string, id: string, at?: RemovalSide, check?: Check): Promise<RemoteAccount> {
    return this.#decide(teamId, id, { action: 'confirmRemoval', at, check })
  }

  /**
   * Keeps the messages of a removal that is held back, and puts them back on the side where they are gone.
   * @param at where the messages are; undefined: the side on which a removal is held
   * @throws ProductError not_found, conflict (none is held, or on both sides)
   */
  undoRemoval(teamId: string, id: string, at?: RemovalSide, check?: Check): Promise<RemoteAccount> {
    return this.#decide(teamId, id, { action: 'undoRemoval', at, check })
  }

  #decide(
    teamId: string,
    id: string,
    { action, at, check }: { action: 'confirmRemoval' | 'undoRemoval'; at?: RemovalSide; check?: Check },
  ): Promise<RemoteAccount> {
    const now = this.#deps.clock.now()
    const decision = action === 'confirmRemoval' ? { isConfirmed: true } : { isUndone: true }
    return this.#act(teamId, id, action, check, (account) => {
      const [held, other] = heldRemovals(account).filter(({ side }) => side === (at ?? side))
      if (held === undefined) throw conflict('No removal is held back on this side.', 'at')
      if (other !== undefined) throw conflict('Removals are held back on both sides. Name one with `at`.', 'at')
      const column = held.side === 'here' ? 'removal' : 'removal_there'
      return { [column]: JSON.stringify({ ...held.removal, ...decision }), wanted_at: now }
    })
  }

  /**
   * Removes the record and its secret.
   * @param known whether what is known of the account is kept, for when it is attached again; else the worker forgets it
   * @throws ProductError not_found
   */
  deleteIn(tx: Tx, teamId: string, id: string, known: 'kept' | 'forgotten', check: Check = () => {}): RemoteAccount {
    const current = this.#current(tx, teamId, id, check)
    if (known === 'kept') this.ended.remember(tx, current, this.#deps.clock.now())
    tx.run('DELETE FROM remote_accounts WHERE n = ?', [current.n])
    this.#notify(tx)
    return current
  }

  #act(
    teamId: string,
    id: string,
    action: keyof RemoteActions,
    check: Check = () => {},
    change: (current: RemoteAccount) => Record<string, SqlValue>,
  ): Promise<RemoteAccount> {
    return this.#deps.db.write((tx) => {
      const current = this.#current(tx, teamId, id, check)
      if (!remoteActions(current)[action]) throw conflict(whyNotRemote(current, action))
      this.#write(tx, current, change(current))
      return this.getIn(tx, teamId, id)!
    })
  }

  #current(tx: Tx, teamId: string, id: string, check: Check): RemoteAccount {
    const current = this.getIn(tx, teamId, id)
    if (current === undefined) throw notFound(WHAT)
    check(current, tx)
    return current
  }

  #write(tx: Tx, { n }: RemoteAccount, change: Record<string, SqlValue>): void {
    const columns = { ...change, updated_at: this.#deps.clock.now() }
    const marks = Object.keys(columns).map((name) => `${name} = ?`)
    tx.run(`UPDATE remote_accounts SET ${marks.join(', ')} WHERE n = ?`, [...Object.values(columns), n])
    this.#notify(tx)
  }

  /** A paused account stays so; the others begin again. */
  #tryNow({ status }: RemoteAccount): Record<string, SqlValue> {
    return status === 'paused' ? {} : this.#restart()
  }

  #restart(): Record<string, SqlValue> {
    return { ...this.#status('pending'), resumes_as: null, next_try_at: null, failures: 0 }
  }

  #status(status: RemoteStatus): Record<string, SqlValue> {
    return { status, status_reason: null, error_kind: null, status_since: this.#deps.clock.now() }
  }

  #sealed(id: string, secret: RemoteSecret): Uint8Array {
    return this.#deps.vault.seal(`remote/${id}`, JSON.stringify(checkSecret(secret)))
  }

  #refuseSecond(tx: Tx, { teamId, mailboxId, mode, email }: NewRemoteAccount): void {
    if (this.count(teamId, tx) >= ACCOUNTS_PER_TEAM_MAX) {
      throw conflict(`The team already has ${ACCOUNTS_PER_TEAM_MAX} outside accounts.`)
    }
    if (this.attached(tx, teamId, email) !== undefined) {
      throw conflict('The address is attached in this team already.', 'email')
    }
    if (mode === 'collect' && this.ofMailbox(mailboxId, tx).length >= COLLECTORS_MAX) {
      throw conflict(`The mailbox already collects from ${COLLECTORS_MAX} outside accounts.`, 'mailbox_id')
    }
  }

  /** @param account of a mailbox that has another outside account */
  #notify(tx: Tx, account?: number): void {
    tx.afterCommit(() => this.#deps.notifier.notify('remotes', account))
  }
}

function imapColumns({ host, port, protocol, username }: ImapSettings): Record<string, SqlValue> {
  return { imap_host: host, imap_port: port, imap_protocol: protocol, imap_username: username }
}
