// The app's origin takes everything a program asks for; a path of another port says where it is, to programs and in browsers.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startAppliance } from '../support/appliance.ts'
import { data, failure } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const { origin, sendOrigin, ports } = appliance
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const mail = { from: 'news@shop.test', to: ana.email, subject: 'Hello', text_body: 'Hello Ana' }
const later = { ...mail, send_at: new Date(Date.now() + 86_400_000).toISOString() }

describe('the three operations of the Sending API', () => {
  for (const [name, base] of Object.entries({ app: origin, send: sendOrigin })) {
    test(`are served at the origin of ${name}`, async () => {
      const emails = `${base}/api/v1/emails`
      data(await appliance.call('POST', `${emails}/send`, team.key, mail), 202)
      const batch = await appliance.call('POST', `${emails}/send/batch`, ana.key, {
        messages: [{ to: 'ben@else.test', subject: 'Hello', text_body: 'Hello Ben' }],
      })
      assert.equal(data<{ summary: { queued: number } }>(batch).summary.queued, 1)
      const sent = data<{ message_id: string }>(await appliance.call('POST', `${emails}/send`, team.key, later), 202)
      const canceled = await appliance.call('POST', `${emails}/${sent.message_id}/cancel`, team.key)
      assert.equal(data<{ status: string }>(canceled).status, 'canceled')
    })
  }

  test('know a repetition at the other origin', async () => {
    const headers = { 'idempotency-key': 'once' }
    const [first, second] = [
      await appliance.call('POST', `${origin}/api/v1/emails/send`, team.key, mail, headers),
      await appliance.call('POST', `${sendOrigin}/api/v1/emails/send`, team.key, mail, headers),
    ]
    assert.deepEqual(second.body.data, first.body.data)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
  })

  test('name no other server in the document', async () => {
    const document = await appliance.get(`${origin}/docs/openapi.json`)
    for (const path of ['/emails/send', '/emails/send/batch', '/emails/{message_id}/cancel']) {
      assert.equal(document.body.paths[path].servers, undefined, path)
      assert.ok('post' in document.body.paths[path], path)
    }
  })
})

describe('a path of another port', () => {
  test('says where it is', async () => {
    const reply = await appliance.get(`${sendOrigin}/api/v1/mailbox/me`, ana.key)
    failure(reply, 404, 'not_found')
    assert.equal(reply.body.error.message, `This path is at another origin. Use ${origin}/api/v1/mailbox/me.`)
    const atOperator = await appliance.get(`http://127.0.0.1:${ports.operator}/api/v1/team`)
    assert.match(atOperator.body.error.message, new RegExp(`Use ${origin}/api/v1/team`))
  })

  test('of the operator names the setting, not the address', async () => {
    const reply = await appliance.get(`${origin}/operator/v1/teams`)
    failure(reply, 404, 'not_found')
    assert.match(reply.body.error.message, /OPERATOR_BIND/)
    assert.ok(!reply.body.error.message.includes(String(ports.operator)))
  })

  test('is unknown where no port serves it, and without a credential', async () => {
    assert.equal(
      (await appliance.get(`${sendOrigin}/api/v1/nothing`, ana.key)).body.error.message.includes('http'),
      false,
    )
    failure(await appliance.get(`${sendOrigin}/api/v1/mailbox/me`), 401, 'authentication_required')
  })
})

describe('an unknown address', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const open = async (url: string, headers: Record<string, string> = BROWSER) => {
    const response = await fetch(url, { headers })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
      response,
    }
  }

  test('is a page in a browser, with a way on', async () => {
    const { status, type, text, response } = await open(`${origin}/nothing/<b>`)
    assert.equal(status, 404)
    assert.equal(type, 'text/html; charset=utf-8')
    assert.match(response.headers.get('vary') ?? '', /accept/i)
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.ok(text.includes('<h1>Page not found</h1>'))
    assert.ok(text.includes(`href="${origin}/"`))
    assert.ok(!text.includes('<b>'))
  })

  test('leads from the other port to the console', async () => {
    const { text } = await open(`${sendOrigin}/console/overview`)
    assert.ok(text.includes(`href="${origin}/console/overview"`), text)
  })

  test('stays JSON for programs, and below the API', async () => {
    for (const accept of ['*/*', 'application/json']) {
      assert.match((await open(`${origin}/nothing`, { accept })).type ?? '', /^application\/json/)
    }
    assert.match((await open(`${origin}/api/v1/nothing`)).type ?? '', /^application\/json/)
  })
})
