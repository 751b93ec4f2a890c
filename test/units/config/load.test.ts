// Settings: where they come from, and the sentence that names a wrong one.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'

let folder: string
let file: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-config-'))
  file = join(folder, 'mailstead.json')
})
after(() => rm(folder, { recursive: true }))

const withFile = async (content: string, env: Record<string, string> = {}) => {
  await writeFile(file, content)
  return loadConfig(env, file)
}

describe('loadConfig', () => {
  it('works with nothing given', () => {
    const config = loadConfig({}, join(folder, 'none.json'))
    assert.equal(config.SMTP_PORT, 2525)
    assert.equal(config.APP_ORIGIN, 'http://localhost:8080')
    assert.equal(config.SEND_ORIGIN, 'http://localhost:8081')
    assert.deepEqual(config.MAIL_HOSTS, ['localhost'])
  })

  it('takes the environment before the file before the default', async () => {
    const config = await withFile('{"SMTP_PORT": 25, "HTTP_PORT": 80, "MAIL_HOSTS": ["mx.example.com"]}', {
      HTTP_PORT: '81',
    })
    assert.deepEqual([config.SMTP_PORT, config.HTTP_PORT, config.SEND_PORT], [25, 81, 8081])
    assert.equal(config.APP_ORIGIN, 'http://localhost:81')
    assert.deepEqual(config.MAIL_HOSTS, ['mx.example.com'])
  })

  it('reads lists with commas', () => {
    const config = loadConfig(
      { DNS_SERVERS: '127.0.0.1:5353, [::1]:53', TRUSTED_PROXIES: '10.0.0.0/8,::1' },
      file + 'x',
    )
    assert.deepEqual(config.DNS_SERVERS, ['127.0.0.1:5353', '[::1]:53'])
    assert.deepEqual(config.TRUSTED_PROXIES, ['10.0.0.0/8', '::1'])
  })

  const wrong: [string, string][] = [
    ['SMTP_PORT', '70000'],
    ['SMTP_PORT', 'smtp'],
    ['SMTP_PORT', '25.5'],
    ['LOG_LEVEL', 'loud'],
    ['APP_ORIGIN', 'mail.example'],
    ['APP_ORIGIN', 'https://mail.example/path'],
    ['MAIL_HOSTS', 'mx example'],
    ['MAIL_HOSTS', 'MX.EXAMPLE'],
    ['DNS_SERVERS', 'localhost:53'],
    ['DNS_SERVERS', '127.0.0.1:99999'],
    ['TRUSTED_PROXIES', '10.0.0.0/64'],
    ['PROXY_PROTOCOL_FROM', 'all'],
    ['APP_SECRET', 'short'],
    ['TLS_CERT_FILE', '/cert.pem'],
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['SPAM_REFUSE_SCORE', '1'],
    ['LOG_RETENTION_DAYS', '-1'],
  ]
  for (const [name, value] of wrong) {
    it(`names ${name} when it is ${value}`, () => {
      assert.throws(
        () => loadConfig({ [name]: value }, file + 'x'),
        (error: Error) => error.message.includes(name),
      )
    })
  }

  it('refuses two origins that are one', () => {
    const same = { APP_ORIGIN: 'https://a.example', SEND_ORIGIN: 'https://a.example' }
    assert.throws(() => loadConfig(same, file + 'x'), /APP_ORIGIN and SEND_ORIGIN must differ/)
  })

  it('says what is wrong with the file', async () => {
    await assert.rejects(withFile('{'), /not valid JSON/)
    await assert.rejects(withFile('[]'), /one JSON object/)
    await assert.rejects(withFile('{"SMTP_PROT": 25}'), /unknown setting SMTP_PROT/)
    await assert.rejects(withFile('{"SMTP_PORT": "25"}'), /SMTP_PORT/)
  })

  it('never prints a secret', () => {
    assert.throws(
      () => loadConfig({ APP_SECRET: 'hunter2' }, file + 'x'),
      (error: Error) => !error.message.includes('hunter2'),
    )
  })
})
