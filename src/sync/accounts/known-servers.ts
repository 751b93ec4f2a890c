// Mail providers whose servers are known, by the domain of the address or by its MX.

import { SERVICES } from '../../outbound/model/connected-services.ts'
import type { DiscoveredAccount, DiscoveredServer } from '../model/records.ts'

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

export function knownByDomain(domain: string): KnownAccount | undefined {
  return DOMAINS.get(domain)
}

export function knownByExchange(host: string): KnownAccount | undefined {
  const name = `.${host.toLowerCase().replace(/\.$/, '')}`
  return EXCHANGES.find(([end]) => name.endsWith(end))?.[1]
}

function named(account: KnownAccount, domains: string): [string, KnownAccount][] {
  return domains.split(' ').map((domain) => [domain, account])
}
