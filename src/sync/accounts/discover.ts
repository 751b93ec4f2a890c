// Finds the servers of an address: known providers, SRV records (RFC 6186, RFC 8314), and configuration files over HTTPS.

import { getDomain } from 'tldts'
import type { Resolver } from '../../base/resolver.ts'
import type { SafeFetch } from '../../base/safe-fetch.ts'
import type { Config } from '../../config/config.ts'
import { SERVICES, serviceOfAuth } from '../../outbound/model/connected-services.ts'
import type { DiscoveredAccount, DiscoveredServer, RemoteAuth } from '../model/records.ts'

interface DiscoverDeps {
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

/** Values that a file may have in place of parts of the address. */
const EMAIL = '%EMAILADDRESS%'
const LOCAL_PART = '%EMAILLOCALPART%'
const DOMAIN = '%EMAILDOMAIN%'
const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i
const USER_MAX = 255

interface Autoconfig {
  imap: DiscoveredServer | null
  smtp: DiscoveredServer | null
}

type Tree = Record<string, unknown>

/** The first IMAP and SMTP servers with TLS; null for what is not such a file. */
export async function readAutoconfig(xml: string, email: string): Promise<Autoconfig | null> {
  const { XMLParser } = await import('fast-xml-parser')
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseTagValue: false,
    processEntities: false,
    isArray: (name) => name === 'incomingServer' || name === 'outgoingServer',
  })
  try {
    const provider = first(treeAt(treeAt(parser.parse(xml) as unknown, 'clientConfig'), 'emailProvider'))
    const imap = serverIn(provider, 'incomingServer', 'imap', email)
    const smtp = serverIn(provider, 'outgoingServer', 'smtp', email)
    return imap === null && smtp === null ? null : { imap, smtp }
  } catch {
    return null
  }
}

function serverIn(provider: unknown, element: string, type: string, email: string): DiscoveredServer | null {
  const servers = treeAt(provider, element)
  if (!Array.isArray(servers)) return null
  for (const server of servers as unknown[]) {
    const found = textAt(server, '@type') === type ? read(server, email) : null
    if (found !== null) return found
  }
  return null
}

function read(server: unknown, email: string): DiscoveredServer | null {
  const protocol = { SSL: 'ssl', STARTTLS: 'starttls' }[
    textAt(server, 'socketType') ?? ''
  ] as DiscoveredServer['protocol']
  const host = filled(textAt(server, 'hostname') ?? '', email).toLowerCase()
  const port = Number(textAt(server, 'port'))
  const username = filled(textAt(server, 'username') ?? EMAIL, email)
  // A server without TLS would be sent the password in clear.
  if (protocol === undefined || !HOST.test(host) || !Number.isInteger(port) || port < 1 || port > 65_535) return null
  if (username.length > USER_MAX || /\p{C}/u.test(username)) return null
  return { host, port, protocol, username: username === email ? null : username }
}

function filled(text: string, email: string): string {
  const at = email.lastIndexOf('@')
  return text
    .trim()
    .replaceAll(EMAIL, email)
    .replaceAll(LOCAL_PART, email.slice(0, at))
    .replaceAll(DOMAIN, email.slice(at + 1))
}

function treeAt(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Tree)[name] : undefined
}

function textAt(value: unknown, name: string): string | undefined {
  const found = first(treeAt(value, name))
  return typeof found === 'string' ? found : undefined
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

type KnownAccount = Pick<DiscoveredAccount, 'imap' | 'smtp' | 'auth'>

const tls = (host: string, port: number): DiscoveredServer => ({ host, port, protocol: 'ssl', username: null })
const startTls = (host: string): DiscoveredServer => ({ host, port: 587, protocol: 'starttls', username: null })
const password = (imap: string, smtp: DiscoveredServer): KnownAccount => ({
  imap: tls(imap, 993),
  smtp,
  auth: 'password',
})

const connected = SERVICES.map(({ auth, imap, smtp, domains, exchanges }) => ({
  account: { auth, imap: { ...imap, username: null }, smtp: { ...smtp, username: null } } satisfies KnownAccount,
  domains,
  exchanges,
}))
const ICLOUD = password('imap.mail.me.com', startTls('smtp.mail.me.com'))
const YAHOO = password('imap.mail.yahoo.com', tls('smtp.mail.yahoo.com', 465))
const AOL = password('imap.aol.com', tls('smtp.aol.com', 465))
const FASTMAIL = password('imap.fastmail.com', tls('smtp.fastmail.com', 465))
const GMX = password('imap.gmx.net', tls('mail.gmx.net', 465))
const YANDEX = password('imap.yandex.com', tls('smtp.yandex.com', 465))
const ZOHO = password('imap.zoho.com', tls('smtp.zoho.com', 465))

const DOMAINS = new Map<string, KnownAccount>([
  ...connected.flatMap(({ account, domains }) => named(account, domains.join(' '))),
  ...named(ICLOUD, 'icloud.com me.com mac.com'),
  ...named(YAHOO, 'yahoo.com ymail.com rocketmail.com yahoo.co.uk yahoo.de yahoo.fr yahoo.it yahoo.es'),
  ...named(AOL, 'aol.com aim.com'),
  ...named(FASTMAIL, 'fastmail.com fastmail.fm'),
  ...named(GMX, 'gmx.net gmx.de gmx.at gmx.ch'),
  ...named(YANDEX, 'yandex.com yandex.ru ya.ru'),
  ...named(ZOHO, 'zoho.com zohomail.com'),
  ...named(password('imap.web.de', tls('smtp.web.de', 465)), 'web.de'),
  ...named(password('secureimap.t-online.de', tls('securesmtp.t-online.de', 465)), 't-online.de'),
  ...named(password('imap.mailbox.org', tls('smtp.mailbox.org', 465)), 'mailbox.org'),
  ...named(password('posteo.de', tls('posteo.de', 465)), 'posteo.de posteo.net'),
  ...named(password('imap.qq.com', tls('smtp.qq.com', 465)), 'qq.com foxmail.com'),
  ...named(password('imap.163.com', tls('smtp.163.com', 465)), '163.com'),
])

/** Ends of the names of MX hosts. */
const EXCHANGES: readonly (readonly [string, KnownAccount])[] = [
  ...connected.flatMap(({ account, exchanges }) => exchanges.map((end) => [end, account] as const)),
  ['.messagingengine.com', FASTMAIL],
  ['.zoho.com', ZOHO],
  ['.mx.yandex.net', YANDEX],
  ['.mail.icloud.com', ICLOUD],
]

function knownByDomain(domain: string): KnownAccount | undefined {
  return DOMAINS.get(domain)
}

function knownByExchange(host: string): KnownAccount | undefined {
  const name = `.${host.toLowerCase().replace(/\.$/, '')}`
  return EXCHANGES.find(([end]) => name.endsWith(end))?.[1]
}

function named(account: KnownAccount, domains: string): [string, KnownAccount][] {
  return domains.split(' ').map((domain) => [domain, account])
}
