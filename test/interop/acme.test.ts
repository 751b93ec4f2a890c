// Certificates from Pebble, another implementation of the authority's side of RFC 8555.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import { type ApplianceSetup, freePorts, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startDns, type Zone } from '../support/dns.ts'
import { eventually } from '../support/eventually.ts'
import { type PebbleSetup, pebbleMissing, startPebble } from '../support/pebble.ts'
import { servedCertificate } from '../support/served-certificate.ts'

const HOST = 'mail.pebble.test'
const ZONE: Zone = { [HOST]: { A: ['127.0.0.1'] } }

async function withPebble(
  setup: Partial<PebbleSetup>,
  run: (context: {
    appliance: TestAppliance
    clock: ManualClock
    root: X509Certificate
    log: () => string
  }) => Promise<void>,
  more: ApplianceSetup = {},
): Promise<void> {
  const [http, https] = await freePorts()
  await using dns = await startDns({ ...ZONE, ...more.zone })
  await using pebble = await startPebble({ dns: dns.address, httpPort: http, tlsPort: https, ...setup })
  const clock = new ManualClock(Date.now())
  await using appliance = await startAppliance({
    ...more,
    clock,
    env: {
      ...{ HTTP_PORT: String(http), APP_ORIGIN: `http://127.0.0.1:${http}`, DNS_SERVERS: dns.address },
      ...{ MAIL_HOSTS: HOST, ACME: 'on', ACME_DIRECTORY: pebble.directory, ACME_EMAIL: 'owner@pebble.test' },
      EXTRA_CA_FILE: pebble.authority,
      ...more.env,
    },
  })
  await run({ appliance, clock, root: new X509Certificate(await pebble.root()), log: pebble.log })
}

/** Takes steps until the certificate of the mail host is in this state. */
async function reach({ appliance, clock }: { appliance: TestAppliance; clock: ManualClock }, state: string) {
  const first = () => appliance.app.certificates.list()[0]
  await eventually(
    async () => {
      clock.advance(2000)
      await appliance.settle()
      return first()
    },
    (one) => one?.state === state,
  )
  return first()!
}

describe('certificates from Pebble', { skip: pebbleMissing() }, () => {
  it('come by HTTP-01 through the plain listener, and are served by every listener without a restart', async () => {
    await withPebble({}, async ({ appliance, clock, root }) => {
      const before = await servedCertificate(appliance.ports.imaps, HOST)
      assert.equal(before.subject, `CN=${HOST}`, 'the self-signed one')
      const { served } = await reach({ appliance, clock }, 'proven')
      assert.deepEqual(served!.names, [HOST])
      for (const [port, starttls] of [
        [appliance.ports.imaps, null],
        [appliance.ports.submissions, null],
        [appliance.ports.smtp, 'smtp'],
        [appliance.ports.submission, 'smtp'],
      ] as const) {
        const { issuer, fingerprint256 } = await servedCertificate(port, HOST, starttls)
        assert.match(issuer, /Pebble Intermediate/)
        assert.notEqual(fingerprint256, before.fingerprint256)
      }
      assert.match(root.subject, /Pebble Root/)
    })
  })
})
