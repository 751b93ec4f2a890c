// Checks and backups of the whole appliance, for the operator.

import assert from 'node:assert/strict'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { GROUP_MS } from '../../src/maintenance/doctor/checks.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { data, failure, receive } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team('Shop')
await team.domain('shop.test')
const box = await team.mailbox('ana@shop.test')
const { secret: key } = await appliance.app.directory.operatorKeys.issue('test')
const base = `http://127.0.0.1:${appliance.ports.operator}/operator/v1`
const ask = (method: string, path: string, body?: unknown, credential: string | null = key) =>
  appliance.call(method, base + path, credential, body)

test('the checks of the doctor are run on demand, and their last findings kept', async () => {
  const none = data<Json>(await ask('GET', '/doctor'))
  assert.deepEqual([none.checked_at, none.healthy, none.findings], [null, null, []])
  const [found, same] = await Promise.all([ask('POST', '/doctor'), ask('POST', '/doctor', { outside: false })])
  const health = data<Json>(found)
  assert.deepEqual(data<Json>(same).checked_at, health.checked_at, 'two askers, one run')
  const checks = new Set((health.findings as Json[]).map(({ check }) => check))
  for (const check of ['data_folder', 'disk', 'inodes', 'clock', 'tls', 'settings', 'queue', 'account'])
    assert.ok(checks.has(check), check)
  const { ok, warn, fail } = health.counts
  assert.deepEqual([ok + warn + fail, health.healthy], [health.findings.length, fail === 0])
  for (const { status, sentence, remedy } of health.findings as Json[]) {
    assert.ok(sentence.endsWith('.') && (status === 'ok') === (remedy === null), sentence)
  }
  assert.ok(!JSON.stringify(health).includes(appliance.app.folder.secret.toString()))
  assert.deepEqual(data<Json>(await ask('GET', '/doctor')), health)
  for (let more = 0; more < 4; more++) await ask('POST', '/doctor')
  failure(await ask('POST', '/doctor'), 429, 'rate_limit_exceeded')
})

test('runs with checks from outside do not overlap: who asks meanwhile gets the result of the one that waits', async () => {
  const { doctor } = appliance.app.maintenance
  const [plain, ...outside] = await Promise.all([doctor.run(false), doctor.run(true), doctor.run(true)])
  assert.equal(plain.outside, false)
  assert.ok(outside[0]!.outside)
  assert.equal(outside[0], outside[1])
})

test('checks that hear nothing from the network end with a warning', async () => {
  const { app } = appliance
  const late: (() => void)[] = []
  const clock = { ...app.clock, after: (ms: number, run: () => void) => (late.push(run), { cancel() {}, ms }) }
  const { boundedChecks } = await import('../../src/maintenance/doctor/checks.ts')
  const run = boundedChecks({ clock: clock as unknown as typeof app.clock })
  const silent = run('domain', () => new Promise(() => {}))
  late[0]!()
  const [finding] = await silent
  assert.deepEqual([finding!.level, finding!.check], ['warn', 'domain'])
  assert.ok(finding!.says.includes(String(GROUP_MS / 1000)))
})

test('a backup is started, watched and listed; it can be restored', async () => {
  await receive(appliance, { to: box.email, subject: 'In the backup' })
  const { backups } = appliance.app.maintenance
  await mkdir(join(backups.folder, 'mailstead-20300101T000000Z.tar.zst.part'), { recursive: true })
  await writeFile(join(backups.folder, 'notes.txt'), 'of the operator')
  const started = await ask('POST', '/backups')
  assert.equal(started.status, 202, JSON.stringify(started.body))
  const { name, status } = started.body.data
  assert.deepEqual([status, started.headers.get('location')], ['running', `/operator/v1/backups/${name}`])
  failure(await ask('POST', '/backups'), 409, 'conflict')
  await backups.settle()
  const made = data<Json>(await ask('GET', `/backups/${name}`))
  assert.deepEqual([made.status, made.messages, made.progress, made.failure], ['complete', 1, null, null])
  assert.deepEqual(data<Json[]>(await ask('GET', '/backups')), [made])
  assert.deepEqual((await readdir(backups.folder)).sort(), [name, 'notes.txt'], 'nothing of its work stays')
  assert.equal((await stat(join(backups.folder, name))).mode & 0o077, 0, 'for the user of the appliance alone')
  const into = join(backups.folder, 'again')
  const restored = (await new Commands({ DATA_DIR: into }).json('restore', join(backups.folder, name))) as Json
  assert.equal(restored.counts.messages, 1)
})

test('names of other files are not found, and only the operator reaches them', async () => {
  for (const name of ['notes.txt', '..%2f..%2fmail.db', 'mailstead-20300101T000000Z.tar.zst.part', '%00']) {
    failure(await ask('GET', `/backups/${name}`), 404, 'not_found')
  }
  for (const [method, path] of [
    ['GET', '/doctor'],
    ['POST', '/doctor'],
    ['GET', '/backups'],
    ['POST', '/backups'],
  ] as const) {
    failure(await ask(method, path, undefined, team.key), 401, 'authentication_required')
  }
})

test('a backup that fails says why, and one that is interrupted leaves nothing', async () => {
  await using broken = await startAppliance({ env: { BACKUP_DIR: '/proc/nowhere' } })
  const { backups } = broken.app.maintenance
  await assert.rejects(backups.start(), /folder of backups cannot be written/)
  await using closing = await startAppliance()
  const { name } = await closing.app.maintenance.backups.start()
  const { folder } = closing.app.maintenance.backups
  await closing.app.maintenance.backups.close()
  assert.equal((await closing.app.maintenance.backups.get(name))?.status, 'failed')
  assert.deepEqual(await readdir(folder), [])
})
