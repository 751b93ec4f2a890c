// Finds the servers of an address: known providers, SRV records (RFC 6186, RFC 8314), and configuration files over HTTPS.

import { getDomain } from 'tldts'
import type { Resolver } from '../../base/resolver.ts'
import type { SafeFetch } from '../../base/safe-fetch.ts'
import type { Config } from '../../config/config.ts'
import { serviceOfAuth } from '../../outbound/model/connected-services.ts'
import type { DiscoveredAccount, DiscoveredServer, RemoteAuth } from '../model/records.ts'
import { readAutoconfig } from './autoconfig.ts'
import { knownByDomain, knownByExchange } from './known-servers.ts'

export interface DiscoverDeps {
  resolver: Resolver
  config: Config
  fetch: Pick<SafeFetch, 'get'>
}

const NOTHING: DiscoveredAccount = { imap: null, smtp: null, auth: 'password', source: 'none' }
/** Bytes of a configuration file. */
const FILE_MAX = 64 * 1024

/** @param email lower-case. Never throws because of DNS or a server. */
export async function discoverServers(deps: DiscoverDeps, email: string): Promise<DiscoveredAccount> {
  const domain = email.slice(email.lastIndexOf('@') + 1)
  const known = knownByDomain(domain) ?? (await byExchange(deps, domain))
  if (known !== undefined) {
    return { ...known, auth: usableAuth(deps, known.auth), source: 'known' }
  }
  const srv = await bySrv(deps, domain)
  if (srv.imap !== null) return { ...srv, auth: 'password', source: 'srv' }
  const file = await byFile(deps, email, domain)
  if (file !== null) return { ...file, auth: 'password', source: 'autoconfig' }
  return NOTHING
}

/** Without an OAuth client, by the password of a program where the service takes one. */
function usableAuth({ config }: DiscoverDeps, auth: RemoteAuth): RemoteAuth {
  if (auth === 'password') return auth
  const service = serviceOfAuth(auth)
  return service.takesPasswords && service.client(config).clientId === '' ? 'password' : auth
}

async function byExchange({ resolver }: DiscoverDeps, domain: string) {
  const records = (await ask(resolver, domain, 'MX')) as { priority: number; exchange: string }[]
  const [best] = records.toSorted((one, other) => one.priority - other.priority)
  return best === undefined ? undefined : knownByExchange(best.exchange)
}

async function bySrv({ resolver }: DiscoverDeps, domain: string) {
  const service = async (name: string, protocol: DiscoveredServer['protocol']): Promise<DiscoveredServer | null> => {
    const records = (await ask(resolver, `_${name}._tcp.${domain}`, 'SRV')) as SrvRecord[]
    const usable = records.filter(({ name: target }) => isOwn(target, domain))
    const [best] = usable.toSorted((one, other) => one.priority - other.priority || other.weight - one.weight)
    return best === undefined ? null : { host: best.name.toLowerCase(), port: best.port, protocol, username: null }
  }
  const [imaps, imap, submissions, submission] = await Promise.all([
    service('imaps', 'ssl'),
    service('imap', 'starttls'),
    service('submissions', 'ssl'),
    service('submission', 'starttls'),
  ])
  return { imap: imaps ?? imap, smtp: submissions ?? submission }
}

interface SrvRecord {
  name: string
  port: number
  priority: number
  weight: number
}

/**
 * RFC 6186 §6: DNS is not authenticated, so that a target of another domain needs the consent of a person; a file that came over HTTPS
 * may name one. A target of "." says that there is no such service.
 */
function isOwn(target: string, domain: string): boolean {
  const own = getDomain(domain, { allowPrivateDomains: true }) ?? domain
  return target !== '' && target !== '.' && (getDomain(target, { allowPrivateDomains: true }) ?? target) === own
}

async function byFile({ fetch }: DiscoverDeps, email: string, domain: string) {
  const query = `?emailaddress=${encodeURIComponent(email)}`
  const urls = [
    `https://autoconfig.${domain}/mail/config-v1.1.xml${query}`,
    `https://${domain}/.well-known/autoconfig/mail/config-v1.1.xml`,
    `https://autoconfig.thunderbird.net/v1.1/${domain}`,
  ]
  const answers = await Promise.all(
    urls.map((url) => fetch.get(url, { accept: 'text/xml, application/xml' }, FILE_MAX)),
  )
  for (const { accepted, body } of answers) {
    const found = accepted && body !== null ? await readAutoconfig(body, email) : null
    if (found !== null) return found
  }
  return null
}

async function ask(resolver: Resolver, name: string, type: string): Promise<unknown[]> {
  try {
    return await resolver.resolve(name, type)
  } catch {
    return []
  }
}
