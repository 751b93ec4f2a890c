// Which carrier a provider gets, how long it is kept, and what closing does to it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog } from '../../../../src/base/log.ts'
import type { Provider } from '../../../../src/outbound/model/records.ts'
import type { OpenTransport, Transport } from '../../../../src/outbound/model/transport.ts'
import { Transports, type TransportsDeps, UNUSED_MS } from '../../../../src/outbound/transports/transports.ts'
import { carrierConfig, handover, LOOPBACK_ZONE, providerOf, shortOutcomes, turns } from '../../../support/carriers.ts'
import { ManualClock } from '../../../support/clock.ts'
import { zoneResolver } from '../../../support/dns.ts'
import { startMailServer } from '../../../support/mail-server.ts'

/** A carrier that only knows whether it was closed. */
class Sample implements Transport {
  closed = 0
  readonly provider: Provider

  constructor(provider: Provider) {
    this.provider = provider
  }

  async hand(): Promise<never> {
    throw new Error('not asked for here')
  }

  async check(): Promise<never> {
    throw new Error('not asked for here')
  }

  async close(): Promise<void> {
    this.closed++
  }
}

const NO_SECRETS = { smtpPassword: null, refreshToken: null }

function open(given: Partial<TransportsDeps> = {}): { carriers: Transports; clock: ManualClock; opened: Sample[] } {
  const clock = new ManualClock()
  const opened: Sample[] = []
  const sample: OpenTransport = (provider) => {
    opened.push(new Sample(provider))
    return opened.at(-1)!
  }
  const parts = {
    clock,
    log: openLog('silent'),
    config: carrierConfig(),
    resolver: zoneResolver(LOOPBACK_ZONE),
    connections: { secretsOf: () => NO_SECRETS },
    accounts: { gmail_api: sample, outlook_api: sample, amazon_ses: sample },
    ...given,
  }
  return { carriers: new Transports(parts as TransportsDeps), clock, opened }
}

const gmail = (connectionVersion: number, id = 'dprov_a') => providerOf({ id, type: 'gmail_api', connectionVersion })

test('one carrier for each version; a newer one closes the older, a late reader gets the newer', async () => {
  const { carriers, opened } = open()
  const first = await carriers.of(gmail(1))
  assert.equal(await carriers.of(gmail(1)), first)
  assert.notEqual(await carriers.of(gmail(1, 'dprov_b')), first)
  const second = await carriers.of(gmail(2))
  assert.notEqual(second, first)
  await new Promise(setImmediate)
  assert.equal(opened[0]!.closed, 1)
  assert.equal(await carriers.of(gmail(1)), second)
  assert.equal(opened.length, 3)
})

test('unused transports are closed', async () => {
  const { carriers, clock, opened } = open()
  const first = await carriers.of(gmail(1))
  clock.advance(UNUSED_MS)
  assert.equal(await carriers.of(gmail(1)), first)
  clock.advance(UNUSED_MS + 1)
  await carriers.of(gmail(1, 'dprov_b'))
  await turns()
  assert.deepEqual(
    opened.map(({ closed }) => closed),
    [1, 0],
  )
  assert.notEqual(await carriers.of(gmail(1)), first)
})

test('a transport that failed to open is opened again', async () => {
  let tries = 0
  const failing: OpenTransport = (provider) => {
    if (++tries === 1) throw new Error('the secret is not ours')
    return new Sample(provider)
  }
  const { carriers } = open({ accounts: { gmail_api: failing, outlook_api: failing, amazon_ses: failing } })
  await assert.rejects(carriers.of(gmail(1)), /the secret is not ours/)
  assert.ok(await carriers.of(gmail(1)))
})

test('closing closes everything', async () => {
  const { carriers, opened } = open()
  await carriers.of(gmail(1))
  await carriers.of(gmail(1, 'dprov_b'))
  await carriers.close()
  assert.deepEqual(
    opened.map(({ closed }) => closed),
    [1, 1],
  )
})

test('an SMTP account authenticates with its stored secret', async () => {
  const passwords: string[] = []
  await using server = await startMailServer({
    onAuth({ username, password }, _session, done) {
      passwords.push(password!)
      done(null, { user: username })
    },
  })
  const { carriers } = open({
    connections: { secretsOf: ({ id }) => ({ ...NO_SECRETS, smtpPassword: `secret of ${id}` }) },
  })
  const provider = providerOf({ smtpPort: server.port, smtpUsername: 'ann' })
  const carrier = await carriers.of(provider)
  assert.deepEqual(shortOutcomes(await carrier.hand(handover())), ['sent'])
  assert.deepEqual(passwords, [`secret of ${provider.id}`])
  await carriers.close()
})
