// Outside accounts: their records, and the worker that keeps them and their mailboxes equal.

import { SafeFetch } from '../base/safe-fetch.ts'
import type { Page, PageKey } from '../db/page.ts'
import type { OutboundDeps } from '../outbound/deps.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Inspector } from '../workers/inspector.ts'
import { AccessTokens } from './access-tokens.ts'
import { RemoteAccounts } from './accounts.ts'
import { AccountStates } from './accounts-state.ts'
import { Announcements } from './announcements.ts'
import { serverOpener } from './connect.ts'
import { ContentMemory } from './content-memory.ts'
import { discoverServers } from './discover.ts'
import { type FollowedFolder, followedFolders } from './ledger/followed-folders.ts'
import { Intents } from './ledger/intents.ts'
import { RemoteFolders } from './ledger/remote-folders.ts'
import { RemoteMessages } from './ledger/remote-messages.ts'
import type { DiscoveredAccount, RemoteAccount } from './records.ts'
import { ResponseMemory } from './response-memory.ts'
import { appendDue } from './sent-copy.ts'
import type { OpenServer } from './server.ts'
import { SyncWorker } from './worker.ts'

export interface SyncDeps extends OutboundDeps {
  outbound: Outbound
}

export class Sync {
  readonly accounts: RemoteAccounts
  readonly announcements: Announcements
  /** Of accounts that sign in by consent. */
  readonly tokens: AccessTokens
  readonly #deps: SyncDeps
  readonly #open: OpenServer | undefined
  readonly #fetch: SafeFetch

  /** @param open connects to the server of an account; the real one unless given */
  constructor(deps: SyncDeps, open?: OpenServer) {
    this.#deps = deps
    this.#open = open
    this.accounts = new RemoteAccounts(deps)
    this.announcements = new Announcements(deps)
    this.tokens = new AccessTokens(deps)
    this.#fetch = new SafeFetch({ resolver: deps.resolver, allowPrivate: deps.config.ALLOW_PRIVATE_IMAP_HOSTS })
  }

  /** The folders of an account, and how far each is here. */
  folders(account: RemoteAccount, page: { limit: number; after: PageKey | null }): Page<FollowedFolder> {
    return followedFolders(this.#deps, account, page)
  }

  /** Follows the accounts of this appliance. */
  worker(inspector: Pick<Inspector, 'readAll'>): SyncWorker {
    const { db, clock, config } = this.#deps
    const { announcements } = this
    return new SyncWorker({
      ...this.#deps,
      connectionsMax: config.REMOTE_CONNECTIONS,
      inspector,
      open: this.#open ?? serverOpener({ ...this.#deps, tokens: this.tokens, responses: new ResponseMemory(clock) }),
      states: new AccountStates({ db, clock, announcements }),
      folders: new RemoteFolders(db),
      messages: new RemoteMessages(db),
      intents: new Intents(db, clock),
      memory: new ContentMemory(),
      mayAppend: (account, message) => appendDue(this.#deps, account, message),
    })
  }

  /** Looks for the servers of an address. */
  discover(email: string): Promise<DiscoveredAccount> {
    return discoverServers({ ...this.#deps, fetch: this.#fetch }, email)
  }

  /** Closes the connections to issuers and web servers. */
  async close(): Promise<void> {
    await Promise.all([this.tokens.close(), this.#fetch.close()])
  }
}
