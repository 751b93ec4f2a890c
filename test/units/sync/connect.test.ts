// Where an account's server may be, at each connection; whose certificate it must have; and how fast it is read.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { DAY_MS, MINUTE_MS } from '../../../src/base/durations.ts'
import { Vault } from '../../../src/base/secrets.ts'
import type { Db } from '../../../src/db/db.ts'
import { sealSecret } from '../../../src/sync/accounts/accounts-secrets.ts'
import { serverOpener } from '../../../src/sync/imap/connect.ts'
import { dayLimit, ReadThrottle } from '../../../src/sync/imap/read-throttle.ts'
import { ResponseMemory } from '../../../src/sync/imap/response-memory.ts'
import type { RemoteAccount, RemoteProtocol } from '../../../src/sync/model/records.ts'
import { ServerError } from '../../../src/sync/model/server.ts'
import { ManualClock } from '../../support/clock.ts'
import { type Zone, zoneResolver } from '../../support/dns.ts'
import { type HostileServer, startHostileImap } from '../../support/hostile-imap.ts'
import { issueCertificate } from '../../support/tls-authority.ts'

let server: HostileServer
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-connect-'))
  const issued = await issueCertificate(folder)
  const [authority, cert, key] = await Promise.all(
    [issued.authority, issued.cert, issued.key].map((file) => readFile(file, 'utf8')),
  )
  setDefaultCACertificates([...getCACertificates('default'), authority!])
  server = await startHostileImap({
    tls: { cert: cert!, key: key! },
    capability: 'STARTTLS',
    answers: {
      STARTTLS: (connection, tag) => {
        connection.write(`${tag} OK go\r\n`)
        connection.startTls()
      },
    },
  })
})
after(async () => {
  setDefaultCACertificates(getCACertificates('bundled'))
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

function open(host: string, options: { protocol?: RemoteProtocol; zone?: Zone; isAllowed?: boolean } = {}) {
  const { protocol = 'none', zone = {}, isAllowed = true } = options
  const vault = new Vault(Buffer.alloc(32))
  const sealed = sealSecret(vault, 'racc_1', { password: 'x-secret-x' })
  const imap = { host, port: server.port, protocol, username: 'ana' }
  const account = {
    n: 1,
    id: 'racc_1',
    auth: 'password',
    email: 'ana@x.test',
    imap,
    day: 0,
    dayBytes: 0,
  } as RemoteAccount
  server.commands.length = 0
  const connect = serverOpener({
    ...{ clock: new ManualClock(), vault, resolver: zoneResolver(zone) },
    db: { read: { get: () => ({ n: 1, id: 'racc_1', auth: 'password', version: 1, sealed }) } } as unknown as Db,
    config: { ALLOW_PRIVATE_IMAP_HOSTS: isAllowed, REMOTE_MAIL_PER_DAY: 0 },
    tokens: { use: () => Promise.reject(new Error('There is none.')), drop() {} },
    responses: new ResponseMemory(new ManualClock()),
  })
  return connect(account, new AbortController().signal)
}

async function refusal(opening: Promise<unknown>): Promise<ServerError> {
  const error = await opening.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ServerError, String(error))
  return error
}

for (const [what, host, zone] of [
  ['an address', '127.0.0.1', {}],
  ['localhost', 'localhost', {}],
  ['a mapped address', '::ffff:127.0.0.1', {}],
  ['a name of a private address', 'mail.firm.example', { 'mail.firm.example': { A: ['10.0.0.1'] } }],
  ['a name of metadata', 'mail.firm.example', { 'mail.firm.example': { A: ['169.254.169.254'], AAAA: ['fd00::1'] } }],
] as [string, string, Zone][]) {
  test(`${what} in a private network is not connected to`, async () => {
    const error = await refusal(open(host, { protocol: 'ssl', zone, isAllowed: false }))
    assert.deepEqual([error.effect, error.kind], ['failed', 'host'])
    assert.match(error.message, /private network/)
    assert.deepEqual(server.commands, [])
  })
}

test('without TLS only where private hosts are allowed', async () => {
  const error = await refusal(open('8.8.8.8', { isAllowed: false }))
  assert.match(error.message, /without TLS is not allowed/)
})

test('a name that does not exist may come back; a name server that does not answer too', async () => {
  assert.deepEqual(
    [(await refusal(open('nowhere.example'))).effect, (await refusal(open('nowhere.example'))).kind],
    ['delay', 'host'],
  )
  const silent: Zone = { 'mail.firm.example': { error: 'servfail' } }
  assert.match((await refusal(open('mail.firm.example', { zone: silent }))).message, /DNS does not answer/)
})

test('the certificate has to be of the name, whatever address it was connected by', async () => {
  const account = await open('localhost', { protocol: 'starttls' })
  await account.close()
  const zone: Zone = { 'mail.firm.example': { A: ['127.0.0.1'] } }
  const error = await refusal(open('mail.firm.example', { protocol: 'starttls', zone }))
  assert.deepEqual([error.effect, error.kind], ['failed', 'certificate'])
  assert.match(error.message, /is for another name/)
  assert.ok(server.commands.every((command) => !command.startsWith('LOGIN')))
})

test('the next address is tried when one does not take the connection', async () => {
  const zone: Zone = { 'mail.firm.example': { A: ['127.0.0.9', '127.0.0.1'] } }
  const account = await open('mail.firm.example', { zone })
  await account.close()
})

test('an account is read at its throttle, and not beyond the bytes of a day', async () => {
  const clock = new ManualClock()
  const { signal } = new AbortController()
  const today = Math.floor(clock.now() / DAY_MS)
  const throttle = new ReadThrottle(
    clock,
    { messagesPerS: 20, bytesPerS: 5_000_000, dayBytes: 1_000_000 },
    { day: today, bytes: 999_000 },
  )
  for (let n = 0; n < 10; n++) {
    await throttle.next(signal)
    throttle.count(20, 10)
  }
  let isDue = false
  throttle.count(20, 10)
  const due = throttle.next(signal).then(() => {
    isDue = true
  })
  await new Promise(setImmediate)
  assert.equal(isDue, false)
  clock.advance(1000)
  await due
  throttle.count(1, 1000)
  const error = await refusal(throttle.next(signal))
  assert.equal(error.retryAfterMs, DAY_MS - (clock.now() % DAY_MS) + 5 * MINUTE_MS)
  clock.advance(DAY_MS)
  await throttle.next(signal)
})

test("the bytes of a day are the lower of the provider's and of the setting in MiB", () => {
  assert.equal(dayLimit(null, 0), null)
  assert.equal(dayLimit(2_500_000_000, 0), 2_500_000_000)
  assert.equal(dayLimit(null, 10), 10_485_760)
  assert.equal(dayLimit(2_500_000_000, 10), 10_485_760)
  assert.equal(dayLimit(1_000_000, 10), 1_000_000)
})
