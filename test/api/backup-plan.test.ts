// Scheduled backups: chosen over the API and by command, made by the clock, thinned out by their rule, and missed aloud.

import assert from 'node:assert/strict'
import { copyFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/durations.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure } from './expect.ts'

const clock = new ManualClock(Date.parse('2030-01-02T10:00:00Z'))
const appliance = await startAppliance({ clock, env: { BACKUP_DIR: '' } })
after(() => appliance.close())
const { maintenance, config, directory } = appliance.app
const { secret: key } = await directory.operatorKeys.issue('test')
const base = `http://127.0.0.1:${appliance.ports.operator}/operator/v1`
const ask = (method: string, path: string, body?: unknown) => appliance.call(method, base + path, key, body)
/** The time of day only: timers would have the appliance itself run the job at a moment of its own. */
const later = (ms: number) => clock.set(clock.now() + ms)
const files = async () => (await readdir(maintenance.backups.folder)).filter((name) => name.endsWith('.zst')).sort()

/** What the job does once a minute, and the backup it started. */
async function runJob(): Promise<boolean> {
  const isStarted = await maintenance.backups.startDue()
  await maintenance.backups.settle()
  return isStarted
}

const findings = async () => {
  const { findings: all } = data<Json>(await ask('POST', '/doctor'))
  return (all as Json[]).filter(({ check }) => check === 'backup')
}

test('without a schedule nothing is made, and the doctor says how to choose one', async () => {
  const plan = data<Json>(await ask('GET', '/backup-plan'))
  assert.deepEqual([plan.times, plan.next_at, plan.last_good_at, plan.is_late], [[], null, null, false])
  assert.deepEqual(plan.keep, { days: 7, weeks: 4, months: 6 })
  assert.equal(plan.folder, join(config.DATA_DIR, 'backups'))
  assert.ok(plan.disk.is_data_disk && plan.disk.free_bytes > 0 && plan.folder.startsWith(plan.disk.mount_point))
  assert.equal(await runJob(), false)
  const [finding] = await findings()
  assert.deepEqual([finding!.status, finding!.sentence], ['warn', 'There is no backup of this server.'])
  assert.match(finding!.command, /mailstead backups --at/)
})

test('a schedule that is chosen holds at once, and makes up for a time that has passed today', async () => {
  const chosen = data<Json>(
    await ask('PUT', '/backup-plan', { times: ['15:15', '03:15'], keep: { days: 2, weeks: 0, months: 0 } }),
  )
  assert.deepEqual([chosen.times, chosen.next_at], [['03:15', '15:15'], '2030-01-02T15:15:00.000Z'])
  const setting = data<Json[]>(await ask('GET', '/settings')).find(({ name }) => name === 'BACKUP_TIMES')!
  assert.deepEqual([setting.value, setting.source], ['03:15,15:15', 'console'])
  assert.equal(await runJob(), true)
  assert.equal(await runJob(), false, 'one for each time')
  assert.deepEqual(await files(), ['mailstead-20300102T100000Z.tar.zst'])
  const [made] = data<Json[]>(await ask('GET', '/backups'))
  assert.deepEqual([made!.status, made!.is_own, made!.messages], ['complete', true, 0])
  failure(await ask('PUT', '/backup-plan', { times: ['25:00'], keep: null }), 422, 'validation_error')
})

test('old ones go by the rule; those of another appliance, damaged files and other files stay', async () => {
  const { folder } = maintenance.backups
  const [own] = await files()
  await using other = await startAppliance()
  const { name } = await other.app.maintenance.backups.start()
  await other.app.maintenance.backups.settle()
  await copyFile(join(other.app.maintenance.backups.folder, name), join(folder, 'mailstead-20200101T000000Z.tar.zst'))
  await writeFile(join(folder, 'mailstead-20200102T000000Z.tar.zst'), 'not an archive')
  await writeFile(join(folder, 'notes.txt'), 'of the operator')
  later(5.5 * HOUR_MS)
  assert.equal(await runJob(), true)
  later(12 * HOUR_MS)
  assert.equal(await runJob(), true)
  later(DAY_MS)
  assert.equal(await runJob(), true)
  assert.deepEqual(await readdir(folder).then((all) => all.sort()), [
    'mailstead-20200101T000000Z.tar.zst',
    'mailstead-20200102T000000Z.tar.zst',
    'mailstead-20300103T033000Z.tar.zst',
    'mailstead-20300104T033000Z.tar.zst',
    'notes.txt',
  ])
  assert.equal(own, 'mailstead-20300102T100000Z.tar.zst')
  const listed = new Map(data<Json[]>(await ask('GET', '/backups')).map((one) => [one.name, one]))
  assert.equal(listed.get('mailstead-20200101T000000Z.tar.zst')!.is_own, false)
  assert.match(listed.get('mailstead-20200102T000000Z.tar.zst')!.failure, /damaged, incomplete/)
})

test('a backup that fails is tried again after half an hour, and is late until then', async () => {
  const { folder } = maintenance.backups
  await rename(folder, `${folder}-away`)
  await writeFile(folder, 'a file where the folder was')
  later(12 * HOUR_MS)
  assert.equal(await runJob(), false)
  failure(await ask('GET', '/backups'), 503, 'service_unavailable')
  const plan = data<Json>(await ask('GET', '/backup-plan'))
  assert.match(plan.problem, /cannot be read/)
  assert.equal(plan.is_late, true)
  assert.equal((await findings())[0]!.status, 'fail')
  await rm(folder)
  await rename(`${folder}-away`, folder)
  assert.equal(await runJob(), false, 'not before half an hour')
  later(31 * MINUTE_MS)
  assert.equal(await runJob(), true)
  assert.equal(data<Json>(await ask('GET', '/backup-plan')).is_late, false)
})

test('a backup that a command made elsewhere counts as the last good one', async () => {
  later(3 * DAY_MS)
  assert.equal(data<Json>(await ask('GET', '/backup-plan')).is_late, true)
  assert.match((await findings())[0]!.sentence, /^The last good backup is of 2030-01-04T/)
  const file = join(config.DATA_DIR, '..', `elsewhere-${process.pid}.tar.zst`)
  const cli = new Commands({ DATA_DIR: config.DATA_DIR })
  await cli.json('backup', file)
  await rm(file)
  // The command reads the clock of the machine.
  const note = JSON.parse(await readFile(join(config.DATA_DIR, 'last-backup.json'), 'utf8'))
  assert.equal(note.file, file)
  await writeFile(join(config.DATA_DIR, 'last-backup.json'), JSON.stringify({ ...note, at: clock.now() }))
  const plan = data<Json>(await ask('GET', '/backup-plan'))
  assert.deepEqual([plan.is_late, plan.last_good_file], [false, file])
})

test('the command lists, chooses and refuses', async () => {
  const cli = new Commands({ DATA_DIR: config.DATA_DIR })
  const chosen = (await cli.json('backups', '--at', '04:00', '--keep', '14d 8w')) as Json
  assert.deepEqual([chosen.times, chosen.keep], [['04:00'], '14d 8w'])
  assert.deepEqual(data<Json>(await ask('GET', '/backup-plan')).times, ['04:00'], 'the running appliance follows')
  await cli.refused(['backups', '--at', '4 am'], /times of the day/)
  await cli.refused(['backups', '--keep', '0d'], /days, weeks and months/)
  const none = (await cli.json('backups', '--at', 'none')) as Json
  assert.deepEqual(none.times, [])
})

test('what the environment sets is not changed in the console', async () => {
  await using fixed = await startAppliance({ env: { BACKUP_TIMES: '03:15' } })
  const { secret } = await fixed.app.directory.operatorKeys.issue('test')
  const path = `http://127.0.0.1:${fixed.ports.operator}/operator/v1/backup-plan`
  const plan = data<Json>(await fixed.call('GET', path, secret))
  assert.deepEqual([plan.is_changeable, plan.times], [false, ['03:15']])
  failure(await fixed.call('PUT', path, secret, { times: [], keep: null }), 409, 'conflict')
})
