// A connection to a mail server, from the first packet until mail can be handed over.

import { connect, isIP, type Socket } from 'node:net'
import type { Clock } from '../../../base/clock.ts'
import { classifyReply } from '../../../reports/reply-class.ts'
import type { Stage } from '../transport.ts'
import { Wire } from './channel.ts'
import { aborted, Fault, unreachable } from './errors.ts'
import { type Extensions, NO_EXTENSIONS, readExtensions } from './extensions.ts'
import { COMMAND_MS, CONNECT_MS, GREETING_MS, TLS_MS } from './limits.ts'
import { isPositive, ownReply, type ServerReply } from './reply.ts'
import { type Credentials, signIn } from './sign-in.ts'

/** How a server is talked to. */
export interface Way {
  /** Its name, or its IP address: what its certificate must be for. */
  host: string
  port: number
  /**
   * `implicit`: TLS from the first byte. `required`: STARTTLS or nothing. `offered`: STARTTLS where it is offered, whatever the
   * certificate says (RFC 7435). `none`: in clear.
   */
  security: 'implicit' | 'required' | 'offered' | 'none'
  credentials: Credentials | null
  /** Our own name. */
  helo: string
}

/** A connection over which mail can go, one after another. */
export interface Connection {
  readonly wire: Wire
  readonly extensions: Extensions
  /** What the server calls itself in its greeting, lower-case. */
  readonly greeting: string
  /** The last reply so far: that to signing in, or to EHLO. */
  readonly reply: ServerReply
  /** Mails that were begun over it. */
  mails: number
  /** True when a mail was begun and given up: the server has to forget it before the next. */
  isDirty: boolean
}

/** @param address of the host, checked @throws Fault */
export async function openConnection(
  address: string,
  way: Way,
  parts: { clock: Clock; signal: AbortSignal },
): Promise<Connection> {
  const stage = way.security === 'implicit' ? 'tls' : 'greeting'
  const wire = new Wire(await reach(address, way, parts), { clock: parts.clock, peer: way.host, stage })
  // The greeting comes unasked.
  wire.expect(1)
  const deaf = wire.failOn(parts.signal)
  try {
    return await introduce(wire, way)
  } catch (error) {
    if (error instanceof Fault) wire.fail(error)
    throw error
  } finally {
    deaf()
  }
}

/** A socket that is connected to that very address. @throws Fault */
function reach(address: string, way: Way, parts: { clock: Clock; signal: AbortSignal }): Promise<Socket> {
  const { host, port } = way
  return new Promise((resolve, reject) => {
    if (parts.signal.aborted) return reject(aborted('connect'))
    const socket = connect({ host: address, port, noDelay: true })
    const finish = (fault: Fault | null) => {
      timer.cancel()
      parts.signal.removeEventListener('abort', abort)
      socket.off('connect', ready).off('error', broken)
      if (fault === null) return resolve(socket)
      socket.on('error', () => {}).destroy()
      reject(fault)
    }
    const ready = () => finish(null)
    const broken = (error: { code?: string }) => finish(unreachable(host, address, port, error))
    const abort = () => finish(aborted('connect'))
    const timer = parts.clock.after(CONNECT_MS, () => broken({ code: 'ETIMEDOUT' }))
    parts.signal.addEventListener('abort', abort, { once: true })
    socket.on('connect', ready).on('error', broken)
  })
}

async function introduce(wire: Wire, way: Way): Promise<Connection> {
  if (way.security === 'implicit') await secure(wire, way)
  const greeting = await heard(wire, 'greeting', GREETING_MS)
  let { reply, extensions } = await hello(wire, way)
  if (way.security === 'required' || (way.security === 'offered' && extensions.startTls)) {
    // RFC 3207 4.2: what was offered in clear is forgotten.
    if (await startTls(wire, way, extensions)) ({ reply, extensions } = await hello(wire, way))
  }
  if (way.credentials !== null) reply = await signIn(wire, extensions.auth, way.credentials)
  const name = (greeting.lines[0] ?? '').split(' ')[0]!.toLowerCase()
  return { wire, extensions, greeting: name, reply, mails: 0, isDirty: false }
}

async function hello(wire: Wire, { helo }: Way): Promise<{ reply: ServerReply; extensions: Extensions }> {
  wire.stage = 'greeting'
  wire.say(`EHLO ${helo}`)
  const reply = await wire.read(COMMAND_MS)
  if (isPositive(reply)) return { reply, extensions: readExtensions(reply) }
  if (reply.code < 500) throw refused(wire, reply)
  // RFC 5321 3.2: a server from before the extensions.
  wire.say(`HELO ${helo}`)
  return { reply: await heard(wire, 'greeting', COMMAND_MS), extensions: NO_EXTENSIONS }
}

/** @returns false where TLS was only wished for and the server would rather not */
async function startTls(wire: Wire, way: Way, { startTls: offered }: Extensions): Promise<boolean> {
  wire.stage = 'tls'
  if (!offered) throw new Fault('tls', 'tls', ownReply(`${way.host} does not offer STARTTLS on this port.`))
  wire.say('STARTTLS')
  const reply = await wire.read(COMMAND_MS)
  if (!isPositive(reply) && way.security === 'offered') return false
  if (!isPositive(reply)) throw refused(wire, reply)
  await secure(wire, way)
  return true
}

function secure(wire: Wire, { host, security }: Way): Promise<void> {
  return wire.secure({ host, isName: isIP(host) === 0, verify: security !== 'offered' }, TLS_MS)
}

/** A reply that must be a yes. @throws Fault */
async function heard(wire: Wire, stage: Stage, ms: number): Promise<ServerReply> {
  wire.stage = stage
  const reply = await wire.read(ms)
  if (!isPositive(reply)) throw refused(wire, reply)
  return reply
}

function refused(wire: Wire, reply: ServerReply): Fault {
  const kept = wire.kept(reply)
  return new Fault('refused', wire.stage, kept, classifyReply(kept).cause)
}
