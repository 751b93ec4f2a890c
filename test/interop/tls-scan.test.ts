// sslscan, which tries versions and ciphers of TLS, finds nothing on any port.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { freePorts, startAppliance } from '../support/appliance.ts'
import { missingProgram } from '../support/programs.ts'
import { issueCertificate } from '../support/tls-authority.ts'

const run = promisify(execFile)
/** What sslscan prints of an old version, a weak cipher, or a known defect. */
const FINDINGS = [
  /^(?:SSLv[23]|TLSv1\.[01]) +enabled/m,
  /^(?!.*not vulnerable).*\bvulnerable\b/m,
  /^(?:Preferred|Accepted) .*(?:\b(?:40|56|112) bits|NULL|anon|RC4|3DES|EXP)/im,
  /Insecure session renegotiation/,
  /^Compression enabled/m,
]

test('no port of TLS has an old version, a weak cipher or a known defect', {
  skip: missingProgram('sslscan') || missingProgram('openssl', ['version']),
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-scan-'))
  const { cert, key } = await issueCertificate(folder)
  const [https] = await freePorts()
  await using appliance = await startAppliance({
    env: {
      HTTPS_PORT: String(https),
      TLS_CERT_FILE: cert,
      TLS_KEY_FILE: key,
      APP_ORIGIN: `https://localhost:${https}`,
    },
  })
  const { ports } = appliance
  for (const [name, port, starttls] of [
    ['https', ports.https, []],
    ['imaps', ports.imaps, []],
    ['submissions', ports.submissions, []],
    ['smtp', ports.smtp, ['--starttls-smtp']],
    ['submission', ports.submission, ['--starttls-smtp']],
    ['imap', ports.imap, ['--starttls-imap']],
  ] as const) {
    const { stdout } = await run('sslscan', ['--no-colour', ...starttls, `127.0.0.1:${port}`])
    assert.match(stdout, /TLSv1\.3 +enabled/, name)
    assert.match(stdout, /(?:Preferred|Accepted) .*TLSv1\.[23]/, name)
    for (const finding of FINDINGS) assert.doesNotMatch(stdout, finding, name)
  }
  await rm(folder, { recursive: true, force: true })
})
