// Certificates from Pebble, another implementation of the authority's side of RFC 8555.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import type { CertificateStatus } from '../../src/certificates/certificates.ts'
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
  more: ApplianceSetup & { https?: boolean } = {},
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
      ...(more.https ? { HTTPS_PORT: String(https) } : {}),
      ...more.env,
    },
  })
  await run({ appliance, clock, root: new X509Certificate(await pebble.root()), log: pebble.log })
}

interface Running {
  appliance: TestAppliance
  clock: ManualClock
}

/** Takes steps until the certificate of the mail host is in this state. */
async function reach({ appliance, clock }: Running, state: string) {
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

  it('come by TLS-ALPN-01 where port 80 is closed, and HTTPS serves each name its own', async () => {
    const [unused] = await freePorts()
    const web = 'app.pebble.test'
    await withPebble(
      { httpPort: unused, env: { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' } },
      async ({ appliance, clock }) => {
        const { certificates } = appliance.app
        const every = (holds: (one: CertificateStatus) => boolean) =>
          eventually(async () => {
            clock.advance(2000)
            await appliance.settle()
            return certificates.list().length === 2 && certificates.list().every(holds)
          })
        await every(({ failures }) => failures === 1)
        for (const { reason, method } of certificates.list()) {
          assert.match(reason!, /could not prove \S+ by http-01: .*refused/)
          assert.equal(method, 'tls-alpn-01', 'the way that is tried next')
        }
        // The pause before the next order is left out.
        for (const { name } of certificates.list()) await certificates.renew(name)
        await every(({ state }) => state === 'proven')
        for (const name of [HOST, web]) {
          const served = await servedCertificate(appliance.ports.https, name)
          assert.notEqual(served.checkHost(name), undefined, name)
        }
        const unnamed = await servedCertificate(appliance.ports.https, 'elsewhere.test')
        assert.notEqual(unnamed.checkHost(HOST), undefined, 'the certificate of the mail host is the usual one')
      },
      { zone: { [web]: { A: ['127.0.0.1'] } }, env: { APP_ORIGIN: `https://${web}` }, https: true },
    )
  })
})
