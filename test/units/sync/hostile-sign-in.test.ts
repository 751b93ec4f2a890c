// Servers that answer wrongly until the account is signed in: each ends in an error that says what is wrong, in time, without secrets.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '../../../src/base/durations.ts'
import type { RemoteErrorKind, RemoteProtocol } from '../../../src/sync/model/records.ts'
import { ServerError } from '../../../src/sync/model/server.ts'
import { ManualClock } from '../../support/clock.ts'
import { type HostileScript, type HostileServer, startHostileImap } from '../../support/hostile-imap.ts'
import { openHostile, PASSWORD } from '../../support/hostile-session.ts'
import { issueCertificate } from '../../support/tls-authority.ts'

interface Case {
  name: string
  script: HostileScript
  protocol?: RemoteProtocol
  /** Time passes once this command, or `''` the connection, was received. */
  waitsAfter?: string
  effect: ServerError['effect']
  reason: RegExp
  kind?: RemoteErrorKind
  retryAfterMs?: (now: number) => number
}

let server: HostileServer
let folder: string
let tls: { cert: string; key: string }
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-hostile-'))
  const issued = await issueCertificate(folder)
  tls = { cert: await readFile(issued.cert, 'utf8'), key: await readFile(issued.key, 'utf8') }
  server = await startHostileImap()
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const BASE64 = Buffer.from(`\0ana@remote.test\0${PASSWORD}`).toString('base64')
let signInTag = ''
const PLAIN = 'AUTH=PLAIN STARTTLS'
const login = (answer: string): HostileScript => ({ answers: { LOGIN: answer } })

const CASES: Case[] = [
  {
    name: 'no greeting',
    script: { greeting: null },
    waitsAfter: '',
    effect: 'delay',
    reason: /did not finish the sign-in within 60/,
  },
  {
    name: 'a web server',
    script: { greeting: 'HTTP/1.1 400 Bad Request\r\n\r\n<html>' },
    waitsAfter: '',
    effect: 'delay',
    reason: /within 60/,
  },
  {
    name: 'BYE as greeting',
    script: { greeting: '* BYE overloaded, come back' },
    effect: 'delay',
    reason: /try again later: “overloaded, come back”$/,
  },
  { name: 'PREAUTH', script: { greeting: '* PREAUTH welcome, root' }, effect: 'delay', reason: /asked for no sign-in/ },
  {
    name: 'a greeting without an end',
    script: { greeting: (connection) => void connection.flood('A'.repeat(1 << 20)) },
    effect: 'delay',
    reason: /above the limits/,
  },
  {
    name: 'closed at once',
    script: { greeting: (connection) => connection.end() },
    effect: 'delay',
    reason: /ended the connection before its greeting/,
  },
  {
    name: 'a wrong password, repeated in the answer',
    script: login(`$T NO [AUTHENTICATIONFAILED] user ana with ${PASSWORD} is unknown`),
    effect: 'failed',
    kind: 'credentials',
    reason: /does not accept the user name or the password: “user ana with \*\*\* is unknown”$/,
  },
  {
    name: 'a wrong password without a code',
    script: login('$T NO invalid credentials'),
    effect: 'failed',
    kind: 'credentials',
    reason: /invalid credentials/,
  },
  {
    name: 'the password in base64 in the answer',
    script: {
      capability: 'AUTH=PLAIN',
      answers: {
        AUTHENTICATE: (connection, tag) => {
          signInTag = tag
          connection.write('+ \r\n')
        },
        [BASE64.toUpperCase()]: (connection) =>
          connection.write(`${signInTag} NO [AUTHENTICATIONFAILED] bad ${BASE64}\r\n`),
      },
    },
    effect: 'failed',
    kind: 'credentials',
    reason: /: “bad \*\*\*”$/,
  },
  {
    name: 'UNAVAILABLE',
    script: login('$T NO [UNAVAILABLE] backend down'),
    effect: 'delay',
    reason: /does not accept sign-ins now: “backend down”$/,
  },
  {
    name: 'too many connections',
    script: login('$T NO [ALERT] Too many simultaneous connections. (Failure)'),
    effect: 'delay',
    reason: /Too many simultaneous/,
  },
  {
    name: 'an application password is required',
    script: login('$T NO [ALERT] Application-specific password required: https://support.example (Failure)'),
    effect: 'failed',
    kind: 'credentials',
    reason: /Application-specific password required/,
  },
  {
    name: 'throttled as Exchange does',
    script: login('$T BAD Request is throttled. Suggested Backoff Time: 92415 milliseconds'),
    effect: 'delay',
    reason: /throttled/,
    retryAfterMs: () => 92_415,
  },
  {
    name: 'bandwidth as Gmail does',
    script: login('$T NO [OVERQUOTA] Account exceeded command or bandwidth limits. (Failure)'),
    effect: 'delay',
    reason: /each day/,
    retryAfterMs: (now) => DAY_MS - (now % DAY_MS) + 5 * MINUTE_MS,
  },
  {
    name: 'a backoff of years',
    script: login('$T BAD Request is throttled. Suggested Backoff Time: 99999999999 milliseconds'),
    effect: 'delay',
    reason: /throttled/,
    retryAfterMs: () => DAY_MS,
  },
  { name: 'BYE instead of an answer', script: login('* BYE maintenance'), effect: 'delay', reason: /maintenance/ },
  { name: 'a tagged BYE', script: login('$T BYE maintenance'), effect: 'delay', reason: /maintenance/ },
  {
    name: 'closed in the sign-in',
    script: { answers: { LOGIN: (connection) => connection.end() } },
    effect: 'delay',
    reason: /ended the connection/,
  },
  {
    name: 'no answer to the sign-in',
    script: { answers: { LOGIN: () => {} } },
    waitsAfter: 'LOGIN',
    effect: 'delay',
    reason: /within 60/,
  },
  {
    name: 'no way to sign in',
    script: { capability: 'LOGINDISABLED' },
    effect: 'failed',
    kind: 'credentials',
    reason: /no way to sign in/,
  },
  {
    name: 'NO to everything',
    script: { answers: { CAPABILITY: '$T NO no', LOGIN: '$T NO no' } },
    effect: 'failed',
    kind: 'credentials',
    reason: /: “no”$/,
  },
  {
    name: 'control characters in the answer',
    script: login('$T NO [UNAVAILABLE] \x1b[2J\x07red'),
    effect: 'delay',
    reason: /: “\[2J red|: “.?\[2J.?red/,
  },
  {
    name: 'STARTTLS is not offered',
    script: {},
    protocol: 'starttls',
    effect: 'failed',
    kind: 'host',
    reason: /does not offer STARTTLS/,
  },
  {
    name: 'PREAUTH before STARTTLS',
    script: { greeting: '* PREAUTH hi', capability: PLAIN },
    protocol: 'starttls',
    effect: 'delay',
    reason: /asked for no sign-in/,
  },
  {
    name: 'cleartext after STARTTLS',
    script: {
      capability: PLAIN,
      answers: {
        STARTTLS: (connection, tag) => connection.write(`${tag} OK go\r\n* CAPABILITY IMAP4rev1 AUTH=EVIL\r\n`),
      },
    },
    protocol: 'starttls',
    effect: 'failed',
    kind: 'certificate',
    reason: /cleartext after it had agreed/,
  },
  {
    name: 'garbage instead of a handshake',
    script: {
      capability: PLAIN,
      answers: {
        STARTTLS: (connection, tag) => {
          connection.write(`${tag} OK go\r\n`)
          // After the client's handshake has begun: together with the answer it would be an injection.
          connection.afterNext(() => connection.write('no TLS here, whatever you say\r\n'))
        },
      },
    },
    protocol: 'starttls',
    effect: 'delay',
    reason: /TLS/,
  },
  {
    name: 'a certificate of nobody',
    script: {
      capability: PLAIN,
      answers: {
        STARTTLS: (connection, tag) => {
          connection.write(`${tag} OK go\r\n`)
          connection.startTls()
        },
      },
    },
    protocol: 'starttls',
    effect: 'failed',
    kind: 'certificate',
    reason: /certificate of 127\.0\.0\.1/,
  },
  {
    name: 'no TLS on a port of TLS',
    script: {},
    protocol: 'ssl',
    effect: 'delay',
    reason: /does not speak TLS on this port/,
  },
]

for (const { name, script, protocol, waitsAfter, effect, reason, kind, retryAfterMs } of CASES) {
  test(`sign-in: ${name}`, async () => {
    const clock = new ManualClock()
    server.script = { ...script, tls }
    server.commands.length = 0
    const opened = openHostile(server, { clock, protocol })
    opened.catch(() => {})
    if (waitsAfter !== undefined) {
      await server.received(waitsAfter)
      clock.advance(61_000)
    }
    const error = await opened.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof ServerError, String(error))
    assert.deepEqual({ effect: error.effect, kind: error.kind }, { effect, kind: kind ?? null }, error.message)
    assert.match(error.message, reason)
    assert.ok(!`${error.message}${error.stack}`.includes(PASSWORD) && !error.message.includes(BASE64))
    assert.equal(error.cause, undefined)
    if (retryAfterMs !== undefined) assert.equal(error.retryAfterMs, retryAfterMs(clock.now()))
  })
}

test('sign-in: nothing is sent before TLS but the start of it', async () => {
  server.script = { capability: 'AUTH=PLAIN' }
  server.commands.length = 0
  await assert.rejects(openHostile(server, { protocol: 'starttls' }), ServerError)
  assert.ok(
    server.commands.every((command) => !/LOGIN|AUTHENTICATE|ID /.test(command)),
    server.commands.join('; '),
  )
})

test('sign-in: compression is not asked for, since nothing bounds what it becomes', async () => {
  server.script = { capability: 'COMPRESS=DEFLATE AUTH=PLAIN', answers: { AUTHENTICATE: '$T OK' } }
  server.commands.length = 0
  const account = await openHostile(server)
  await account.close()
  assert.deepEqual(
    server.commands.filter((command) => /COMPRESS/i.test(command)),
    [],
  )
})

test('sign-in: ends at once when the worker stops', async () => {
  server.script = { greeting: null }
  server.commands.length = 0
  const stop = new AbortController()
  const opened = openHostile(server, { signal: stop.signal })
  stop.abort()
  await assert.rejects(opened, /was closed/)
})
