// Reads the configuration files that Thunderbird and others look for (config-v1.1.xml).

import type { DiscoveredServer } from '../model/records.ts'

/** Values that a file may have in place of parts of the address. */
const EMAIL = '%EMAILADDRESS%'
const LOCAL_PART = '%EMAILLOCALPART%'
const DOMAIN = '%EMAILDOMAIN%'
const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i
const USER_MAX = 255

export interface Autoconfig {
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
