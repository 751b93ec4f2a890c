// Connects to the server of an account: its secret, its address, which is looked up and checked each time, and the sign-in.

import type { Clock } from '../../base/clock.ts'
import { isPublicAddress } from '../../base/public-address.ts'
import type { Resolver } from '../../base/resolver.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import type { Db } from '../../db/db.ts'
import { type ConnectedAuth, serviceOfAuth } from '../../outbound/model/connected-services.ts'
import { findAddresses } from '../../outbound/transports/smtp/addresses.ts'
import type { AccessTokens } from '../accounts/access-tokens.ts'
import { openSecret, readSealed } from '../accounts/accounts-secrets.ts'
import type { RemoteAccount } from '../model/records.ts'
import { type AccountServer, type OpenServer, ServerError } from '../model/server.ts'
import type { ChannelSettings } from './imap-channel.ts'
import { openImapServer } from './imap-server.ts'
import type { ResponseMemory } from './response-memory.ts'

type ServerAddress = Pick<ChannelSettings, 'host' | 'port' | 'protocol'>

export interface ConnectDeps {
  db: Db
  clock: Clock
  config: Pick<Config, 'ALLOW_PRIVATE_IMAP_HOSTS' | 'REMOTE_MAIL_PER_DAY'>
  resolver: Resolver
  vault: Vault
  tokens: Pick<AccessTokens, 'use' | 'drop'>
  /** Of the answers of all servers. */
  responses: ResponseMemory
  /** The servers of Google and Microsoft; those of the Internet unless given. */
  servers?: Readonly<Record<ConnectedAuth, ServerAddress>>
}

/** Addresses of a host that are tried. */
const ADDRESSES_TRIED = 3

export function serverOpener(deps: ConnectDeps): OpenServer {
  return (account, signal) => open(deps, account, signal)
}

async function open(deps: ConnectDeps, account: RemoteAccount, signal: AbortSignal): Promise<AccountServer> {
  try {
    return await connect(deps, account, signal)
  } catch (error) {
    if (account.auth === 'password' || !isRefused(error)) throw error
  }
  // A token can end early: another one shows whether the consent still holds.
  deps.tokens.drop(account.id)
  try {
    return await connect(deps, account, signal)
  } catch (error) {
    throw isRefused(error) ? new ServerError('failed', error.message, { kind: 'consent' }) : error
  }
}

function isRefused(error: unknown): error is ServerError {
  return error instanceof ServerError && error.kind === 'credentials'
}

async function connect(deps: ConnectDeps, account: RemoteAccount, signal: AbortSignal): Promise<AccountServer> {
  const { config, clock } = deps
  const server = addressOf(deps, account)
  if (server.protocol === 'none' && !config.ALLOW_PRIVATE_IMAP_HOSTS) {
    throw new ServerError('failed', 'A connection without TLS is not allowed on this appliance.', { kind: 'host' })
  }
  const addresses = await allowedAddresses(deps, server.host)
  const sign = await signIn(deps, account)
  const day = { day: account.day, bytes: account.dayBytes }
  let failure: unknown = null
  for (const address of addresses) {
    try {
      // A server in a private network is one of the operator's: it is read as fast as it answers.
      const isThrottled = isPublicAddress(address)
      const mailPerDay = config.REMOTE_MAIL_PER_DAY
      const memory = deps.responses.connection(account.teamId)
      const limits = { memory, day, mailPerDay, isThrottled }
      return await openImapServer({ ...server, address, ...sign }, { clock, signal, ...limits })
    } catch (error) {
      failure ??= error
      // Another address helps where the connection could not be made, not where the server answered.
      if (!(error instanceof ServerError) || !error.isUnreachable || signal.aborted) throw error
    }
  }
  throw failure
}

function addressOf({ servers }: ConnectDeps, { auth, imap }: RemoteAccount): ServerAddress {
  if (auth !== 'password') return servers?.[auth] ?? serviceOfAuth(auth).imap
  if (imap === null) throw new ServerError('failed', 'The account has no server.', { kind: 'host' })
  return imap
}

/** @throws ServerError */
async function allowedAddresses({ resolver, config }: ConnectDeps, host: string): Promise<string[]> {
  const found = await findAddresses(resolver, host, config.ALLOW_PRIVATE_IMAP_HOSTS)
  if (found.kind === 'found') return found.addresses.slice(0, ADDRESSES_TRIED)
  if (found.kind === 'unknown') throw new ServerError('delay', `DNS does not answer for ${host}.`)
  if (found.kind === 'looping') {
    throw new ServerError('delay', `The aliases (CNAME) of ${host} form a loop in DNS.`, { kind: 'host' })
  }
  if (found.kind === 'absent') throw new ServerError('delay', `There is no host ${host}.`, { kind: 'host' })
  throw new ServerError('failed', `${host} is in a private network, which is not allowed here.`, { kind: 'host' })
}

async function signIn(deps: ConnectDeps, account: RemoteAccount): Promise<Pick<ChannelSettings, 'user' | 'secret'>> {
  const row = readSealed(deps.db.read, account.id)
  if (row === undefined) {
    throw new ServerError('failed', 'The account has no password or consent.', { kind: 'credentials' })
  }
  const secret = openSecret(deps.vault, account.id, row.sealed)
  if ('password' in secret) return { user: account.imap?.username ?? account.email, secret }
  const token = await deps.tokens.use(account.id)
  return { user: account.email, secret: { token } }
}
