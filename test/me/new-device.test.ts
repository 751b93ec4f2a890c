// A browser that signs in for the first time is reported to the person, and the session it had before ends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookieName } from '../../src/http/session-cookie.ts'
import { type Json, type Reply, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { SAME_ORIGIN } from '../support/person.ts'

/** A browser: it keeps its cookies, and loads the application after it has signed in. */
class Profile {
  readonly #at: TestAppliance
  readonly cookies = new Map<string, string>()

  constructor(at: TestAppliance) {
    this.#at = at
  }

  async call(method: string, path: string, body?: unknown): Promise<Reply> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/199.0 http://evil.test/' }
    const reply = await this.#at.call(method, this.#at.origin + path, null, body, { ...SAME_ORIGIN, cookie, ...agent })
    for (const line of reply.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (value === '') this.cookies.delete(name!)
      else this.cookies.set(name!, value!)
    }
    return reply
  }

  async signIn(email: string): Promise<Reply> {
    const { people, db } = this.#at.app
    const [code] = await db.write((tx) => people.recoveryCodes.replace(tx, { email, teamId: null }))
    const reply = await this.call('POST', '/me/v1/sign-in/recovery', { email, code })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    assert.equal((await this.call('GET', '/me/v1/self')).status, 200)
    return reply
  }
}

async function withPeople(at: TestAppliance, domain: string) {
  const team = await at.team()
  await team.domain(domain)
  const { people, db } = at.app
  const boxes: Record<string, { key: string }> = {}
  for (const name of ['ana', 'bob']) {
    const email = `${name}@${domain}`
    boxes[name] = await team.mailbox(email)
    await db.write((tx) => people.members.add(tx, team.id, { email, role: 'owner' }))
  }
  const keyOf = (name: string) => boxes[name]!.key
  const mailsOf = async (name: string): Promise<Json[]> => {
    await at.settle()
    const { body } = await at.call('GET', '/mailbox/messages', keyOf(name))
    return body.data
  }
  return { mailsOf, keyOf }
}

test('a person hears of each new browser once, and never by a link that signs in', async () => {
  await using at = await startAppliance({ env: { MAIL_HOSTS: 'mx.mailstead.dev' } })
  const { mailsOf, keyOf } = await withPeople(at, 'shop.test')
  const [ana, bob] = ['ana@shop.test', 'bob@shop.test']
  const [laptop, phone] = [new Profile(at), new Profile(at)]
  await laptop.signIn(ana)
  assert.deepEqual(await mailsOf('ana'), [], 'the first browser of a person')
  await laptop.signIn(ana)
  assert.deepEqual(await mailsOf('ana'), [], 'a browser that is known')
  await phone.signIn(ana)
  const [mail, ...more] = await mailsOf('ana')
  assert.deepEqual([mail.subject, more.length], ['A new browser has signed in', 0])
  const { body } = await at.call('GET', `/mailbox/messages/${mail.id}`, keyOf('ana'))
  const text: string = body.data.text_body
  assert.match(text, /Browser: Firefox on Linux\. Network address: 127\.0\.0\.1\. With: a recovery code\./)
  assert.ok(!text.includes('evil.test') && !/\/owner\/session|token|#/.test(text), text)
  await phone.signIn(bob)
  assert.deepEqual(await mailsOf('bob'), [], 'the first browser of another person')
  await phone.signIn(ana)
  assert.equal((await mailsOf('ana')).length, 1, 'a browser that two people use stays known to both')
  const forged = new Profile(at)
  forged.cookies.set(`${cookieName(at.app.config)}-device`, 'a'.repeat(43))
  await forged.signIn(ana)
  assert.equal((await mailsOf('ana')).length, 2, 'a value that was never given out')
  for (let more = 0; more < 6; more++) await new Profile(at).signIn(ana)
  assert.ok((await mailsOf('ana')).length <= 6, 'a flood of sign-ins is a few messages')
})

test('nothing is sent where no message of the appliance can leave', async () => {
  await using at = await startAppliance()
  const { mailsOf } = await withPeople(at, 'shop.test')
  await new Profile(at).signIn('ana@shop.test')
  await new Profile(at).signIn('ana@shop.test')
  assert.deepEqual(await mailsOf('ana'), [])
})

test('signing in again in a browser ends the session it had, and no other', async () => {
  await using at = await startAppliance()
  await withPeople(at, 'shop.test')
  const [laptop, phone] = [new Profile(at), new Profile(at)]
  await laptop.signIn('ana@shop.test')
  await phone.signIn('ana@shop.test')
  const former = new Profile(at)
  for (const [name, value] of laptop.cookies) former.cookies.set(name, value)
  await laptop.signIn('ana@shop.test')
  assert.equal((await former.call('GET', '/me/v1/self')).status, 401)
  assert.equal((await phone.call('GET', '/me/v1/self')).status, 200)
  assert.equal((await laptop.call('GET', '/me/v1/self')).status, 200)
})
