// The life of a sending account: checked when due, failing, recovering, changed meanwhile; and what is kept of its secrets.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { Provider } from '../../../src/outbound/model/records.ts'
import type { CheckResult, Transport } from '../../../src/outbound/model/transport.ts'
import { REASON_MAX } from '../../../src/outbound/providers/health.ts'
import { type NewProvider, PER_TEAM_MAX, Providers } from '../../../src/outbound/providers/providers.ts'
import { AccountChecks, CHECKS_MAX } from '../../../src/outbound/transports/account-checks.ts'
import { openAccounts } from '../../support/accounts.ts'
import { failure } from '../../support/directory.ts'
import { startMailServer } from '../../support/mail-server.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const appliance = await openAccounts({ ALLOW_PRIVATE_SMTP_HOSTS: 'true' })
after(() => appliance[Symbol.asyncDispose]())
const { app, clock } = appliance

const WELL: CheckResult = { success: true, stage: 'auth', smtpCode: 235, message: 'Signed in.' }
const BAD: CheckResult = { success: false, stage: 'auth', smtpCode: 535, message: 'Wrong password.' }

/** What servers say to checks, and whom they were made for. */
let says: (provider: Provider) => CheckResult | Promise<CheckResult> = () => WELL
let asked: string[] = []
const providers = new Providers({ ...app, groups: { naming: () => undefined } })
const transports = {
  async of(provider: Provider) {
    const transport: Pick<Transport, 'check'> = {
      async check() {
        asked.push(provider.id)
        return says(provider)
      },
    }
    return transport as Transport
  },
}
const checks = new AccountChecks({ ...app, providers, transports })

let team = ''
beforeEach(async () => {
  // What a test before it has left would be due as well.
  await app.db.write((tx) => tx.run('DELETE FROM providers'))
  team = (await app.directory.teams.create({ name: 'Team' })).id
  says = () => WELL
  asked = []
})

const ACCOUNT: NewProvider = {
  ...{ name: 'Relay', smtpHost: 'smtp.relay.test', smtpPort: 587, smtpProtocol: 'starttls' },
  ...{ smtpUsername: 'shop', smtpPassword: 'secret words' },
}
const make = (more: Partial<NewProvider> = {}) => providers.create(team, { ...ACCOUNT, ...more })
const now = ({ id }: Provider) => providers.byId(id)!
const stateOf = (provider: Provider) => {
  const { status, statusReason } = now(provider)
  return [status, statusReason]
}

test('a new account is checked and becomes active on success', async () => {
  const made = await make()
  assert.equal(made.status, 'pending')
  assert.equal(await checks.runDue(), 1)
  assert.deepEqual(stateOf(made), ['active', null])
  assert.equal(now(made).lastTestedAt, clock.now())
  assert.equal(await checks.runDue(), 0)
})

test('a failing account has a reason, and is checked again after 15 minutes, doubling to 4 hours', async () => {
  says = () => BAD
  const made = await make()
  await checks.runDue()
  assert.deepEqual(stateOf(made), ['error', 'auth: Wrong password.'])
  for (const minutes of [15, 30, 60, 120, 240, 240]) {
    clock.advance(minutes * MINUTE - 1)
    assert.equal(await checks.runDue(), 0, `${minutes} minutes`)
    clock.advance(1)
    assert.equal(await checks.runDue(), 1, `${minutes} minutes`)
  }
  says = () => WELL
  clock.advance(4 * HOUR)
  await checks.runDue()
  assert.deepEqual(stateOf(made), ['active', null])
  // The next failure begins anew.
  says = () => BAD
  await checks.test(team, made.id, null)
  clock.advance(15 * MINUTE)
  assert.equal(await checks.runDue(), 1)
})

test('testing again and again does not put off the look of ours; a good test ends the error at once', async () => {
  says = () => BAD
  const made = await make()
  await checks.runDue()
  clock.advance(14 * MINUTE)
  const { result, provider } = await checks.test(team, made.id, null)
  assert.deepEqual([result, provider.status], [BAD, 'error'])
  clock.advance(MINUTE)
  assert.equal(await checks.runDue(), 1)
  says = () => WELL
  assert.equal((await checks.test(team, made.id, null)).provider.status, 'active')
  clock.advance(4 * HOUR)
  assert.equal(await checks.runDue(), 0)
})

test('a test whose recipient is refused leaves the account as it is', async () => {
  const made = await make()
  await checks.runDue()
  says = () => ({ success: false, stage: 'recipient', smtpCode: 550, message: 'No such user.' })
  const tested = await checks.test(team, made.id, 'gone@else.test')
  assert.deepEqual([tested.result.success, tested.provider.status], [false, 'active'])
  await assert.rejects(
    checks.test(team, made.id, 'a@b.test, c@d.test'),
    failure('validation_error', { field: 'to_email', code: 'invalid_format' }),
  )
})

test('what is found of a connection that has been changed meanwhile is forgotten', async () => {
  const made = await make()
  let answer: (result: CheckResult) => void = () => {}
  says = () => new Promise((resolve) => (answer = resolve))
  const first = checks.runDue()
  while (asked.length < 1) await new Promise(setImmediate)
  await providers.update(team, made.id, { smtpPort: 2525 })
  const slow = answer
  // The new connection does not wait for the old one.
  says = () => BAD
  const second = checks.runDue()
  while (asked.length < 2) await new Promise(setImmediate)
  slow(WELL)
  await Promise.all([first, second])
  assert.deepEqual(stateOf(made), ['error', 'auth: Wrong password.'])
})

test('an account that was switched off meanwhile stays off, and its check counts when it is switched on again', async () => {
  const made = await make()
  let answer: (result: CheckResult) => void = () => {}
  says = () => new Promise((resolve) => (answer = resolve))
  const check = checks.runDue()
  while (asked.length < 1) await new Promise(setImmediate)
  await providers.deactivate(team, made.id)
  answer(WELL)
  await check
  assert.equal(now(made).status, 'inactive')
  clock.advance(24 * HOUR)
  assert.equal((await providers.activate(team, made.id)).status, 'active')
  await providers.deactivate(team, made.id)
  clock.advance(1)
  assert.equal((await providers.activate(team, made.id)).status, 'pending')
})

test('a changed connection is checked again; the same values and other changes are not', async () => {
  const made = await make()
  await checks.runDue()
  const changed = await providers.update(team, made.id, {
    ...{ smtpHost: 'SMTP.relay.test.', smtpPort: 587, smtpUsername: 'shop', fromName: 'Shop', percentage: 5 },
  })
  assert.deepEqual([changed.status, changed.connectionVersion], ['active', made.connectionVersion])
  for (const change of [{ smtpPort: 465 }, { smtpPassword: 'secret words' }, { smtpProtocol: 'tls' as const }]) {
    const { status, connectionVersion } = await providers.update(team, made.id, change)
    assert.deepEqual([status, connectionVersion], ['pending', now(made).connectionVersion])
    await checks.runDue()
    assert.equal(now(made).status, 'active')
  }
  assert.equal(now(made).connectionVersion, made.connectionVersion + 3)
  await providers.deactivate(team, made.id)
  await providers.update(team, made.id, { smtpPort: 25 })
  assert.equal((await providers.activate(team, made.id)).status, 'pending', 'the last check was of another connection')
})

test('five failures in a row to reach an account end its part; those of an older connection do not count', async () => {
  const made = await make()
  await checks.runDue()
  const fail = (provider: Provider) =>
    providers.health.noteFailure(provider, 'tls', { smtpCode: null, enhancedCode: null, text: 'x'.repeat(REASON_MAX) })
  for (let i = 0; i < 4; i++) await fail(made)
  await providers.update(team, made.id, { smtpPort: 2525 })
  await checks.runDue()
  for (let i = 0; i < 5; i++) await fail(made)
  assert.equal(now(made).status, 'active')
  const current = now(made)
  for (let i = 0; i < 5; i++) await fail(current)
  const [status, reason] = stateOf(made)
  assert.deepEqual([status, reason?.length, reason?.slice(0, 6)], ['error', REASON_MAX, 'tls: x'])
  clock.advance(15 * MINUTE)
  assert.equal(await checks.runDue(), 1)
  assert.equal(now(made).status, 'active')
})

test('slow servers delay no other check, and concurrent checks are limited', async () => {
  let answer: () => void = () => {}
  const wait = new Promise<void>((resolve) => (answer = resolve))
  says = () => wait.then(() => WELL)
  for (let i = 0; i < CHECKS_MAX - 1; i++) await make()
  const first = checks.runDue()
  while (asked.length < CHECKS_MAX - 1) await new Promise(setImmediate)
  const [quick, late] = [await make(), await make()]
  const second = checks.runDue()
  while (asked.length < CHECKS_MAX) await new Promise(setImmediate)
  assert.equal(asked.at(-1), quick.id)
  answer()
  assert.deepEqual(await Promise.all([first, second]), [CHECKS_MAX - 1, 1])
  assert.equal(now(late).status, 'pending')
  assert.equal(await checks.runDue(), 1)
})

test('at the shutdown results are discarded and the checks stay due', async () => {
  const made = await make()
  let answer: (result: CheckResult) => void = () => {}
  says = () => new Promise((resolve) => (answer = resolve))
  const stop = new AbortController()
  const check = checks.runDue(stop.signal)
  while (asked.length < 1) await new Promise(setImmediate)
  stop.abort()
  answer(BAD)
  await check
  assert.equal(now(made).status, 'pending')
  assert.equal(await checks.runDue(stop.signal), 0)
})

test('an internal error is reported as such and does not end the checks', async () => {
  says = () => Promise.reject(new Error('what nobody outside should read'))
  const made = await make()
  await checks.runDue()
  const [status, reason] = stateOf(made)
  assert.equal(status, 'error')
  assert.equal(reason, 'connect: The account could not be checked; the log of the appliance has the cause.')
})

test('an issuer that refuses the token ends the account’s part, and the check that heard it puts it off once', async () => {
  says = async (provider) => {
    await providers.health.refuse(provider, 'The connection was withdrawn.')
    return BAD
  }
  const made = await make()
  await checks.runDue()
  assert.equal(now(made).status, 'error')
  clock.advance(15 * MINUTE)
  assert.equal(await checks.runDue(), 1)
})

test('when an account was used is written down once a minute', async () => {
  const made = await make()
  const before = app.db.counts.units
  clock.advance(MINUTE - (clock.now() % MINUTE) + 20_000)
  await providers.health.noteUsed(made)
  const used = now(made)
  assert.equal(used.lastUsedAt, clock.now() - 20_000)
  clock.advance(39_000)
  await providers.health.noteUsed(used)
  assert.equal(app.db.counts.units, before + 1)
  clock.advance(1_000)
  await providers.health.noteUsed(used)
  assert.equal(now(made).lastUsedAt, clock.now())
})

test('a team has so many accounts and no more', async () => {
  for (let i = 0; i < PER_TEAM_MAX; i++) await make()
  await assert.rejects(make(), failure('conflict'))
  team = (await app.directory.teams.create({ name: 'Other' })).id
  await make()
})

test('a password is kept sealed, for this purpose, and leaves with its account', async () => {
  const made = await make()
  const row = app.db.read.get<{ sealed: Uint8Array }>(
    'SELECT smtp_password_sealed AS sealed FROM providers WHERE id = ?',
    [made.id],
  )
  assert.ok(!Buffer.from(row!.sealed).includes('secret'))
  assert.throws(() => app.vault.open('webhook', row!.sealed))
  assert.deepEqual(providers.connections.secretsOf(made), { smtpPassword: 'secret words', refreshToken: null })
  assert.ok(!JSON.stringify(made).includes('secret words'))
  await providers.remove(team, made.id)
  assert.deepEqual(providers.connections.secretsOf(made), { smtpPassword: null, refreshToken: null })
})

test('a connected account keeps its address and has no server of its own; everything else can be changed', async () => {
  const connected = { teamId: team, type: 'outlook_api' as const, name: 'Outlook', oauthEmail: 'ann@shop.test' }
  const made = await app.db.write((tx) => providers.createOAuth(tx, { ...connected, refreshToken: 'token words' }))
  assert.deepEqual([made.status, made.hasRefreshToken, made.hasSmtpPassword], ['pending', true, false])
  await checks.runDue()
  const change = { name: 'Ann', fromName: 'Ann', quotas: { perDay: 10 }, percentage: 3, trackingDomain: 't.shop.test' }
  const changed = await providers.update(team, made.id, change)
  assert.deepEqual([changed.status, changed.name, changed.quotas.perDay], ['active', 'Ann', { min: 10, max: 10 }])
  const foreign = { fromEmail: 'bob@shop.test', smtpHost: 'a.test', smtpPort: 25, smtpUsername: 'x', smtpPassword: 'x' }
  for (const [member, value] of Object.entries({ ...foreign, fromEmail: null, smtpProtocol: 'tls' })) {
    const field = member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const wrong = failure('validation_error', { field, code: 'forbidden_value' })
    await assert.rejects(providers.update(team, made.id, { [member]: value }), wrong)
  }
  // Connected again: the newer token holds, and a version of its own.
  const again = await app.db.write((tx) => providers.createOAuth(tx, { ...connected, refreshToken: 'newer words' }))
  assert.deepEqual([again.id, again.status, again.connectionVersion], [made.id, 'pending', made.connectionVersion + 1])
  assert.equal(providers.connections.secretsOf(again).refreshToken, 'newer words')
})

test('the shared account the operator has closed is opened by the operator alone', async () => {
  const shared = (enabled: boolean) => app.db.write((tx) => providers.connections.ensureShared(tx, team, enabled))
  await shared(true)
  const { id } = providers.connections.sharedOf(team)!
  await providers.deactivate(team, id)
  assert.equal((await providers.activate(team, id)).status, 'active')
  await shared(false)
  await checks.test(team, id, null)
  await assert.rejects(providers.activate(team, id), /operator has not enabled Amazon SES/)
  await shared(true)
  assert.equal(providers.byId(id)!.status, 'active')
  await assert.rejects(providers.update(team, id, { name: 'Ours' }), failure('conflict'))
  await assert.rejects(providers.remove(team, id), failure('conflict'))
})

test('against a real server: a wrong password is an error, the right one is not', async () => {
  await using server = await startMailServer({
    onAuth({ username, password }, _session, done) {
      if (password === 'right') done(null, { user: username })
      else done(new Error('No.'))
    },
  })
  const { providers: real, checks: realChecks } = app.outbound.accounts
  const account = { ...ACCOUNT, smtpHost: '127.0.0.1', smtpPort: server.port, smtpProtocol: 'none' as const }
  const made = await real.create(team, { ...account, smtpPassword: 'wrong' })
  await realChecks.runDue()
  const failed = real.byId(made.id)!
  assert.equal(failed.status, 'error')
  assert.match(failed.statusReason!, /^auth: /)
  await real.update(team, made.id, { smtpPassword: 'right', fromEmail: 'ann@shop.test' })
  await realChecks.runDue()
  assert.equal(real.byId(made.id)!.status, 'active')
  const { result } = await realChecks.test(team, made.id, 'bob@else.test')
  assert.equal(result.success, true)
  assert.deepEqual(
    server.messages.map(({ from, to }) => [from, to]),
    [['ann@shop.test', ['bob@else.test']]],
  )
})
