// SMTP authentication (RFC 4954): PLAIN, LOGIN and CRAM-MD5, and XOAUTH2 with an access token.

import { createHmac } from 'node:crypto'
import { classifyReply } from '../../../reports/reply-class.ts'
import type { SmtpChannel } from './channel.ts'
import { SmtpError } from './errors.ts'
import { COMMAND_MS } from './limits.ts'
import { ownReply, type ServerReply } from './reply.ts'

export interface Credentials {
  user: string
  password: string
  /** `password` is an access token. */
  isToken?: boolean
}

const CHALLENGE = 334
const NAMES_SHOWN = 8
/** Shorter texts are not hidden: they occur within ordinary words. */
const SECRET_LEAST = 4

type Mechanism = (channel: SmtpChannel, credentials: Credentials) => Promise<ServerReply>

const MECHANISMS = new Map<string, Mechanism>([
  ['PLAIN', plain],
  ['LOGIN', login],
  ['CRAM-MD5', cramMd5],
  ['XOAUTH2', xoauth2],
])
/** With TLS, prefer PLAIN and LOGIN: they let the server store hashed passwords. */
const SECURED = ['PLAIN', 'LOGIN', 'CRAM-MD5']
const WITH_TOKEN = ['XOAUTH2']
const IN_CLEAR = ['CRAM-MD5', 'PLAIN', 'LOGIN']

/** @param offered the mechanisms that the server offers @throws SmtpError */
export async function signIn(
  channel: SmtpChannel,
  offered: readonly string[],
  credentials: Credentials,
): Promise<ServerReply> {
  channel.stage = 'auth'
  channel.hide = hider(credentials)
  const plainly = channel.security === null ? IN_CLEAR : SECURED
  const supported = credentials.isToken === true ? WITH_TOKEN : plainly
  const name = supported.find((mechanism) => offered.includes(mechanism))
  if (name === undefined)
    throw new SmtpError('refused', 'auth', ownReply(noMechanism(channel.peer, offered)), 'transient')
  const reply = await MECHANISMS.get(name)!(channel, credentials)
  if (reply.code >= 200 && reply.code < 300) return reply
  const storedReply = channel.storedReply(reply)
  throw new SmtpError('refused', 'auth', storedReply, classifyReply(storedReply).cause)
}

function noMechanism(peer: string, offered: readonly string[]): string {
  if (offered.length === 0) return `${peer} offers no authentication on this port.`
  return `${peer} offers no supported authentication mechanism, only ${offered.slice(0, NAMES_SHOWN).join(', ')}.`
}

async function plain(channel: SmtpChannel, { user, password }: Credentials): Promise<ServerReply> {
  const secret = base64(`\0${user}\0${password}`)
  const reply = await request(channel, `AUTH PLAIN ${secret}`)
  // Some servers ignore the initial response.
  return reply.code === CHALLENGE ? request(channel, secret) : reply
}

async function login(channel: SmtpChannel, { user, password }: Credentials): Promise<ServerReply> {
  const first = await request(channel, 'AUTH LOGIN')
  if (first.code !== CHALLENGE) return first
  const second = await request(channel, base64(user))
  return second.code === CHALLENGE ? request(channel, base64(password)) : second
}

/** Google's and Microsoft's mechanism: a refusal comes as a challenge, which an empty line ends. */
async function xoauth2(channel: SmtpChannel, { user, password }: Credentials): Promise<ServerReply> {
  const reply = await request(channel, `AUTH XOAUTH2 ${base64(bearer(user, password))}`)
  return reply.code === CHALLENGE ? request(channel, '') : reply
}

function bearer(user: string, token: string): string {
  return `user=${user}\x01auth=Bearer ${token}\x01\x01`
}

/** RFC 2195. */
async function cramMd5(channel: SmtpChannel, { user, password }: Credentials): Promise<ServerReply> {
  const reply = await request(channel, 'AUTH CRAM-MD5')
  if (reply.code !== CHALLENGE) return reply
  const challenge = Buffer.from(reply.lines[0] ?? '', 'base64')
  const digest = createHmac('md5', password).update(challenge).digest('hex')
  return request(channel, base64(`${user} ${digest}`))
}

function request(channel: SmtpChannel, command: string): Promise<ServerReply> {
  channel.send(command)
  return channel.read(COMMAND_MS)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** Some servers echo the client's input: a stored reply must not contain the password in any form that was sent. */
function hider({ user, password }: Credentials): (text: string) => string {
  const forms = [base64(`\0${user}\0${password}`), base64(bearer(user, password)), base64(password), password]
  const secrets = forms.filter((secret) => secret.length >= SECRET_LEAST)
  return (text) => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text)
}
