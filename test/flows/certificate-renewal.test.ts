// A renewed certificate is used by SMTP without a restart: its files are replaced, and the next connection gets it.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type CertificatePair, selfSigned } from '../../src/config/certificate.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { SmtpClient } from '../support/smtp.ts'

const folder = await mkdtemp(join(tmpdir(), 'mailstead-tls-'))
const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
const [old, renewed] = [await make(), await make()]
await put(old)
const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } })
after(async () => {
  await appliance.close()
  await rm(folder, { recursive: true })
})

function make(): Promise<CertificatePair> {
  return selfSigned('mx.mailstead.test', Date.UTC(2020, 0), Date.UTC(2040, 0))
}

async function put({ cert, key }: CertificatePair): Promise<void> {
  await writeFile(certFile, cert)
  await writeFile(keyFile, key)
}

async function served({ ports }: TestAppliance): Promise<string> {
  await using client = await SmtpClient.greet(ports.smtp)
  await client.startTls()
  await client.command('EHLO client.test', 250)
  return client.certificate
}

const fingerprint = ({ cert }: CertificatePair) => new X509Certificate(cert).fingerprint256

test('SMTP uses a renewed certificate from the next look on, and keeps the old one while a renewal is half done', async () => {
  assert.equal(await served(appliance), fingerprint(old))
  await writeFile(certFile, renewed.cert)
  clock.advance(3_600_000)
  await appliance.app.certificate.look()
  assert.equal(await served(appliance), fingerprint(old), 'the key is still the old one')
  await writeFile(keyFile, renewed.key)
  clock.advance(3_600_000)
  await appliance.app.certificate.look()
  assert.equal(await served(appliance), fingerprint(renewed))
})

test('a receive thread that runs takes the renewed certificate, also for sessions that are open', async () => {
  await put(old)
  const env = { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, RECEIVE_THREADS: '1' }
  await using threaded = await startAppliance({ env })
  await using open = await SmtpClient.greet(threaded.ports.smtp)
  assert.equal(await served(threaded), fingerprint(old))
  await put(renewed)
  await threaded.app.certificate.look()
  assert.equal(await served(threaded), fingerprint(renewed))
  // The thread is the same one: a session from before goes on, and its STARTTLS has the new certificate.
  await open.startTls()
  await open.command('EHLO client.test', 250)
  assert.equal(open.certificate, fingerprint(renewed))
})
