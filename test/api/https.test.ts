// HTTPS by itself: both versions of HTTP on one port, the surface by host name, and the Sending API below a path.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { freePorts, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { type Http2Client, http2Client } from '../support/http2.ts'
import { missingProgram } from '../support/programs.ts'
import { issueCertificate } from '../support/tls-authority.ts'

describe('HTTPS', { skip: missingProgram('openssl', ['version']) }, () => {
  let folder: string
  let appliance: TestAppliance
  let team: TestTeam
  let port: number
  let h2: Http2Client

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mailstead-https-'))
    const { cert, key } = await issueCertificate(folder)
    const [https] = await freePorts()
    const origin = `https://localhost:${https}`
    const names = { HTTPS_PORT: String(https), APP_ORIGIN: origin, SEND_ORIGIN: origin }
    appliance = await startAppliance({ env: { ...names, TLS_CERT_FILE: cert, TLS_KEY_FILE: key } })
    port = appliance.ports.https
    team = await appliance.team()
    await team.domain('https.test')
    h2 = await http2Client(port, 'localhost')
  })
  after(async () => {
    await h2?.[Symbol.asyncDispose]()
    await appliance?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const bearer = () => ({ authorization: `Bearer ${team.key}` })

  it('serves reads, writes and errors over HTTP/2 as over HTTP/1.1', async () => {
    const list = await h2.request({ ':path': '/api/v1/domains', ...bearer() })
    assert.equal(list.status, 200)
    assert.equal(JSON.parse(list.text).data[0].domain, 'https.test')
    assert.match(String(list.headers['x-request-id']), /^req_/)
    const body = JSON.stringify({ email: 'one@https.test' })
    const made = await h2.request(
      { ':path': '/api/v1/mailboxes', 'content-type': 'application/json', ...bearer() },
      body,
    )
    assert.equal(made.status, 201, made.text)
    const wrong = await h2.request({ ':path': '/api/v1/nothing', ...bearer() })
    assert.equal(wrong.status, 404)
    assert.equal((await h2.request({ ':path': '/api/v1/domains' })).status, 401)
    const head = await h2.request({ ':method': 'HEAD', ':path': '/api/v1/domains', ...bearer() })
    assert.deepEqual([head.status, head.text], [200, ''])
    const first = await http1('/api/v1/domains', 'localhost', bearer())
    assert.equal(first.status, 200)
  })

  it('sends pages and streams over HTTP/2', async () => {
    const page = await h2.request({ ':path': '/docs', accept: 'text/html' })
    assert.equal(page.status, 200)
    assert.match(page.text, /<html/)
    const mailbox = await team.mailbox('two@https.test')
    const stream = h2.session.request({
      ':path': '/api/v1/mailbox/events/stream',
      authorization: `Bearer ${mailbox.key}`,
      accept: 'text/event-stream',
    })
    const [reply] = await once(stream, 'response')
    assert.ok([200, 404].includes(reply[':status']), String(reply[':status']))
    stream.close()
  })

  it('serves the Sending API below /send, where both have one origin', async () => {
    const sent = await h2.request(
      { ':path': '/send/api/v1/emails/send', 'content-type': 'application/json', ...bearer() },
      '{}',
    )
    assert.equal(JSON.parse(sent.text).error.param, 'to')
    const metadata = await h2.request({ ':path': '/send/.well-known/oauth-protected-resource/api/v1' })
    assert.equal(JSON.parse(metadata.text).resource, `https://localhost:${port}/send/api/v1`)
  })

  it('serves the documents of a domain at its own names, and nothing else there', async () => {
    const paths = ['/mail/config-v1.1.xml', '/api/v1/domains', '/docs']
    const replies = await Promise.all(paths.map((path) => http1(path, 'autoconfig.https.test', bearer())))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 401, 404].map((status, index) => (index === 1 ? replies[1]!.status : status)),
    )
    assert.ok([401, 404].includes(replies[1]!.status))
  })

  it('answers 421 for a name that is not served', async () => {
    for (const host of ['other.test', 'autoconfig.other.test', '']) {
      const { status, text } = await http1('/api/v1/domains', host, bearer())
      assert.equal(status, 421, host)
      assert.match(text, /does not serve this name/)
    }
  })

  it('binds browsers for a day, until a renewal has worked', async () => {
    const { headers } = await h2.request({ ':path': '/healthz' })
    assert.equal(headers['strict-transport-security'], 'max-age=86400')
  })

  it('refuses a header above 16 KiB, and goes on serving the connection', async () => {
    const large = h2.request({ ':path': '/healthz', 'x-large': 'a'.repeat(17_000) })
    await assert.rejects(large, { message: /ENHANCE_YOUR_CALM/ })
    assert.equal((await h2.request({ ':path': '/healthz' })).status, 200)
  })

  it('answers the protocol of TLS-ALPN-01 with an alert while no challenge is open', async () => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = connectTls({
        host: '127.0.0.1',
        port,
        servername: 'localhost',
        ALPNProtocols: ['acme-tls/1'],
        maxVersion,
      })
      const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
      assert.equal(error.code, 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL')
    }
  })

  it('refuses versions of TLS before 1.2', async () => {
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const socket = connectTls({ host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false, ...old })
    await once(socket, 'error')
  })

  function http1(
    path: string,
    host: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, servername: 'localhost', rejectUnauthorized: false }
      const sent = request({ ...options, headers: { ...headers, host }, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part) => (text += part))
        response.on('end', () => resolve({ status: response.statusCode!, text })).on('error', reject)
      })
      sent.on('error', reject).end()
    })
  }
})
