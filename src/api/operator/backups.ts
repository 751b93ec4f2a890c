// Backups of the whole appliance, for the operator. They are not served: a backup holds the secret of the appliance and all mail.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { conflict, notFound } from '../../base/errors.ts'
import { choose } from '../../config/chosen-settings.ts'
import type { Config } from '../../config/config.ts'
import { sourceOf } from '../../config/load.ts'
import { BACKUP_TIMES_MAX, TimeOfDay } from '../../config/setting-types.ts'
import { answer, route } from '../../http/route.ts'
import { listOf, Nullable, Words } from '../../http/schema.ts'
import type { BackupPlan } from '../../maintenance/backup/backups.ts'
import { BACKUP_NAME, type BackupRecord, LISTED_MAX } from '../../maintenance/backup/folder.ts'
import { keepText } from '../../maintenance/backup/keep.ts'
import { record } from '../schemas/record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from '../schemas/time.ts'

const Bytes = Type.Integer({ minimum: 0 })
const BackupName = Type.String({ pattern: BACKUP_NAME, examples: ['mailstead-20300517T093000Z.tar.zst'] })

const Backup = record('Backup', 'A backup of the whole appliance.', {
  name: { ...BackupName, description: 'Name of its file in the folder of backups (`BACKUP_DIR`).' },
  status: Words(['running', 'complete', 'failed'], 'complete: it was read back and verified.'),
  started_at: TimeOf('When it was started.'),
  size_bytes: Nullable({ ...Bytes, description: 'Null until it is complete.' }),
  messages: Nullable({ ...Bytes, description: 'How many messages it holds; null until it is complete.' }),
  progress: Nullable(
    record('BackupProgress', 'The step that runs.', {
      label: Type.String({ examples: ['Copying blobs.db'] }),
      unit: Words(['bytes', 'messages', 'contents']),
      done: Bytes,
      total: Nullable({ ...Bytes, description: 'Null where it is not known.' }),
    }),
  ),
  failure: Nullable(Type.String({ description: 'Why it failed, in a sentence.' })),
  damage: Nullable(
    Type.String({
      description:
        'Which messages in it are damaged, because they were so in the appliance; null when none is. Of backups of earlier runs only how many.',
    }),
  ),
  is_own: Type.Boolean({
    description: 'False for a backup of another appliance in the same folder: none of those is deleted.',
  }),
})

const KeepCount = Type.Integer({ minimum: 0, maximum: 999 })

const BackupKeep = record('BackupKeep', 'The newest backup of each of the last days, weeks and months that have one.', {
  days: { ...KeepCount, minimum: 1 },
  weeks: KeepCount,
  months: KeepCount,
})

const Times = Type.Array(TimeOfDay, {
  maxItems: BACKUP_TIMES_MAX,
  description: 'Times of the day in UTC (`BACKUP_TIMES`); none: backups are made on demand alone, and none is deleted.',
})

const Plan = record('BackupPlan', 'When backups are made, where they are stored, and which are kept.', {
  folder: Type.String({ description: 'Where the files are: `BACKUP_DIR`.' }),
  disk: record('BackupDisk', 'The disk of the folder.', {
    mount_point: Type.String(),
    size_bytes: Bytes,
    free_bytes: Bytes,
    is_data_disk: Type.Boolean({ description: 'Whether the data folder is on it too: both are lost together.' }),
  }),
  needed_bytes: { ...Bytes, description: 'What the next backup needs free.' },
  times: Times,
  keep: Nullable(BackupKeep),
  next_at: TimeOrNull('When the next one is due; null without a schedule.'),
  last_good_at: TimeOrNull('When the last backup that is whole and undamaged was begun; null when there is none.'),
  last_good_file: Nullable(Type.String({ description: 'Where it was stored; a command may store it anywhere.' })),
  is_late: Type.Boolean({
    description:
      'The last good one is older than one and a half of the longest interval between `times`, without a schedule than a week.',
  }),
  problem: Nullable(Type.String({ description: 'Why the folder cannot be read, in a sentence.' })),
  is_changeable: Type.Boolean({
    description: 'False where the environment or the settings file has `BACKUP_TIMES` or `BACKUP_KEEP`.',
  }),
})

const listBackups = route({
  method: 'GET',
  surface: 'operator',
  path: '/backups',
  docs: {
    operation: 'listBackups',
    tag: 'Service',
    summary: 'List the backups in the folder of backups, newest first',
    description:
      `The newest ${LISTED_MAX}, and the one that runs or has failed since the start. A backup cannot be fetched here: it holds the secret ` +
      'of the appliance and all mail. `mailstead restore` reads it on the machine. 503 when the folder cannot be read.',
    errors: ['service_unavailable'],
  },
  access: { as: 'operator' },
  reply: { schema: listOf(Backup), list: 'whole' },
  async handle({ app }) {
    return { items: (await app.maintenance.backups.list()).map(presentBackup), next: null }
  },
})

const createBackup = route({
  method: 'POST',
  surface: 'operator',
  path: '/backups',
  docs: {
    operation: 'createBackup',
    tag: 'Service',
    summary: 'Start a backup of the whole appliance, as `mailstead backup` makes it; one at a time (409)',
    description:
      'It is made beside the work of the appliance and read back before it counts. 503 without room on the disk.',
    errors: ['conflict', 'service_unavailable'],
  },
  access: { as: 'operator' },
  limits: { throttle: { times: 6, seconds: 3600 } },
  reply: { schema: Backup, status: 202, location: true },
  async handle({ app }) {
    const made = await app.maintenance.backups.start()
    const headers = { Location: `/operator/v1/backups/${made.name}` }
    return answer({ data: presentBackup(made), status: 202, headers })
  },
})

const readBackup = route({
  method: 'GET',
  surface: 'operator',
  path: '/backups/{backup_name}',
  docs: {
    operation: 'getBackup',
    tag: 'Service',
    summary: 'Get a backup with its progress',
    description: 'A running one has its step and progress, a failed one the reason.',
  },
  access: { as: 'operator' },
  params: Type.Object({ backup_name: BackupName }),
  reply: { schema: Backup },
  async handle({ params: { backup_name: name }, app }) {
    const found = await app.maintenance.backups.get(name)
    if (found === undefined) throw notFound('backup')
    return presentBackup(found)
  },
})

const readPlan = route({
  method: 'GET',
  surface: 'operator',
  path: '/backup-plan',
  docs: {
    operation: 'getBackupPlan',
    tag: 'Service',
    summary: 'Get when backups are made, where they are stored, which are kept, and whether one is missing',
    description:
      '`is_late` and `problem` are what to watch. A backup that `mailstead backup` made elsewhere counts as the last good one.',
  },
  access: { as: 'operator' },
  reply: { schema: Plan },
  handle: async ({ app }) => presentPlan(app.config, await app.maintenance.backups.plan()),
})

const replacePlan = route({
  method: 'PUT',
  surface: 'operator',
  path: '/backup-plan',
  docs: {
    operation: 'replaceBackupPlan',
    tag: 'Service',
    summary: 'Choose when backups are made and which are kept; it holds at once',
    description:
      'Stored in the data folder. 409 where the environment or the settings file has one of the settings. A time that has passed today without ' +
      'a backup since is made up for within a minute. Old ones are deleted after the next backup that is whole and undamaged.',
    errors: ['conflict'],
  },
  access: { as: 'operator' },
  body: {
    schema: record(
      'BackupPlanChange',
      'The schedule.',
      { times: Times, keep: Nullable(BackupKeep) },
      { times: ['03:15'], keep: { days: 7, weeks: 4, months: 6 } },
    ),
  },
  reply: { schema: Plan },
  async handle({ body: { times, keep }, app }) {
    await chooseBackupPlan(app.config, { times, keep: keepText(keep) })
    return presentPlan(app.config, await app.maintenance.backups.plan())
  },
})

const PLAN_SETTINGS = ['BACKUP_TIMES', 'BACKUP_KEEP'] as const

/**
 * For the running appliance, which follows within a minute, and the next start.
 * @param change as the settings have them; what is left out stays
 * @throws ProductError conflict where another source has one of the settings
 */
export async function chooseBackupPlan(config: Config, change: { times?: string[]; keep?: string }): Promise<void> {
  const fixed = PLAN_SETTINGS.find((name) => isFixed(config, name))
  if (fixed !== undefined) {
    throw conflict(
      `The ${sourceOf(config, fixed) === 'file' ? 'settings file' : 'environment'} has ${fixed}. Change it there.`,
    )
  }
  const { times, keep } = change
  await choose(config.DATA_DIR, {
    ...(times === undefined ? {} : { BACKUP_TIMES: [...new Set(times)].sort() }),
    ...(keep === undefined ? {} : { BACKUP_KEEP: keep }),
  })
}

function isFixed(config: Config, name: (typeof PLAN_SETTINGS)[number]): boolean {
  return ['environment', 'file'].includes(sourceOf(config, name))
}

function presentPlan(config: Config, plan: BackupPlan): Static<typeof Plan> {
  const { folder, disk, neededBytes, times, keep, nextAt, lastGood, isLate, problem } = plan
  return {
    ...{ folder, needed_bytes: neededBytes, times: [...times], keep, is_late: isLate, problem },
    disk: {
      mount_point: disk.mountPoint,
      ...{ size_bytes: disk.sizeBytes, free_bytes: disk.freeBytes, is_data_disk: disk.isDataDisk },
    },
    next_at: isoTimeOrNull(nextAt),
    last_good_at: isoTimeOrNull(lastGood?.at ?? null),
    last_good_file: lastGood?.file ?? null,
    is_changeable: !PLAN_SETTINGS.some((name) => isFixed(config, name)),
  }
}

function presentBackup(one: BackupRecord): Static<typeof Backup> {
  const { name, status, startedAt, sizeBytes, messages, progress, failure, damage, isOwn } = one
  return {
    ...{
      name,
      status,
      started_at: isoTime(startedAt),
      size_bytes: sizeBytes,
      messages,
      failure,
      damage,
      is_own: isOwn,
    },
    progress: progress === null ? null : { ...progress },
  }
}

export const operatorBackups = [listBackups, createBackup, readBackup, readPlan, replacePlan]
