// Outside accounts as a whole: the record together with its mailbox and its sending account (docs/design/outside-accounts.md §1).

import { conflict, invalid, notFound } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import { ACCOUNT_ENDED } from '../directory/mailboxes/mailboxes-deleted.ts'
import { serviceOfAuth } from '../outbound/model/connected-services.ts'
import type { SendingAccounts } from '../outbound/outbound.ts'
import type { MailConsent } from '../outbound/providers/oauth.ts'
import type { People } from '../people/people.ts'
import type { Store } from '../store/store.ts'
import { isSameService } from '../sync/accounts/accounts-ended.ts'
import {
  checkAccountEmail,
  NAME_MAX,
  type NewRemoteAccount,
  type RemoteSecret,
} from '../sync/accounts/accounts-input.ts'
import type { DiscoveredAccount, ImapSettings, RemoteAccount, RemoteAuth, RemoteMode } from '../sync/model/records.ts'
import type { Sync } from '../sync/sync.ts'
import { keptMailbox } from './kept-mailboxes.ts'
import type { MailboxAdministration } from './mailboxes.ts'
import {
  definedMembers,
  type ImapInput,
  imapOf,
  type SmtpInput,
  type SmtpSettings,
  sendingAccount,
  smtpOf,
} from './outside-servers.ts'

export interface OutsideAccountDeps {
  db: Db
  directory: Pick<Directory, 'mailboxes'>
  store: {
    accounts: Pick<Store['accounts'], 'byMailbox'>
    read: { folders: Pick<Store['read']['folders'], 'byId'> }
    edit: Pick<Store['edit'], 'openAccount'>
  }
  outbound: {
    accounts: {
      providers: Pick<SendingAccounts['providers'], 'createIn' | 'updateOwnedIn' | 'removeOwnedIn'> & {
        connections: Pick<SendingAccounts['providers']['connections'], 'secretsOf'>
      }
    }
  }
  people: Pick<People, 'welcomeMailbox'>
  sync: Pick<Sync, 'accounts' | 'discover'>
}

/** What is asked for. */
export interface OutsideAccountInput {
  mode: RemoteMode
  /** The address, when left out. */
  name?: string
  email: string
  password: string
  imap: ImapInput
  smtp: SmtpInput
  /** `collect`: the hosted mailbox. */
  mailboxId?: string
  /** `mirror`: of the new mailbox. */
  displayName?: string
  quotaBytes?: number
  folderId?: string | null
  since?: number | null
}

/** Members left out stay. */
export interface OutsideAccountChange {
  name?: string
  password?: string
  imap?: ImapInput
  smtp?: SmtpInput
  folderId?: string | null
  since?: number | null
}

/** `keep`: the mailbox can still be read; `erase`: it is deleted. */
export type KeptMessages = 'keep' | 'erase'

/** Receives the current record inside the unit of work; throws to refuse. */
type Check = (current: RemoteAccount, tx: Tx) => void

/** An account whose servers are known. */
interface ResolvedAccount extends Omit<OutsideAccountInput, 'imap' | 'smtp' | 'password'> {
  auth: RemoteAuth
  secret: RemoteSecret
  /** Null for Google and Microsoft. */
  imap: ImapSettings | null
  smtp: SmtpSettings | null
}

export class OutsideAccounts {
  readonly #deps: OutsideAccountDeps
  readonly #mailboxes: MailboxAdministration

  constructor(deps: OutsideAccountDeps, mailboxes: MailboxAdministration) {
    this.#deps = deps
    this.#mailboxes = mailboxes
  }

  /** Looks for the servers of an address; nothing is signed in to. @throws ProductError validation_error */
  async discover(email: string): Promise<DiscoveredAccount> {
    return this.#deps.sync.discover(checkAccountEmail(email))
  }

  /**
   * Attaches an account; the worker signs in soon after. Servers that are left out are looked up by the address.
   * @throws ProductError validation_error; conflict (attached in this team already, the mailbox cannot collect)
   */
  async create(teamId: string, given: OutsideAccountInput): Promise<RemoteAccount> {
    const email = checkAccountEmail(given.email)
    refuseForeign(given.mode, given)
    const account = await this.#resolve({ ...given, email })
    return this.#deps.db.write((tx) =>
      given.mode === 'collect' ? this.#collectIn(tx, teamId, account) : this.#mirrorIn(tx, teamId, account),
    )
  }

  /**
   * Attaches the account of a consent, or renews the consent of one that is attached in the same way.
   * @throws ProductError conflict (attached in another way, the mailbox cannot collect)
   */
  connect(consent: MailConsent): Promise<RemoteAccount> {
    const { teamId, auth, mode, name, email, refreshToken, mailboxId } = consent
    const { db, sync } = this.#deps
    const secret = { refresh_token: refreshToken }
    return db.write((tx) => {
      const known = sync.accounts.attached(tx, teamId, email)
      const isSame = known?.mode === mode && (mode === 'mirror' || known.mailboxId === mailboxId)
      if (known !== undefined && known.auth === auth && isSame) {
        return sync.accounts.updateIn(tx, teamId, known.id, { secret })
      }
      const account = { ...{ mode, name, email, auth, secret, imap: null }, mailboxId: mailboxId ?? undefined }
      if (mode === 'collect') return this.#collectIn(tx, teamId, { ...account, smtp: null })
      const { host, port, protocol } = serviceOfAuth(auth).smtp
      const smtp = { smtpHost: host, smtpPort: port, smtpProtocol: protocol, smtpUsername: email }
      return this.#mirrorIn(tx, teamId, { ...account, smtp })
    })
  }

  /**
   * Changes an account and its sending account.
   * @throws ProductError not_found, validation_error, and what the check throws
   */
  async update(teamId: string, id: string, change: OutsideAccountChange, check?: Check): Promise<RemoteAccount> {
    const { db, sync } = this.#deps
    return db.write((tx) => {
      const current = sync.accounts.getIn(tx, teamId, id)
      if (current === undefined) throw notFound('outside account')
      check?.(current, tx)
      refuseChange(current, change)
      this.#checkFolder(tx, current.mailboxId, change.folderId)
      const providerId = this.#changeSmtpIn(tx, current, change)
      const { name, imap, folderId, since, password } = change
      const secret: RemoteSecret | undefined = password === undefined ? undefined : { password }
      const changed = { name, imap: imap && definedMembers(imap), secret, folderId, since, providerId }
      return sync.accounts.updateIn(tx, teamId, id, { ...changed, hasOtherSmtp: change.smtp !== undefined })
    })
  }

  /**
   * Ends an account. Nothing is removed at the other side.
   * @param onMessages of a mirror: whether its mailbox stays readable
   * @throws ProductError not_found, validation_error (a collecting account has no mailbox to erase), and what the check throws
   */
  async delete(teamId: string, id: string, onMessages: KeptMessages, check?: Check): Promise<void> {
    const { db, sync, outbound, directory } = this.#deps
    const isErased = onMessages === 'erase'
    const current = await db.write((tx) => {
      const current = sync.accounts.deleteIn(tx, teamId, id, isErased ? 'forgotten' : 'kept', check)
      if (current.providerId !== null) outbound.accounts.providers.removeOwnedIn(tx, teamId, current.providerId)
      if (current.mode === 'collect') {
        if (isErased) throw invalid('on_messages', 'forbidden_value', 'Collected messages stay in their mailbox.')
      } else if (isErased) this.#mailboxes.deleteIn(tx, teamId, current.mailboxId)
      else {
        directory.mailboxes.updateIn(tx, teamId, current.mailboxId, { sendScope: { type: 'all' } }, 0)
        directory.mailboxes.suspendIn(tx, teamId, current.mailboxId, ACCOUNT_ENDED)
      }
      return current
    })
    if (current.mode === 'mirror') await this.#mailboxes.cancelQueued(current.mailboxId)
  }

  /** The mailbox of a new mirror, its sending account, and the record. */
  #mirrorIn(tx: Tx, teamId: string, given: ResolvedAccount): RemoteAccount {
    const { directory, store, people, outbound, sync } = this.#deps
    const { email, displayName, quotaBytes } = given
    const id = newId('remoteAccount')
    const provider =
      given.smtp && outbound.accounts.providers.createIn(tx, teamId, sendingAccount(given, given.smtp), id)
    const sendScope = provider
      ? ({ type: 'providers', providerIds: [provider.id] } as const)
      : ({ type: 'all' } as const)
    const kept = keptMailbox(this.#deps, tx, { teamId, email })
    const mailbox =
      kept?.mailbox ?? directory.mailboxes.createOutsideIn(tx, teamId, { email, displayName, quotaBytes, sendScope })
    if (kept === undefined) {
      store.edit.openAccount(tx, mailbox.id, email)
      people.welcomeMailbox(tx, mailbox)
    } else {
      directory.mailboxes.reactivateIn(tx, teamId, mailbox.id)
      directory.mailboxes.updateIn(tx, teamId, mailbox.id, { displayName, quotaBytes, sendScope }, 0)
    }
    return sync.accounts.createIn(tx, this.#record(tx, id, mailbox, given, provider?.id ?? null), kept?.ended)
  }

  #collectIn(tx: Tx, teamId: string, given: ResolvedAccount): RemoteAccount {
    const { directory, sync } = this.#deps
    const mailbox = directory.mailboxes.getIn(tx, teamId, given.mailboxId!)
    if (mailbox === undefined) throw invalid('mailbox_id', 'not_found', 'The team has no mailbox with this id.')
    refuseCollector(mailbox)
    this.#checkFolder(tx, mailbox.id, given.folderId)
    const ended = sync.accounts.ended.of(tx, { mailboxId: mailbox.id, mode: 'collect', email: given.email })
    const record = this.#record(tx, newId('remoteAccount'), mailbox, given, null)
    return sync.accounts.createIn(tx, record, ended && isSameService(ended, given.imap) ? ended : undefined)
  }

  #record(tx: Tx, id: string, mailbox: Mailbox, given: ResolvedAccount, providerId: string | null): NewRemoteAccount {
    const account = this.#deps.store.accounts.byMailbox(mailbox.id, tx)
    if (account === undefined) throw conflict('The mailbox is still being set up.', 'mailbox_id')
    const { mode, email, imap, folderId = null, since = null } = given
    return {
      ...{ id, teamId: mailbox.teamId, mailboxId: mailbox.id, account: account.n, mode, email, imap },
      ...{ name: given.name ?? email.slice(0, NAME_MAX), auth: given.auth, secret: given.secret },
      ...{ providerId, folderId, since },
    }
  }

  /** @throws ProductError validation_error (`missing`) for servers that are not given and cannot be found */
  async #resolve(given: OutsideAccountInput): Promise<ResolvedAccount> {
    const found = given.imap.host === undefined ? await this.#deps.sync.discover(given.email) : null
    const imap = imapOf(given, found?.imap ?? null)
    if (imap === null) {
      throw invalid('imap_host', 'missing', 'The IMAP server of this address cannot be found. Give imap_host.')
    }
    const smtp = given.mode === 'collect' ? null : smtpOf(given, imap, found?.smtp ?? null)
    return { ...given, auth: 'password', secret: { password: given.password }, imap, smtp }
  }

  /** @returns the id of a new sending account; undefined when there is none */
  #changeSmtpIn(tx: Tx, current: RemoteAccount, change: OutsideAccountChange): string | undefined {
    const { outbound, sync, directory } = this.#deps
    const { smtp = {}, password } = change
    const { providerId, teamId } = current
    if (providerId !== null) {
      // A new password is that of both servers, if the former one was.
      const isShared = password !== undefined && sync.accounts.hasPassword(current, this.#smtpPassword(providerId))
      const smtpPassword = smtp.password ?? (isShared ? password : undefined)
      const given = {
        smtpHost: smtp.host,
        smtpPort: smtp.port,
        smtpProtocol: smtp.protocol,
        smtpUsername: smtp.username,
      }
      const changes = Object.fromEntries(
        Object.entries({ ...given, smtpPassword }).filter(([, value]) => value !== undefined),
      )
      if (Object.keys(changes).length > 0) outbound.accounts.providers.updateOwnedIn(tx, teamId, providerId, changes)
      return undefined
    }
    if (change.smtp === undefined) return undefined
    const secret = smtp.password ?? password
    if (smtp.host === undefined || secret === undefined) {
      throw invalid('smtp_host', 'required', 'A new sending account needs smtp_host and smtp_password.')
    }
    const { email, name, imap, mailboxId } = current
    const settings = smtpOf({ email, password: secret, smtp }, imap ?? { username: email }, null)!
    const provider = outbound.accounts.providers.createIn(
      tx,
      teamId,
      sendingAccount({ email, name }, settings),
      current.id,
    )
    directory.mailboxes.updateIn(
      tx,
      teamId,
      mailboxId,
      { sendScope: { type: 'providers', providerIds: [provider.id] } },
      0,
    )
    return provider.id
  }

  #smtpPassword(providerId: string): string | null {
    return this.#deps.outbound.accounts.providers.connections.secretsOf({ id: providerId }).smtpPassword
  }

  #checkFolder(tx: Tx, mailboxId: string, folderId: string | null | undefined): void {
    if (folderId == null) return
    const { accounts, read } = this.#deps.store
    const account = accounts.byMailbox(mailboxId, tx)
    if (account !== undefined && read.folders.byId(account, folderId, tx) !== undefined) return
    throw invalid('folder_id', 'not_found', 'The mailbox has no folder with this id.')
  }
}

/** @throws ProductError validation_error for members that the mode does not have, or needs */
function refuseForeign(mode: RemoteMode, given: OutsideAccountInput): void {
  if (mode === 'collect') {
    if (given.mailboxId === undefined) {
      throw invalid('mailbox_id', 'required', 'An account that collects needs the mailbox it collects into.')
    }
    if (Object.values(given.smtp).some((value) => value !== undefined)) throw noSmtp()
    return
  }
  const message = 'A mirror makes its own mailbox. Leave this member out.'
  if (given.mailboxId !== undefined) throw invalid('mailbox_id', 'forbidden_value', message)
  refuseFiling(given)
}

/** @throws ProductError validation_error for members that the account does not have */
function refuseChange({ mode, auth }: RemoteAccount, change: OutsideAccountChange): void {
  if (mode === 'mirror') refuseFiling(change)
  else if (change.smtp !== undefined) throw noSmtp()
  if (auth === 'password') return
  for (const [field, value] of [
    ['imap_host', change.imap],
    ['password', change.password],
    ['smtp_host', change.smtp],
  ] as const) {
    if (value === undefined) continue
    throw invalid(field, 'forbidden_value', 'A connected account is changed by connecting it again.')
  }
}

function refuseFiling({ folderId, since }: Pick<OutsideAccountInput, 'folderId' | 'since'>): void {
  if (folderId != null) throw invalid('folder_id', 'forbidden_value', 'A mirror has the folders of its account.')
  if (since != null) throw invalid('since', 'forbidden_value', 'A mirror has all messages of its account.')
}

function noSmtp() {
  return invalid('smtp_host', 'forbidden_value', 'An account that collects has no sending account.')
}

/** @throws ProductError conflict for a mailbox that cannot collect */
function refuseCollector({ status, domainId, isAgent }: Mailbox): void {
  if (status !== 'active') throw conflict(`The mailbox is ${status}.`, 'mailbox_id')
  if (domainId === null) throw conflict('The mailbox is an outside account itself.', 'mailbox_id')
  if (isAgent) throw conflict('The inbox of an agent cannot collect.', 'mailbox_id')
}
