// SMTP authentication (RFC 4954): PLAIN, LOGIN and CRAM-MD5.

import { createHmac } from 'node:crypto'
import { classifyReply } from '../../../reports/reply-class.ts'
import type { SmtpChannel } from './channel.ts'
import { SmtpError } from './errors.ts'
import { COMMAND_MS } from './limits.ts'
import { ownReply, type ServerReply } from './reply.ts'

export interface Credentials {
  user: string
  password: string
}

const CHALLENGE = 334
const NAMES_SHOWN = 8
/** Shorter texts are not hidden: they occur within ordinary words. */
const SECRET_LEAST = 4

type Way = (wire: SmtpChannel, credentials: Credentials) => Promise<ServerReply>

const WAYS = new Map<string, Way>([
  ['PLAIN', plain],
  ['LOGIN', login],
  ['CRAM-MD5', cramMd5],
])
/** With TLS, prefer PLAIN and LOGIN: they let the server store hashed passwords. */
const SECURED = ['PLAIN', 'LOGIN', 'CRAM-MD5']
const IN_CLEAR = ['CRAM-MD5', 'PLAIN', 'LOGIN']

/** @param offered the mechanisms that the server offers @throws Fault */
export async function signIn(
  wire: SmtpChannel,
  offered: readonly string[],
  credentials: Credentials,
): Promise<ServerReply> {
  wire.stage = 'auth'
  wire.hide = hider(credentials)
  const name = (wire.security === null ? IN_CLEAR : SECURED).find((way) => offered.includes(way))
  if (name === undefined) throw new SmtpError('refused', 'auth', ownReply(noWay(wire.peer, offered)), 'transient')
  const reply = await WAYS.get(name)!(wire, credentials)
  if (reply.code >= 200 && reply.code < 300) return reply
  const kept = wire.kept(reply)
  throw new SmtpError('refused', 'auth', kept, classifyReply(kept).cause)
}

function noWay(peer: string, offered: readonly string[]): string {
  if (offered.length === 0) return `${peer} does not let anybody sign in on this port.`
  return `${peer} offers no way to sign in that is known here, only ${offered.slice(0, NAMES_SHOWN).join(', ')}.`
}

async function plain(wire: SmtpChannel, { user, password }: Credentials): Promise<ServerReply> {
  const secret = base64(`\0${user}\0${password}`)
  const reply = await ask(wire, `AUTH PLAIN ${secret}`)
  // Some servers ignore the initial response.
  return reply.code === CHALLENGE ? ask(wire, secret) : reply
}

async function login(wire: SmtpChannel, { user, password }: Credentials): Promise<ServerReply> {
  const first = await ask(wire, 'AUTH LOGIN')
  if (first.code !== CHALLENGE) return first
  const second = await ask(wire, base64(user))
  return second.code === CHALLENGE ? ask(wire, base64(password)) : second
}

/** RFC 2195. */
async function cramMd5(wire: SmtpChannel, { user, password }: Credentials): Promise<ServerReply> {
  const reply = await ask(wire, 'AUTH CRAM-MD5')
  if (reply.code !== CHALLENGE) return reply
  const challenge = Buffer.from(reply.lines[0] ?? '', 'base64')
  const digest = createHmac('md5', password).update(challenge).digest('hex')
  return ask(wire, base64(`${user} ${digest}`))
}

function ask(wire: SmtpChannel, command: string): Promise<ServerReply> {
  wire.say(command)
  return wire.read(COMMAND_MS)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** Some servers echo the client's input: a stored reply must not contain the password in any form that was sent. */
function hider({ user, password }: Credentials): (text: string) => string {
  const secrets = [base64(`\0${user}\0${password}`), base64(password), password].filter(
    (secret) => secret.length >= SECRET_LEAST,
  )
  return (text) => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text)
}
