// Outside accounts: their records, and the worker that keeps them and their mailboxes equal.

import { SafeFetch } from '../base/safe-fetch.ts'
import type { Page, PageKey } from '../db/page.ts'
import type { Inspector } from '../workers/inspector.ts'
import type { AccessTokens } from './accounts/access-tokens.ts'
import { RemoteAccounts } from './accounts/accounts.ts'
import { discoverServers } from './accounts/discover.ts'
import { type FollowedFolder, followedFolders } from './ledger/followed-folders.ts'
import { Announcements } from './model/announcements.ts'
import type { SyncDeps } from './model/deps.ts'
import type { DiscoveredAccount, RemoteAccount } from './model/records.ts'
import type { OpenServer } from './model/server.ts'
import type { SyncWorker } from './worker/worker.ts'

export class Sync {
  readonly accounts: RemoteAccounts
  readonly announcements: Announcements
  /** Of accounts that sign in by consent. */
  readonly tokens: AccessTokens
  readonly #deps: SyncDeps
  readonly #open: OpenServer | undefined
  readonly #fetch: SafeFetch

  /** @param open connects to the server of an account; the real one unless given */
  constructor({ tokens, ...deps }: SyncDeps & { tokens: AccessTokens }, open?: OpenServer) {
    this.#deps = deps
    this.#open = open
    this.accounts = new RemoteAccounts(deps)
    this.announcements = new Announcements(deps)
    this.tokens = tokens
    const { resolver, log, config } = deps
    this.#fetch = new SafeFetch({ resolver, log, allowPrivate: config.ALLOW_PRIVATE_IMAP_HOSTS })
  }

  /** The folders of an account, and how far each is here. */
  folders(account: RemoteAccount, page: { limit: number; after: PageKey | null }): Page<FollowedFolder> {
    return followedFolders(this.#deps, account, page)
  }

  /** Follows the accounts of this appliance. What it runs is loaded now: other threads have none. */
  async worker(inspector: Pick<Inspector, 'readAll'>): Promise<SyncWorker> {
    const { openSyncWorker } = await import('./worker/worker.ts')
    const { tokens, announcements } = this
    return openSyncWorker({ ...this.#deps, tokens, announcements, inspector, open: this.#open })
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
