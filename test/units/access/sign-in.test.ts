// Sign-in of mail programs: who may, what is refused and how, and what is recorded.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { SaslResult } from '../../../src/access/access.ts'
import type { SignedIn } from '../../../src/access/signed-in.ts'
import { FIRST_DELAY_MS, SOURCE_FAILURES_MAX, WINDOW_MS } from '../../../src/access/throttle.ts'
import { newAppSecret } from '../../../src/base/app-secret.ts'
import { FAILURES_MAX, REPEAT_MS, SIGN_INS_MAX } from '../../../src/directory/keys/sign-ins.ts'
import { INACTIVE_MAX } from '../../../src/directory/mailboxes/app-passwords.ts'
import { MAILBOX_SCOPES } from '../../../src/directory/names/permissions.ts'
import { AgentClient, EASY_WORK } from '../../support/agents.ts'
import { startAppliance } from '../../support/appliance.ts'
import { ManualClock } from '../../support/clock.ts'
import { finished as afterDelay, authenticate, type Program, scramClient, signIn } from '../../support/mail-program.ts'

const DAY_MS = 86_400_000
const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { ...EASY_WORK, MAILBOX_GATED: 'managesieve' } })
after(() => appliance.close())
const { app } = appliance
const { appPasswords, signIns, keys } = app.directory
const team = await appliance.team()
await team.domain('in.test')
let mailboxes = 0

/** A mailbox with an app password, and a source of its own: failures of one test do not count in another. */
async function newUser(input: Partial<Parameters<typeof appPasswords.issue>[2]> = {}) {
  const mailbox = await team.mailbox(`user${++mailboxes}@in.test`)
  const { record, secret } = await issue(mailbox.id, input)
  const source = `198.51.100.${mailboxes}`
  const enter = (name = mailbox.email, password = secret, program: Program = {}) =>
    finished(signIn(appliance, name, password, { source, ...program }))
  return { ...mailbox, source, secret, id: mailbox.id, passwordId: record.id, enter }
}

function issue(mailboxId: string, input: Partial<Parameters<typeof appPasswords.issue>[2]> = {}) {
  return appPasswords.issue(team.id, mailboxId, { name: 'Telephone', createdBy: 'operator', ...input })
}

const finished = <T>(work: Promise<T>): Promise<T> => afterDelay(clock, work)

function sessionOf(result: SaslResult): SignedIn {
  assert.ok(result.accepted, JSON.stringify(result))
  return result.session
}

const WRONG = { accepted: false, reason: 'wrong' }

test('an app password signs in with the address or an alias, however it is typed', async () => {
  const user = await newUser()
  await app.administration.mailboxes.addAlias(team.id, user.id, `alias${mailboxes}@in.test`)
  const grouped = user.secret.toUpperCase().replace(/(.{5})(?=.)/g, '$1 ')
  for (const name of [user.email, user.email.toUpperCase(), `Alias${mailboxes}@IN.test`, ` ${user.email} `]) {
    const session = sessionOf(await user.enter(name, grouped))
    assert.equal(session.email, user.email)
    assert.deepEqual(session.principal, {
      ...{ kind: 'mailbox', keyId: user.passwordId, teamId: team.id, mailboxId: user.id, permissions: MAILBOX_SCOPES },
    })
    assert.equal(session.account, app.store.accounts.byMailbox(user.id)!.n)
    assert.deepEqual([session.suspended, session.savesSent], [false, false])
  }
})

test('a domain in U-labels is the same domain', async () => {
  await team.domain('xn--bcher-kva.test')
  const { id } = await team.mailbox('leo@xn--bcher-kva.test')
  const { secret } = await issue(id)
  assert.equal(sessionOf(await signIn(appliance, 'Leo@Bücher.test', secret)).email, 'leo@xn--bcher-kva.test')
})

test('a key of the mailbox signs in; keys of other mailboxes and of teams, and tokens of agents, do not', async () => {
  const [user, other] = [await newUser(), await newUser()]
  const session = sessionOf(await user.enter(user.email, user.key))
  assert.match(session.principal.keyId, /^key_/)
  for (const secret of [other.key, other.secret, team.key, 'sat_x', newAppSecret(), '', '\0', 'x'.repeat(5000)]) {
    assert.deepEqual(await user.enter(user.email, secret), WRONG, secret.slice(0, 20))
  }
  const names = ['', 'user1', '@in.test', `${user.email}\0`, `+${user.email}`, 'x'.repeat(100_000), 'ü@in.test']
  for (const name of names) {
    assert.deepEqual(await user.enter(name, user.secret, { source: '192.0.2.77' }), WRONG, name.slice(0, 20))
  }
})

test('OAUTHBEARER and XOAUTH2 take a mailbox key, with or without the name; never an app password', async () => {
  const user = await newUser()
  const { source } = user
  const bearer = (name: string, token: string) =>
    finished(
      authenticate(
        appliance,
        'OAUTHBEARER',
        (said) => (said === '' ? `n,a=${name},\u0001auth=Bearer ${token}\u0001\u0001` : '\u0001'),
        { source },
      ),
    )
  const xoauth2 = (name: string, token: string) =>
    finished(
      authenticate(
        appliance,
        'XOAUTH2',
        (said) => (said === '' ? `user=${name}\u0001auth=Bearer ${token}\u0001\u0001` : ''),
        { source },
      ),
    )
  for (const way of [bearer, xoauth2]) {
    for (const name of [user.email, '']) assert.equal(sessionOf(await way(name, user.key)).email, user.email)
    assert.deepEqual(await way('user999@in.test', user.key), WRONG)
    assert.deepEqual(await way('', user.secret), WRONG)
    assert.deepEqual(await way('', team.key), WRONG)
  }
})

test('SCRAM takes both spellings shown, says which app password it was, and proves the server', async () => {
  const user = await newUser()
  const second = await issue(user.id, { name: 'Second', permissions: ['mailbox.read'] })
  const spellings = [user.secret, user.secret.match(/.{5}/g)!.join('-')]
  for (const [password, id] of [...spellings.map((one) => [one, user.passwordId]), [second.secret, second.record.id]]) {
    const client = scramClient(user.email, password!)
    const session = sessionOf(await finished(authenticate(appliance, 'SCRAM-SHA-256', client.answer)))
    assert.equal(session.principal.keyId, id)
    assert.match(client.said.at(-1)!, /^v=/)
  }
  await appPasswords.revoke(user.id, user.passwordId)
  for (const password of [user.secret, user.key]) {
    const client = scramClient(user.email, password)
    assert.deepEqual(await finished(authenticate(appliance, 'SCRAM-SHA-256', client.answer)), WRONG)
  }
})

test('SCRAM answers unknown names, aliases and mailboxes without app passwords as any other', async () => {
  const user = await newUser()
  const alias = `scram-alias${mailboxes}@in.test`
  await app.administration.mailboxes.addAlias(team.id, user.id, alias)
  const bare = await team.mailbox(`bare${mailboxes}@in.test`)
  const salts = new Map<string, Set<string>>()
  for (const name of [
    user.email,
    alias,
    bare.email,
    'nobody@in.test',
    'nobody@elsewhere.test',
    'nobody',
    user.email.toUpperCase(),
  ]) {
    for (const source of ['203.0.113.1', '203.0.113.2']) {
      const client = scramClient(name, 'wrong')
      const result = await finished(authenticate(appliance, 'SCRAM-SHA-256', client.answer, { source }))
      assert.deepEqual(result, WRONG)
      assert.equal(client.said.length, 2)
      const [, salt] = /^r=[^,]+,s=([A-Za-z0-9+/]{22}==),i=4096$/.exec(client.said[1]!)!
      const known = salts.get(name.toLowerCase()) ?? new Set()
      salts.set(name.toLowerCase(), known.add(salt!))
    }
  }
  assert.deepEqual(
    [...salts.values()].map(({ size }) => size),
    [1, 1, 1, 1, 1, 1],
    'the same salt each time',
  )
  assert.equal(new Set([...salts.values()].flatMap((one) => [...one])).size, 6)
  const own = scramClient(alias, user.secret)
  assert.deepEqual(await finished(authenticate(appliance, 'SCRAM-SHA-256', own.answer)), WRONG, 'by the address only')
})

test('what a credential may not do is refused at once: other protocols, missing scopes, disabled protocols', async () => {
  const user = await newUser({ protocols: ['imap'], permissions: ['mailbox.read'] })
  const other = await newUser({ permissions: ['email.send'] })
  const refused = { accepted: false, reason: 'not_allowed' }
  assert.deepEqual(await signIn(appliance, user.email, user.secret, { protocol: 'submission' }), refused)
  assert.deepEqual(await signIn(appliance, user.email, user.secret, { protocol: 'managesieve' }), refused)
  assert.deepEqual(await signIn(appliance, user.email, user.key, { protocol: 'managesieve' }), refused)
  assert.deepEqual(await signIn(appliance, other.email, other.secret), refused)
  assert.deepEqual(sessionOf(await user.enter()).principal.permissions, ['mailbox.read'])
  sessionOf(await other.enter(undefined, undefined, { protocol: 'submission' }))
  assert.equal(signIns.list(other.id, { limit: 9, after: null }).items.at(-1)!.outcome, 'not_allowed')
})

test('an expired or revoked app password, and one of a deleted mailbox, is wrong; the record says which', async () => {
  const user = await newUser({ expiresAt: clock.now() + DAY_MS })
  sessionOf(await user.enter())
  clock.advance(DAY_MS)
  assert.deepEqual(await user.enter(), WRONG)
  const [row] = signIns.list(user.id, { limit: 1, after: null }).items
  assert.deepEqual([row!.outcome, row!.credentialId], ['expired', user.passwordId])
  const started = clock.monotonic()
  for (let n = 0; n < SOURCE_FAILURES_MAX; n++) assert.deepEqual(await user.enter(), WRONG)
  assert.ok(clock.monotonic() - started < 3 * SOURCE_FAILURES_MAX * FIRST_DELAY_MS, 'a device that goes on trying')
  sessionOf(await user.enter(user.email, user.key))
  const gone = await newUser()
  await app.administration.mailboxes.delete(team.id, gone.id)
  assert.equal(appPasswords.get(gone.id, gone.passwordId)!.status, 'revoked')
  for (const secret of [gone.secret, gone.key]) assert.deepEqual(await gone.enter(gone.email, secret), WRONG)
  // Another mailbox gets the address; the earlier secrets are not its own.
  await team.mailbox(gone.email)
  for (const secret of [gone.secret, gone.key]) assert.deepEqual(await gone.enter(gone.email, secret), WRONG)
})

test('a suspended mailbox can be read; a suspended team cannot, and says so only to who has the secret', async () => {
  const user = await newUser()
  await app.directory.mailboxes.suspend(team.id, user.id)
  assert.equal(sessionOf(await user.enter()).suspended, true)
  const second = await appliance.team('Second')
  await second.domain('second.test')
  const ben = await second.mailbox('ben@second.test')
  const { secret } = await appPasswords.issue(second.id, ben.id, { name: 'x', createdBy: 'operator' })
  await app.directory.teams.setStatus(second.id, 'suspended')
  const refused = { accepted: false, reason: 'team_suspended' }
  for (const one of [secret, ben.key]) assert.deepEqual(await signIn(appliance, ben.email, one), refused)
  assert.deepEqual(await finished(signIn(appliance, ben.email, newAppSecret(), { source: '203.0.113.9' })), WRONG)
})

test('agents read with their tokens as bearer, and do nothing else; their inboxes have no app passwords', async () => {
  const agent = new AgentClient(appliance)
  const registered = await agent.register({ client_name: 'Scout' })
  const { email } = registered.mailbox
  const token = await agent.readToken(registered.identity_assertion)
  const bearer = (secret: string, protocol: Program['protocol']) =>
    finished(
      authenticate(
        appliance,
        'XOAUTH2',
        (said) => (said === '' ? `user=${email}\u0001auth=Bearer ${secret}\u0001\u0001` : ''),
        {
          ...{ protocol, source: '203.0.113.20' },
        },
      ),
    )
  const session = sessionOf(await bearer(token, 'imap'))
  assert.deepEqual(session.principal.permissions, ['mailbox.read', 'email.receive'])
  assert.match(session.principal.keyId, /^areg_/)
  assert.deepEqual(await bearer(token, 'submission'), { accepted: false, reason: 'not_allowed' })
  assert.deepEqual(
    await finished(signIn(appliance, email, token, { source: '203.0.113.21' })),
    WRONG,
    'not as a password',
  )
  const box = app.directory.mailboxes.byEmail(email)!
  // A key an operator made for the inbox reads as well, and no more.
  const { secret } = await keys.issue({
    teamId: box.teamId,
    kind: 'mailbox',
    mailboxId: box.id,
    name: 'x',
    createdBy: 'operator',
  })
  assert.deepEqual(sessionOf(await signIn(appliance, email, secret)).principal.permissions, [
    'mailbox.read',
    'email.receive',
  ])
  const made = appPasswords.issue(box.teamId, box.id, { name: 'x', createdBy: 'operator' })
  await assert.rejects(made, { code: 'insufficient_permissions' })
})

test('a failed OAUTHBEARER names the document from which clients learn how to get a token', async () => {
  const said: string[] = []
  const answer = (challenge: string) => {
    said.push(challenge)
    return challenge === '' ? 'n,,\u0001auth=Bearer x\u0001\u0001' : '\u0001'
  }
  const source = '203.0.113.25'
  assert.deepEqual(await finished(authenticate(appliance, 'OAUTHBEARER', answer, { source })), WRONG)
  const { 'openid-configuration': document } = JSON.parse(said[1]!)
  const { status, body } = await appliance.get(document)
  assert.deepEqual([status, body.issuer], [200, `${appliance.origin}/agent-auth`])
})

test('a wrong secret is answered after one second, then later; an unknown name is answered alike', async () => {
  const user = await newUser()
  for (const name of [user.email, 'unknown@in.test', 'unknown@elsewhere.test']) {
    const source = `203.0.113.${30 + name.length}`
    for (const delay of [FIRST_DELAY_MS, 2 * FIRST_DELAY_MS]) {
      let result: unknown
      const pending = signIn(appliance, name, newAppSecret(), { source }).then((value) => {
        result = value
      })
      await new Promise(setImmediate)
      clock.advance(delay - 1)
      await new Promise(setImmediate)
      assert.equal(result, undefined, name)
      clock.advance(1)
      await pending
      assert.deepEqual(result, WRONG)
    }
  }
})

test('a source that guesses is refused also with the right secret, at once, and only that source', async () => {
  const user = await newUser()
  const guesses = Array.from({ length: SOURCE_FAILURES_MAX }, () =>
    signIn(appliance, user.email, newAppSecret(), { source: user.source }),
  )
  const refused = { accepted: false, reason: 'too_many' }
  assert.deepEqual(await signIn(appliance, user.email, user.secret, { source: user.source }), refused)
  assert.deepEqual(await signIn(appliance, 'unknown@in.test', 'x', { source: user.source }), refused)
  sessionOf(await signIn(appliance, user.email, user.secret, { source: '203.0.113.50' }))
  clock.advance(WINDOW_MS)
  await Promise.all(guesses)
  sessionOf(await user.enter())
  const outcomes = signIns.list(user.id, { limit: 9, after: null }).items.map(({ outcome, times }) => [outcome, times])
  assert.deepEqual(outcomes, [
    ['ok', 1],
    ['ok', 1],
    ['too_many', 1],
    ['wrong_secret', SOURCE_FAILURES_MAX],
  ])
})

test('a mailbox that is guessed at from everywhere stays open for sources it knows, whatever fills the record', async () => {
  const user = await newUser()
  sessionOf(await user.enter())
  const guesses = Array.from({ length: FAILURES_MAX + 20 }, (_, n) =>
    signIn(appliance, user.email, newAppSecret(), { source: `10.${n >> 8}.${n & 255}.1` }),
  )
  await new Promise(setImmediate)
  const refused = { accepted: false, reason: 'too_many' }
  assert.deepEqual(await signIn(appliance, user.email, user.secret, { source: '203.0.113.60' }), refused)
  sessionOf(await user.enter())
  clock.advance(WINDOW_MS)
  await Promise.all(guesses)
  sessionOf(await signIn(appliance, user.email, user.secret, { source: '203.0.113.60' }))
})

test('equal sign-ins within ten minutes are one row, with what the program says of itself', async () => {
  const user = await newUser()
  const session = sessionOf(await user.enter(undefined, undefined, { client: 'Mail\r\n 1.0\u0000' }))
  app.access.noteClient(session, `Mail ${'x'.repeat(500)}`)
  clock.advance(REPEAT_MS - 1)
  await user.enter()
  const rows = () => signIns.list(user.id, { limit: 100, after: null }).items
  await app.db.write(() => {})
  assert.deepEqual(
    rows().map(({ times, outcome, mechanism, protocol, source }) => [times, outcome, mechanism, protocol, source]),
    [[2, 'ok', 'PLAIN', 'imap', user.source]],
  )
  assert.equal(rows()[0]!.client!.length, 200)
  const record = appPasswords.get(user.id, user.passwordId)!
  assert.equal(record.lastUsedFrom, user.source)
  assert.equal(record.lastUsedClient, rows()[0]!.client)
  assert.equal(record.lastUsedAt, clock.now() - (clock.now() % 60_000))
  clock.advance(1)
  await user.enter()
  await app.db.write(() => {})
  assert.deepEqual(
    rows().map(({ times }) => times),
    [1, 2],
  )
})

test('a mailbox has at most 1,000 rows, of which at most 500 are failures; old ones expire', async () => {
  const user = await newUser()
  const row = {
    mailboxId: user.id,
    protocol: 'imap',
    mechanism: 'PLAIN',
    credentialId: null,
    client: null,
    at: clock.now(),
  } as const
  await app.db.write((tx) => {
    for (let n = 0; n < SIGN_INS_MAX; n++) signIns.recordIn(tx, { ...row, outcome: 'ok', source: `o${n}` })
    for (let n = 0; n < FAILURES_MAX + 5; n++)
      signIns.recordIn(tx, { ...row, outcome: 'wrong_secret', source: `w${n}` })
  })
  const count = (sql = '') =>
    app.db.read.get<{ n: number }>(`SELECT count(*) AS n FROM sign_ins WHERE mailbox_id = ?${sql}`, [user.id])!.n
  assert.deepEqual([count(), count(` AND outcome = 'ok'`)], [SIGN_INS_MAX, SIGN_INS_MAX - FAILURES_MAX])
  assert.equal(count(` AND source = 'w${FAILURES_MAX + 4}'`), 1)
  clock.leap(app.config.SIGN_IN_RETENTION_DAYS * DAY_MS + 3_600_000)
  await appliance.settle()
  assert.equal(count(), 0)
})

test('of app passwords that are no longer active the newest 100 are kept', async () => {
  const user = await newUser()
  await app.db.write((tx) => {
    const sql = `INSERT INTO app_passwords (id, mailbox_id, team_id, name, permissions, protocols, saves_sent, hash, scram, last4, created_by, created_at, revoked_at)
      SELECT ? || n, mailbox_id, team_id, name, permissions, protocols, saves_sent, randomblob(32), scram, last4, created_by, created_at + ?, created_at
      FROM app_passwords WHERE id = ?`
    for (let n = 0; n < INACTIVE_MAX + 20; n++) tx.run(sql, [`old${n}-`, n, user.passwordId])
  })
  await issue(user.id)
  const { items } = appPasswords.list(user.id, { limit: 1000, after: null })
  assert.equal(items.length, 2 + INACTIVE_MAX)
  assert.ok(items.some(({ id }) => id.startsWith(`old${INACTIVE_MAX + 19}-`)))
  assert.ok(!items.some(({ id }) => id.startsWith('old19-')))
})
