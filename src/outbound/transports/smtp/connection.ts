// Opens a connection to a mail server: TCP, TLS, greeting, EHLO and authentication.

import { connect, isIP, type Socket } from 'node:net'
import type { Clock } from '../../../base/clock.ts'
import { classifyReply } from '../../../reports/reply-class.ts'
import type { Stage } from '../transport.ts'
import { SmtpChannel } from './channel.ts'
import { aborted, SmtpError, unreachable } from './errors.ts'
import { type Extensions, NO_EXTENSIONS, readExtensions } from './extensions.ts'
import { COMMAND_MS, CONNECT_MS, GREETING_MS, TLS_MS } from './limits.ts'
import { isPositive, ownReply, type ServerReply } from './reply.ts'
import { type Credentials, signIn } from './sign-in.ts'

/** How to connect to a server. */
export interface ServerSettings {
  /** Its name or IP address; the certificate must match it. */
  host: string
  port: number
  /**
   * `implicit`: TLS from the first byte. `required`: fail without STARTTLS. `offered`: STARTTLS if offered, with any certificate
   * (RFC 7435). `none`: cleartext.
   */
  security: 'implicit' | 'required' | 'offered' | 'none'
  credentials: Credentials | null
  /** Our host name in EHLO. */
  helo: string
}

/** A connection that is ready for messages, one after another. */
export interface Connection {
  readonly wire: SmtpChannel
  readonly extensions: Extensions
  /** The server's name in its greeting, lower-case. */
  readonly greeting: string
  /** The last reply of the setup: to AUTH, or to EHLO. */
  readonly reply: ServerReply
  /** Number of transactions started on it. */
  mails: number
  /** True when a transaction was left unfinished: the next one needs RSET first. */
  isDirty: boolean
}

/** @param address checked IP address of the host @throws Fault */
export async function openConnection(
  address: string,
  way: ServerSettings,
  deps: { clock: Clock; signal: AbortSignal },
): Promise<Connection> {
  const stage = way.security === 'implicit' ? 'tls' : 'greeting'
  const wire = new SmtpChannel(await reach(address, way, deps), { clock: deps.clock, peer: way.host, stage })
  // The server sends its greeting first.
  wire.expect(1)
  const deaf = wire.failOn(deps.signal)
  try {
    return await introduce(wire, way)
  } catch (error) {
    if (error instanceof SmtpError) wire.fail(error)
    throw error
  } finally {
    deaf()
  }
}

/** Connects a socket to exactly this address. @throws Fault */
function reach(address: string, way: ServerSettings, deps: { clock: Clock; signal: AbortSignal }): Promise<Socket> {
  const { host, port } = way
  return new Promise((resolve, reject) => {
    if (deps.signal.aborted) return reject(aborted('connect'))
    const socket = connect({ host: address, port, noDelay: true })
    const finish = (fault: SmtpError | null) => {
      timer.cancel()
      deps.signal.removeEventListener('abort', abort)
      socket.off('connect', ready).off('error', broken)
      if (fault === null) return resolve(socket)
      socket.on('error', () => {}).destroy()
      reject(fault)
    }
    const ready = () => finish(null)
    const broken = (error: { code?: string }) => finish(unreachable(host, address, port, error))
    const abort = () => finish(aborted('connect'))
    const timer = deps.clock.after(CONNECT_MS, () => broken({ code: 'ETIMEDOUT' }))
    deps.signal.addEventListener('abort', abort, { once: true })
    socket.on('connect', ready).on('error', broken)
  })
}

async function introduce(wire: SmtpChannel, way: ServerSettings): Promise<Connection> {
  if (way.security === 'implicit') await secure(wire, way)
  const greeting = await heard(wire, 'greeting', GREETING_MS)
  let { reply, extensions } = await hello(wire, way)
  if (way.security === 'required' || (way.security === 'offered' && extensions.startTls)) {
    // RFC 3207 §4.2: discard the extensions learned before TLS.
    if (await startTls(wire, way, extensions)) ({ reply, extensions } = await hello(wire, way))
  }
  if (way.credentials !== null) reply = await signIn(wire, extensions.auth, way.credentials)
  const name = (greeting.lines[0] ?? '').split(' ')[0]!.toLowerCase()
  return { wire, extensions, greeting: name, reply, mails: 0, isDirty: false }
}

async function hello(
  wire: SmtpChannel,
  { helo }: ServerSettings,
): Promise<{ reply: ServerReply; extensions: Extensions }> {
  wire.stage = 'greeting'
  wire.say(`EHLO ${helo}`)
  const reply = await wire.read(COMMAND_MS)
  if (isPositive(reply)) return { reply, extensions: readExtensions(reply) }
  if (reply.code < 500) throw refused(wire, reply)
  // RFC 5321 §3.2: fall back to HELO for a server without EHLO.
  wire.say(`HELO ${helo}`)
  return { reply: await heard(wire, 'greeting', COMMAND_MS), extensions: NO_EXTENSIONS }
}

/** @returns false when TLS is optional and the server declines STARTTLS */
async function startTls(wire: SmtpChannel, way: ServerSettings, { startTls: offered }: Extensions): Promise<boolean> {
  wire.stage = 'tls'
  if (!offered) throw new SmtpError('tls', 'tls', ownReply(`${way.host} does not offer STARTTLS on this port.`))
  wire.say('STARTTLS')
  const reply = await wire.read(COMMAND_MS)
  if (!isPositive(reply) && way.security === 'offered') return false
  if (!isPositive(reply)) throw refused(wire, reply)
  await secure(wire, way)
  return true
}

function secure(wire: SmtpChannel, { host, security }: ServerSettings): Promise<void> {
  return wire.secure({ host, isName: isIP(host) === 0, verify: security !== 'offered' }, TLS_MS)
}

/** Reads a reply that must be positive. @throws Fault */
async function heard(wire: SmtpChannel, stage: Stage, ms: number): Promise<ServerReply> {
  wire.stage = stage
  const reply = await wire.read(ms)
  if (!isPositive(reply)) throw refused(wire, reply)
  return reply
}

function refused(wire: SmtpChannel, reply: ServerReply): SmtpError {
  const kept = wire.kept(reply)
  return new SmtpError('refused', wire.stage, kept, classifyReply(kept).cause)
}
