// Sessions of mail programs end within 30 s when their credential, mailbox or team does.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SessionEnd, SignedIn } from '../../../src/access/signed-in.ts'
import { AgentClient, EASY_WORK } from '../../support/agents.ts'
import { startAppliance, type TestTeam } from '../../support/appliance.ts'
import { ManualClock } from '../../support/clock.ts'
import { authenticate, signIn } from '../../support/mail-program.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: EASY_WORK })
after(() => appliance.close())
const { access, directory, administration, agents } = appliance.app
let count = 0
let team: TestTeam
before(async () => {
  team = await appliance.team()
  await team.domain('in.test')
})

interface Watched {
  session: SignedIn
  mailboxId: string
  ended: SessionEnd[]
  stop(): void
}

/** A session that is watched. @param expiresAt of its app password; `key`: with the key of the mailbox */
async function open(how: { expiresAt?: number; byKey?: boolean; of?: TestTeam; name?: string } = {}): Promise<Watched> {
  const of = how.of ?? team
  const mailbox = await of.mailbox(`box${++count}@${how.name ?? 'in.test'}`)
  const input = { name: 'x', createdBy: 'operator', expiresAt: how.expiresAt }
  const { secret } = await directory.appPasswords.issue(of.id, mailbox.id, input)
  const result = await signIn(appliance, mailbox.email, how.byKey ? mailbox.key : secret)
  assert.ok(result.accepted)
  const ended: SessionEnd[] = []
  const stop = access.watch(result.session, (why) => ended.push(why))
  return { session: result.session, mailboxId: mailbox.id, ended, stop }
}

/** What happens to a session within 30 s of an event, and to one of another mailbox. */
async function within30s(watched: Watched, event: () => unknown): Promise<SessionEnd[]> {
  const other = await open()
  clock.advance(30_000)
  await new Promise(setImmediate)
  assert.deepEqual(watched.ended, [], 'not before')
  await event()
  clock.advance(30_000)
  await new Promise(setImmediate)
  assert.deepEqual(other.ended, [])
  other.stop()
  clock.advance(60_000)
  await new Promise(setImmediate)
  watched.stop()
  return watched.ended
}

test('a revoked app password ends its sessions once, and no others of the mailbox', async () => {
  const watched = await open()
  const { appPasswords } = directory
  const { secret } = await appPasswords.issue(team.id, watched.mailboxId, { name: 'other', createdBy: 'operator' })
  const result = await signIn(appliance, watched.session.email, secret)
  assert.ok(result.accepted)
  const stays: SessionEnd[] = []
  const stop = access.watch(result.session, (why) => stays.push(why))
  const revoke = () => appPasswords.revoke(watched.mailboxId, watched.session.principal.keyId)
  assert.deepEqual(await within30s(watched, revoke), ['credential'])
  assert.deepEqual(stays, [])
  stop()
})

test('an app password that expires ends its sessions', async () => {
  const watched = await open({ expiresAt: clock.now() + 50_000 })
  assert.deepEqual(await within30s(watched, () => {}), ['credential'])
})

test('a revoked or rotated key ends its sessions', async () => {
  const [revoked, rotated] = [await open({ byKey: true }), await open({ byKey: true })]
  const keyOf = ({ session }: Watched) => session.principal.keyId
  assert.deepEqual(await within30s(revoked, () => directory.keys.revoke(team.id, keyOf(revoked))), ['credential'])
  assert.deepEqual(await within30s(rotated, () => directory.keys.rotate(team.id, keyOf(rotated), 0)), ['credential'])
})

test('a rotated key with a grace period ends its sessions after it', async () => {
  const watched = await open({ byKey: true })
  await directory.keys.rotate(team.id, watched.session.principal.keyId, 3600)
  clock.advance(3_500_000)
  await new Promise(setImmediate)
  assert.deepEqual(watched.ended, [])
  clock.advance(100_000)
  await new Promise(setImmediate)
  clock.advance(30_000)
  await new Promise(setImmediate)
  assert.deepEqual(watched.ended, ['credential'])
})

test('a deleted mailbox ends its sessions; a suspended one becomes read-only, and writable again', async () => {
  const deleted = await open()
  const remove = () => administration.mailboxes.delete(team.id, deleted.mailboxId)
  assert.deepEqual(await within30s(deleted, remove), ['mailbox'])
  const suspended = await open()
  const suspend = () => directory.mailboxes.suspend(team.id, suspended.mailboxId)
  assert.deepEqual(await within30s(suspended, suspend), [])
  const again = access.watch(suspended.session, assert.fail)
  assert.equal(suspended.session.suspended, true)
  await directory.mailboxes.reactivate(team.id, suspended.mailboxId)
  clock.advance(30_000)
  await new Promise(setImmediate)
  assert.equal(suspended.session.suspended, false)
  again()
})

test('a suspended team ends all its sessions', async () => {
  const other = await appliance.team('Other')
  await other.domain('other.test')
  const watched = await open({ of: other, name: 'other.test' })
  const suspend = () => directory.teams.setStatus(other.id, 'suspended')
  assert.deepEqual(await within30s(watched, suspend), ['team'])
})

test('the token of an agent ends its sessions when it expires, or its registration is revoked', async () => {
  const client = new AgentClient(appliance)
  const openAgent = async () => {
    const { identity_assertion, registration_id, mailbox } = await client.register({})
    const token = await client.readToken(identity_assertion)
    const answer = (said: string) => (said === '' ? `user=\u0001auth=Bearer ${token}\u0001\u0001` : '')
    const result = await authenticate(appliance, 'XOAUTH2', answer)
    assert.ok(result.accepted)
    const ended: SessionEnd[] = []
    const stop = access.watch(result.session, (why) => ended.push(why))
    const watched: Watched = { session: result.session, mailboxId: mailbox.id, ended, stop }
    return { watched, id: registration_id as string }
  }
  const expiring = await openAgent()
  assert.deepEqual(await within30s(expiring.watched, () => clock.advance(3_600_000)), ['credential'])
  const revoked = await openAgent()
  const revoke = () => appliance.app.db.write((tx) => agents.ownership.revoke(tx, revoked.id))
  assert.deepEqual(await within30s(revoked.watched, revoke), ['credential'])
})

test('many sessions are looked at in pieces; one that fails to end does not keep the others', async () => {
  const first = await open()
  const ended: string[] = []
  const copies = Array.from({ length: 450 }, (_, n) => ({ ...first.session, source: `${n}` }))
  access.watch(copies[0]!, () => {
    throw new Error('broken session')
  })
  for (const copy of copies.slice(1)) access.watch(copy, () => ended.push(copy.source))
  await directory.appPasswords.revoke(first.mailboxId, first.session.principal.keyId)
  clock.advance(30_000)
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
  assert.equal(ended.length, copies.length - 1)
  assert.deepEqual(first.ended, ['credential'])
})
