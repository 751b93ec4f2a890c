// The accounts of this appliance at certificate authorities: one for each directory, with a sealed key.

import { AccountKey, type ExternalAccount } from '../acme/account-key.ts'
import { AcmeClient } from '../acme/client.ts'
import { AcmeError } from '../acme/problem.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import { ACCOUNTS } from './records.ts'

const ACCOUNT_PURPOSE = 'acme-account'

/** The authority for tests of each public authority: a first order is placed there, where failures cost nothing. */
export const REHEARSALS: ReadonlyMap<string, string> = new Map([
  ['https://acme-v02.api.letsencrypt.org/directory', 'https://acme-staging-v02.api.letsencrypt.org/directory'],
])

export interface AuthorityDeps {
  db: Db
  clock: Clock
  log: Log
  vault: Vault
  resolver: Resolver
  config: Pick<Config, 'ACME_EMAIL' | 'ACME_EAB_KID' | 'ACME_EAB_KEY'>
}

export class Authorities {
  readonly #deps: AuthorityDeps
  readonly #clients = new Map<string, AcmeClient>()

  constructor(deps: AuthorityDeps) {
    this.#deps = deps
  }

  /** A client whose account is open. @throws AcmeError */
  async open(directory: string): Promise<{ client: AcmeClient; account: string; accountKey: AccountKey }> {
    const { db, config } = this.#deps
    const row = ACCOUNTS.get(db.read, 'WHERE directory = ?', [directory])
    const accountKey = new AccountKey(await this.#key(directory))
    const client = this.#clients.get(directory) ?? this.#client(directory, accountKey, row?.url ?? null)
    const isSame = row?.email === config.ACME_EMAIL && row.externalKid === config.ACME_EAB_KID
    if (row?.url != null && isSame) return { client, account: row.url, accountKey }
    const account = await this.#register(client, directory)
    return { client, account, accountKey }
  }

  /** The authority does not know the account: the next order opens another one with a new key. */
  async forget(directory: string): Promise<void> {
    this.#clients.delete(directory)
    await this.#deps.db.write((tx) => tx.run('DELETE FROM acme_accounts WHERE directory = ?', [directory]))
  }

  /** Closes the connections; directories are read again with the next order. */
  async close(): Promise<void> {
    const clients = [...this.#clients.values()]
    this.#clients.clear()
    await Promise.all(clients.map((client) => client.close()))
  }

  #client(directory: string, key: AccountKey, kid: string | null): AcmeClient {
    const { resolver, log, clock } = this.#deps
    const client = new AcmeClient({ resolver, log, clock, directory, key, kid })
    this.#clients.set(directory, client)
    return client
  }

  async #register(client: AcmeClient, directory: string): Promise<string> {
    const { db, config } = this.#deps
    const { isExternalAccountRequired } = await client.directory()
    const external = this.#external()
    if (isExternalAccountRequired && external === null) {
      const what = 'The certificate authority wants an account of its own site: set ACME_EAB_KID and ACME_EAB_KEY'
      throw new AcmeError(`${what} to what it shows there.`)
    }
    const url = await client.openAccount(config.ACME_EMAIL, external)
    const changes = { url, email: config.ACME_EMAIL, externalKid: config.ACME_EAB_KID }
    await db.write((tx) => void ACCOUNTS.update(tx, changes, 'WHERE directory = ?', [directory]))
    return url
  }

  #external(): ExternalAccount | null {
    const { ACME_EAB_KID: kid, ACME_EAB_KEY: key } = this.#deps.config
    return kid === '' ? null : { kid, key }
  }

  /** The stored key; a new one, stored before it is used, where there is none or the secret of the appliance does not open it. */
  async #key(directory: string): Promise<Uint8Array> {
    const { db, vault, clock, log } = this.#deps
    const row = ACCOUNTS.and('key_sealed').get(db.read, 'WHERE directory = ?', [directory])
    if (row !== undefined) {
      try {
        return vault.open(ACCOUNT_PURPOSE, row.keySealed)
      } catch (error) {
        log.warn(
          { event: 'acme.account_key_lost', err: error },
          'The key of the ACME account cannot be opened; a new account is opened',
        )
      }
    }
    const key = await AccountKey.generate()
    const keySealed = vault.seal(ACCOUNT_PURPOSE, key)
    await db.write((tx) => {
      tx.run('DELETE FROM acme_accounts WHERE directory = ?', [directory])
      ACCOUNTS.insert(tx, { directory, keySealed, email: '', externalKid: '', createdAt: clock.now() })
    })
    return key
  }
}
