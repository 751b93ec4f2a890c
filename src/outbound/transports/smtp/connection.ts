// Opens a connection to a mail server: TCP, TLS, greeting, EHLO and authentication.

import { connect, isIP, type Socket } from 'node:net'
import type { Clock } from '../../../base/clock.ts'
import { onAbort } from '../../../base/on-abort.ts'
import { classifyReply } from '../../../reports/reply-class.ts'
import type { Stage } from '../../model/transport.ts'
import { type PeerCheck, SmtpChannel } from './channel.ts'
import { aborted, noStartTls, SmtpError, unreachable } from './errors.ts'
import { type Extensions, NO_EXTENSIONS, readExtensions } from './extensions.ts'
import { COMMAND_MS, CONNECT_MS, GREETING_MS, TLS_MS } from './limits.ts'
import { isPositive, type ServerReply } from './reply.ts'
import { type Credentials, signIn } from './sign-in.ts'

/** How to connect to a server. */
export interface ServerSettings {
  /** Its name or IP address; the certificate must match it. */
  host: string
  port: number
  /**
   * `implicit`: TLS from the first byte. `required`: fail without STARTTLS. `offered`: STARTTLS if offered, with any certificate
   * (RFC 7435). `none`: cleartext. `policy`: fail without STARTTLS, and where `peerCheck` finds a failure.
   */
  security: 'implicit' | 'required' | 'offered' | 'policy' | 'none'
  peerCheck?: PeerCheck
  credentials: Credentials | null
  /** Our host name in EHLO. */
  helo: string
}

/** A connection that is ready for messages, one after another. */
export interface Connection {
  readonly channel: SmtpChannel
  readonly extensions: Extensions
  /** The server's name in its greeting, lower-case. */
  readonly greeting: string
  /** The last reply of the setup: to AUTH, or to EHLO. */
  readonly reply: ServerReply
  /** Number of transactions started on it. */
  transactions: number
  /** True when a transaction was left unfinished: the next one needs RSET first. */
  isDirty: boolean
}

/** @param address checked IP address of the host @throws SmtpError */
export async function openConnection(
  address: string,
  settings: ServerSettings,
  deps: { clock: Clock; signal: AbortSignal },
): Promise<Connection> {
  const stage = settings.security === 'implicit' ? 'tls' : 'greeting'
  const channel = new SmtpChannel(await connectTo(address, settings, deps), {
    clock: deps.clock,
    peer: settings.host,
    stage,
  })
  // The server sends its greeting first.
  channel.expect(1)
  const unlisten = channel.failOn(deps.signal)
  try {
    return await setUp(channel, settings)
  } catch (error) {
    if (error instanceof SmtpError) channel.fail(error)
    throw error
  } finally {
    unlisten()
  }
}

/** Connects a socket to exactly this address. @throws SmtpError */
function connectTo(
  address: string,
  settings: ServerSettings,
  deps: { clock: Clock; signal: AbortSignal },
): Promise<Socket> {
  const { host, port } = settings
  return new Promise((resolve, reject) => {
    if (deps.signal.aborted) return reject(aborted('connect'))
    const socket = connect({ host: address, port, noDelay: true })
    const finish = (error: SmtpError | null) => {
      timer.cancel()
      unlisten()
      socket.off('connect', ready).off('error', broken)
      if (error === null) return resolve(socket)
      socket.on('error', () => {}).destroy()
      reject(error)
    }
    const ready = () => finish(null)
    const broken = (error: { code?: string }) => finish(unreachable(host, address, port, error))
    const abort = () => finish(aborted('connect'))
    const timer = deps.clock.after(CONNECT_MS, () => broken({ code: 'ETIMEDOUT' }))
    const unlisten = onAbort(deps.signal, abort)
    socket.on('connect', ready).on('error', broken)
  })
}

async function setUp(channel: SmtpChannel, settings: ServerSettings): Promise<Connection> {
  if (settings.security === 'implicit') await secure(channel, settings)
  const greeting = await expectPositive(channel, 'greeting', GREETING_MS)
  let { reply, extensions } = await ehlo(channel, settings)
  const isTlsNeeded = settings.security === 'required' || settings.security === 'policy'
  if (isTlsNeeded || (settings.security === 'offered' && extensions.startTls)) {
    // RFC 3207 §4.2: discard the extensions learned before TLS.
    if (await startTls(channel, settings, extensions)) ({ reply, extensions } = await ehlo(channel, settings))
  }
  if (settings.credentials !== null) reply = await signIn(channel, extensions.auth, settings.credentials)
  const name = (greeting.lines[0] ?? '').split(' ')[0]!.toLowerCase()
  return { channel, extensions, greeting: name, reply, transactions: 0, isDirty: false }
}

async function ehlo(
  channel: SmtpChannel,
  { helo }: ServerSettings,
): Promise<{ reply: ServerReply; extensions: Extensions }> {
  channel.stage = 'greeting'
  channel.send(`EHLO ${helo}`)
  const reply = await channel.read(COMMAND_MS)
  if (isPositive(reply)) return { reply, extensions: readExtensions(reply) }
  if (reply.code < 500) throw refused(channel, reply)
  // RFC 5321 §3.2: fall back to HELO for a server without EHLO.
  channel.send(`HELO ${helo}`)
  return { reply: await expectPositive(channel, 'greeting', COMMAND_MS), extensions: NO_EXTENSIONS }
}

/** @returns false when TLS is optional and the server declines STARTTLS */
async function startTls(
  channel: SmtpChannel,
  settings: ServerSettings,
  { startTls: offered }: Extensions,
): Promise<boolean> {
  channel.stage = 'tls'
  if (!offered) throw noStartTls(settings.host)
  channel.send('STARTTLS')
  const reply = await channel.read(COMMAND_MS)
  if (!isPositive(reply) && settings.security === 'offered') return false
  if (!isPositive(reply)) throw refused(channel, reply)
  await secure(channel, settings)
  return true
}

function secure(channel: SmtpChannel, { host, security, peerCheck }: ServerSettings): Promise<void> {
  const verify = security !== 'offered' && security !== 'policy'
  return channel.secure({ host, isName: isIP(host) === 0, verify, peerCheck }, TLS_MS)
}

/** Reads a reply that must be positive. @throws SmtpError */
async function expectPositive(channel: SmtpChannel, stage: Stage, ms: number): Promise<ServerReply> {
  channel.stage = stage
  const reply = await channel.read(ms)
  if (!isPositive(reply)) throw refused(channel, reply)
  return reply
}

function refused(channel: SmtpChannel, reply: ServerReply): SmtpError {
  const storedReply = channel.storedReply(reply)
  return new SmtpError('refused', channel.stage, storedReply, classifyReply(storedReply).cause)
}
