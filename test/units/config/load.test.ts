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
    ['POW_SECRET', 'x'.repeat(31)],
    ['CLAMAV_HOST', 'x'],
    ['CLAMAV_HOST', '127.0.0.1:0'],
    ['CLAMAV_HOST', '127.0.0.1:70000'],
    ['CLAMAV_HOST', '[x]:3310'],
    ['GOOGLE_CLIENT_ID', 'id'],
    ['GOOGLE_CLIENT_SECRET', 'secret'],
    ['MICROSOFT_CLIENT_ID', 'id'],
    ['MICROSOFT_CLIENT_SECRET', 'secret'],
    ['SES_ACCESS_KEY_ID', 'AKIA'],
    ['SES_SECRET_ACCESS_KEY', 'secret'],
    ['TRUSTED_PROXIES', '1.2.3'],
    ['TRUSTED_PROXIES', '10.1/8'],
    ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['TRUSTED_PROXIES', '0x7f000001'],
    ['PROXY_PROTOCOL_FROM', '::/129'],
    ['AGENT_MAILBOX_DOMAIN', 'localhost'],
    ['AGENT_MAILBOX_DOMAIN', 'bounce.localhost'],
    ['DNS_SERVERS', '1.1.1.1:0'],
    ['DNS_SERVERS', '[::1]:0'],
    ['HTTP_PORT', '1e3'],
    ['HTTP_PORT', '0x50'],
    ['HTTP_PORT', '8080.0'],
    ['HTTP_PORT', '+8080'],
    ['HTTP_PORT', ' '],
    ['SPAM_JUNK_SCORE', '1e0'],
    ['SPAM_JUNK_SCORE', 'Infinity'],
    ['POW_SECRET', ' '.repeat(40)],
    ['APP_SECRET', '\t '.repeat(20)],
    ['SMTP_PORT', '8080'],
    ['SEND_PORT', '2525'],
    ['HTTP_PORT', '9090'],
    ['OPERATOR_BIND', '0.0.0.0:8081'],
    ['OPERATOR_BIND', '[::]:2525'],
    ['OPERATOR_BIND', '127.0.0.1:99999'],
    ['OPERATOR_BIND', '127.0.0.256:9090'],
  ]
  for (const [name, value] of wrong) {
    it(`names ${name} when it is ${value}`, () => {
      assert.throws(
        () => loadConfig({ [name]: value }, file + 'x'),
        (error: Error) => error.message.includes(name),
      )
    })
  }

  it('says what is wrong and what to do', () => {
    const cases: [Record<string, string>, string][] = [
      [
        { HTTP_PORT: '1e3' },
        'The setting HTTP_PORT is not a whole number in decimal digits. Use a value such as 8080.',
      ],
      [{ SPAM_JUNK_SCORE: '0x5' }, 'The setting SPAM_JUNK_SCORE is not a decimal number. Use a value such as 5.'],
      [{ SMTP_PORT: '8080' }, 'The settings HTTP_PORT and SMTP_PORT name the same port, 8080. Give each its own port.'],
      [
        { POW_SECRET: ' '.repeat(32) },
        'The setting POW_SECRET contains only blanks. Set 32 random bytes or more, or remove it.',
      ],
      [
        { DNS_SERVERS: '1.1.1.1:0' },
        'The setting DNS_SERVERS contains 1.1.1.1:0, which is not an ip or ip:port. Use a value such as 127.0.0.1:53.',
      ],
    ]
    for (const [env, message] of cases) assert.throws(() => loadConfig(env, file + 'x'), { message })
  })

  it('takes one port at several addresses, and free ports', () => {
    const apart = { HTTP_BIND: '127.0.0.1', SMTP_BIND: '127.0.0.2', SMTP_PORT: '8080', OPERATOR_BIND: '[::1]:8080' }
    assert.equal(loadConfig(apart, file + 'x').SMTP_PORT, 8080)
    const free = { HTTP_PORT: '0', SEND_PORT: '0', SMTP_PORT: '0', OPERATOR_BIND: '127.0.0.1:0' }
    const origins = { APP_ORIGIN: 'http://a.example', SEND_ORIGIN: 'http://b.example' }
    assert.equal(loadConfig({ ...free, ...origins }, file + 'x').HTTP_PORT, 0)
  })

  it('takes what is right', () => {
    const right = {
      ...{ POW_SECRET: 'x'.repeat(32), GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret' },
      ...{ SES_ACCESS_KEY_ID: 'AKIA', SES_SECRET_ACCESS_KEY: 'secret', TRUSTED_PROXIES: '1.2.3.4,::1,fd00::/8' },
    }
    for (const CLAMAV_HOST of ['127.0.0.1:3310', 'clamav:3310', '[::1]:3310']) {
      assert.equal(loadConfig({ ...right, CLAMAV_HOST }, file + 'x').CLAMAV_HOST, CLAMAV_HOST)
    }
  })

  it('says which of two settings is missing, and what was meant by one it does not know', async () => {
    const says = (env: Record<string, string>, words: RegExp) =>
      assert.throws(() => loadConfig(env, file + 'x'), { message: words })
    says(
      { GOOGLE_CLIENT_ID: 'id' },
      /GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET must be set together; GOOGLE_CLIENT_SECRET is missing/,
    )
    says({ HTTP_PRT: '80' }, /unknown setting HTTP_PRT\. Did you mean HTTP_PORT\?/)
    says({ SMPT_PORT: '25' }, /Did you mean SMTP_PORT\?/)
    for (const name of ['http_port', 'Http_Port', 'HttpPort', 'HTTPPORT', 'http-port', 'HTTP.PORT']) {
      says({ [name]: '80' }, new RegExp(`unknown setting ${name}\\. Did you mean HTTP_PORT\\? If it belongs`))
    }
    says({ SMTPPORT: '25' }, /Did you mean SMTP_PORT\?/)
    says({ SMTPMAXCONNECTIONS: '25' }, /Did you mean SMTP_MAX_CONNECTIONS\?/)
    says({ MAIL_HOST: 'mx.example.com' }, /Did you mean MAIL_HOSTS\?/)
    await assert.rejects(withFile('{"HTPP_PROT": 80}'), /unknown setting HTPP_PROT\. Did you mean HTTP_PORT\?/)
    await assert.rejects(withFile('{"http_port": 80}'), /unknown setting http_port\. Did you mean HTTP_PORT\?/)
    await assert.rejects(withFile('{"FAVOURITE_COLOUR": "blue"}'), /unknown setting FAVOURITE_COLOUR\.$/)
  })

  it('leaves alone what the environment holds for other programs', () => {
    const others = {
      ...{ PATH: '/bin', HOME: '/root', LANG: 'C', PWD: '/', TZ: 'UTC', HOSTNAME: 'box', TERM: 'xterm', PORT: '80' },
      ...{ NODE_ENV: 'production', NODE_VERSION: '26', npm_config_loglevel: 'error', npm_package_name: 'mailstead' },
      ...{ AWS_REGION: 'x', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', GOOGLE_APPLICATION_CREDENTIALS: 'x' },
      ...{ HTTPS_HOST: 'x', HTTP_HOST: 'x', HTTP_PROXY: 'x', http_proxy: 'x', SMTP_HOST: 'x', SMTP_USER: 'x' },
      ...{ XDG_DATA_DIRS: '/usr/share', MAIL: '/var/mail/root', DNS_SERVER_HOST: 'x', KUBERNETES_SERVICE_PORT: '443' },
      ...{
        SEND_PORTS: 'tcp://10.0.0.1:80',
        MAILSTEAD_PORT: 'tcp://10.0.0.1:80',
        HTTP_PORT_80_TCP: 'tcp://x',
        HTTP_PRT: '',
      },
    }
    assert.deepEqual(loadConfig(others, file + 'x'), loadConfig({}, file + 'x'))
  })

  it('refuses a certificate of files together with one by ACME, and one key of an external account without its id', () => {
    const files = { TLS_CERT_FILE: 'a', TLS_KEY_FILE: 'b', ACME: 'on' }
    assert.throws(() => loadConfig(files, file + 'x'), /ACME and TLS_CERT_FILE both name a certificate/)
    assert.throws(() => loadConfig({ ACME_EAB_KEY: 'YQ' }, file + 'x'), /ACME_EAB_KID is missing/)
    assert.throws(
      () => loadConfig({ ACME: 'on', ACME_DIRECTORY: 'http://a.test/dir' }, file + 'x'),
      /must be an https URL/,
    )
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
