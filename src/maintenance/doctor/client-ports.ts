// Checks the ports of mail programs: that they answer as they should here, and from outside with a certificate that is trusted.

import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls'
import type { Resolver } from '../../base/resolver.ts'
import { type ClientListener, LISTENER_PORTS } from '../../config/client-listeners.ts'
import { clientHost, publicPort } from '../../config/client-protocols.ts'
import type { Config } from '../../config/config.ts'
import { isReserved } from '../../directory/names/domain-name.ts'
import { type Finding, failing, fine, warning } from './finding.ts'
import { DIALOGUE_MAX, WILDCARDS } from './smtp-port.ts'

const TIMEOUT_MS = 5000
const HTTPS_PORT = 443
/** Names of autoconfiguration that are tried; addresses of CLIENT_HOST that are. */
const NAMES_MAX = 20
const ADDRESSES_MAX = 2

/** How one listener is talked to: it greets, and is asked for what it offers where TLS comes later. */
interface Dialect {
  greeting: RegExp
  /** For STARTTLS: what is sent, and what ends the answer. */
  starttls?: { ask: string; end: RegExp }
}

const IMAP_GREETING = /^\* OK /
const SMTP_GREETING = /^220[ -]/
const DIALECTS: Readonly<Record<ClientListener, Dialect>> = {
  imaps: { greeting: IMAP_GREETING },
  imap: {
    greeting: IMAP_GREETING,
    starttls: { ask: 'a CAPABILITY\r\n', end: /^a [A-Z]+\b[^\n]*\n/m },
  },
  submissions: { greeting: SMTP_GREETING },
  submission: {
    greeting: SMTP_GREETING,
    starttls: { ask: 'EHLO doctor.invalid\r\n', end: /^(?:250|[45]\d\d) [^\n]*\n/m },
  },
  managesieve: {
    greeting: /^"/,
    starttls: { ask: '', end: /^OK\b[^\n]*\n/m },
  },
}

type ServedListener = Config['CLIENT_PROTOCOLS'][number]

/** Talks to each listener on this machine. */
export function checkClientPorts(config: Config, timeoutMs = TIMEOUT_MS): Promise<Finding[]> {
  const host = WILDCARDS.get(config.CLIENT_BIND) ?? config.CLIENT_BIND
  return Promise.all(config.CLIENT_PROTOCOLS.map((name) => checkListener(config, name, host, timeoutMs)))
}

async function checkListener(config: Config, name: ServedListener, host: string, timeoutMs: number): Promise<Finding> {
  const dialect = DIALECTS[name]
  const port = config[LISTENER_PORTS[name]]
  const where = `Port ${port} (${name})`
  const heard = await talk({ host, port, timeoutMs }, dialect)
  if (heard.failure === 'ECONNREFUSED') {
    return warning('client_port', `${where} is closed: the appliance does not run.`, 'Start it with mailstead serve.')
  }
  const why = complaintOf(dialect, heard)
  if (why === null)
    return fine('client_port', `${where} answers${dialect.starttls ? ' and offers STARTTLS' : ' over TLS'}.`)
  if (config.PROXY_PROTOCOL_FROM.length > 0) {
    const advice = 'If PROXY_PROTOCOL_FROM includes this machine, this is expected: check through the proxy.'
    return warning('client_port', `${where} ${why}.`, advice)
  }
  const advice = `Check the log of the appliance, and whether another program uses the port of ${LISTENER_PORTS[name]}.`
  return failing('client_port', `${where} ${why}.`, advice)
}

/** Talks to each listener as a mail program does: by CLIENT_HOST, on the public port, trusting public authorities only. */
export async function checkClientHost(
  resolver: Resolver,
  config: Config,
  trust: ConnectionOptions = {},
): Promise<Finding[]> {
  const host = clientHost(config)
  const served = config.CLIENT_PROTOCOLS
  if (isReserved(host) || served.length === 0) return []
  const [address] = await addressesOf(resolver, host)
  if (address === undefined) {
    const says = `${host}, the host of mail programs, has no address in DNS.`
    return [failing('client_host', says, `Create an A or AAAA record for ${host}, or set CLIENT_HOST.`)]
  }
  return Promise.all(
    served.map(async (name) => {
      const target = { host: address, port: publicPort(config, name), timeoutMs: TIMEOUT_MS }
      const heard = await talk({ ...target, trust: { ...trust, servername: host } }, DIALECTS[name])
      const why = complaintOf(DIALECTS[name], heard)
      const where = `Port ${target.port} (${name}) of ${host} at ${address}`
      if (why !== null) {
        return warning('client_host', `${where} ${why}.`, `Forward it to the port of ${LISTENER_PORTS[name]}.`)
      }
      if (heard.distrust === null) return fine('client_host', `${where} answers, with a certificate that is trusted.`)
      const advice = 'Mail programs refuse it or ask: get a certificate of a public authority that names CLIENT_HOST.'
      return warning('client_host', `${where} has a certificate that is not trusted (${heard.distrust}).`, advice)
    }),
  )
}

/** Whether the web server answers for the names of autoconfiguration that DNS has. @param names such as `autoconfig.shop.example` */
export async function checkDocumentNames(
  resolver: Resolver,
  names: readonly string[],
  { port = HTTPS_PORT, trust = {} as ConnectionOptions } = {},
): Promise<Finding[]> {
  const findings = await Promise.all(
    names.slice(0, NAMES_MAX).map(async (name) => {
      const [address] = await addressesOf(resolver, name)
      if (address === undefined) return []
      const target = { host: address, port, timeoutMs: TIMEOUT_MS, trust: { ...trust, servername: name } }
      const { failure, distrust } = await talk(target, null)
      if (failure === null && distrust === null)
        return [fine('autoconfig', `https://${name} has a certificate that is trusted.`)]
      const says = `https://${name} cannot be used by mail programs (${failure ?? distrust}).`
      return [warning('autoconfig', says, 'Let the web proxy answer for this name with a certificate that names it.')]
    }),
  )
  return findings.flat()
}

async function addressesOf(resolver: Resolver, host: string): Promise<string[]> {
  const ask = (type: string) => resolver.resolve(host, type).catch(() => []) as Promise<string[]>
  const four = await ask('A')
  return (four.length > 0 ? four : await ask('AAAA')).slice(0, ADDRESSES_MAX)
}

/** What was heard of a listener. */
interface Heard {
  said: string
  /** A code of Node, `timeout` or `flood`; null when the dialogue came to its end. */
  failure: string | null
  /** Why the certificate is not trusted; null when it is, and where none was seen. */
  distrust: string | null
}

interface Target {
  host: string
  port: number
  timeoutMs: number
  /** Whether the certificate matters, and for which name. */
  trust?: ConnectionOptions
}

function complaintOf({ greeting, starttls }: Dialect, { said, failure }: Heard): string | null {
  if (!greeting.test(said)) return `does not answer as it should (${failure ?? 'another reply'})`
  if (failure === null && (starttls === undefined || /\bSTARTTLS\b/.test(said))) return null
  if (starttls === undefined) return `does not answer as it should (${failure})`
  return `offers no STARTTLS (${failure ?? 'missing in its list'})`
}

/** Connects, listens, asks where the dialect does, and leaves. @param dialect null: only the certificate is looked at, as of https */
function talk({ host, port, timeoutMs, trust }: Target, dialect: Dialect | null): Promise<Heard> {
  return new Promise((done) => {
    const heard: Heard = { said: '', failure: null, distrust: null }
    const isTls = dialect?.starttls === undefined
    // Trust is reported, not required.
    const socket: Socket = isTls
      ? tlsConnect({ ...trust, host, port, rejectUnauthorized: false })
      : connect({ host, port })
    const end = (failure: string | null) => {
      clearTimeout(timer)
      socket.destroy()
      done({ ...heard, failure })
    }
    // Of the whole dialogue: a server that drips one byte a second must not hold us.
    const timer = setTimeout(() => end('timeout'), timeoutMs)
    socket.setEncoding('latin1')
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'error'))
    socket.on('close', () => end('closed'))
    socket.on('secureConnect', () => {
      const { authorized, authorizationError } = socket as TLSSocket
      if (!authorized) heard.distrust = String(authorizationError)
      if (dialect === null) end(null)
    })
    let asked = false
    socket.on('data', (text: string) => {
      heard.said += text
      if (heard.said.length > DIALOGUE_MAX) return end('flood')
      if (dialect?.starttls === undefined) return heard.said.includes('\n') ? end(null) : undefined
      if (dialect.starttls.end.test(heard.said)) return end(null)
      if (asked || !heard.said.includes('\n')) return
      asked = true
      socket.write(dialect.starttls.ask)
    })
  })
}
