// `mailstead backups`: the backups in the folder, where it is, and when they are made; with options it chooses times and what is kept.

import { Value } from 'typebox/value'
import { chooseBackupPlan } from '../../api/operator/backups.ts'
import { isoTime } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import { followChosen } from '../../config/load.ts'
import { BackupKeep, TimeOfDay } from '../../config/setting-types.ts'
import type { BackupPlan } from '../../maintenance/backup/backups.ts'
import type { BackupRecord } from '../../maintenance/backup/folder.ts'
import { keepText } from '../../maintenance/backup/keep.ts'
import { sizeText } from '../../maintenance/backup/size-text.ts'
import { auditCredential } from '../frame/audit-command.ts'
import type { Command } from '../frame/command.ts'

const NONE = 'none'

export const backups: Command = {
  words: 'backups',
  summary: 'List the backups, where they are and when they are made; with options, choose times and which are kept.',
  options: {
    at: {
      value: 'times',
      says: 'times of the day in UTC at which a backup is made, such as 03:15 or 03:15,15:15; none: no schedule',
    },
    keep: {
      value: 'rule',
      says: 'days, weeks and months of which the newest is kept, such as "7d 4w 6m"; all: none is deleted',
    },
  },
  async run(call) {
    const app = await call.open()
    const [times, keep] = [timesOf(call.text('at')), keepOf(call.text('keep'))]
    if (times !== undefined || keep !== undefined) {
      await chooseBackupPlan(app.config, { ...(times && { times }), ...(keep !== undefined && { keep }) })
      followChosen(app.config)
      const label = [app.config.BACKUP_TIMES.join(',') || NONE, app.config.BACKUP_KEEP].join(' ')
      await auditCredential(app, backups.words, { teamId: null, target: { type: 'setting', id: null, label } })
    }
    const plan = await app.maintenance.backups.plan()
    const list = await app.maintenance.backups.list()
    return { data: dataOf(plan, list), lines: [...planLines(plan), '', ...listLines(list)] }
  },
}

/** @throws ProductError invalid_parameter */
function timesOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  if (text === NONE) return []
  const times = text.split(',').map((time) => time.trim())
  if (times.every((time) => Value.Check(TimeOfDay, time))) return times
  throw new ProductError('invalid_parameter', '--at must be times of the day such as 03:15 or 03:15,15:15, or none.')
}

/** @throws ProductError invalid_parameter */
function keepOf(text: string | undefined): string | undefined {
  if (text === undefined || Value.Check(BackupKeep, text)) return text
  throw new ProductError('invalid_parameter', '--keep must be days, weeks and months such as "7d 4w 6m", or all.')
}

function dataOf(plan: BackupPlan, list: readonly BackupRecord[]) {
  const { folder, disk, times, keep, nextAt, lastGood, isLate } = plan
  return {
    ...{ folder, times, keep: keepText(keep), is_late: isLate },
    disk: { mount_point: disk.mountPoint, free_bytes: disk.freeBytes, is_data_disk: disk.isDataDisk },
    next_at: nextAt === null ? null : isoTime(nextAt),
    last_good_at: lastGood === null ? null : isoTime(lastGood.at),
    last_good_file: lastGood?.file ?? null,
    backups: list.map(({ name, status, startedAt, sizeBytes, messages, failure, damage, isOwn }) => ({
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
    })),
  }
}

function planLines({ folder, disk, times, keep, nextAt, lastGood, isLate }: BackupPlan): string[] {
  const { mountPoint, freeBytes, isDataDisk } = disk
  const where = isDataDisk ? `${mountPoint}, as the data folder: both are lost together` : mountPoint
  const rule =
    keep === null
      ? 'All are kept.'
      : `Kept are the newest of ${keep.days} days, ${keep.weeks} weeks and ${keep.months} months.`
  return [
    `Folder: ${folder} (disk ${where}; ${sizeText(freeBytes)} free)`,
    times.length === 0
      ? 'No backups are scheduled. Choose times, such as: mailstead backups --at 03:15'
      : `Every day at ${times.join(', ')} UTC, next at ${isoTime(nextAt!)}. ${rule}`,
    lastGood === null
      ? 'There is no good backup.'
      : `${isLate ? 'LATE: the' : 'The'} last good one is of ${isoTime(lastGood.at)}: ${lastGood.file}`,
  ]
}

function listLines(list: readonly BackupRecord[]): string[] {
  if (list.length === 0) return ['No backups are in the folder.']
  return list.map(({ name, status, sizeBytes, messages, failure, damage, isOwn }) => {
    const facts = [sizeBytes !== null && sizeText(sizeBytes), messages !== null && `${messages} messages`].filter(
      Boolean,
    )
    const problem = failure ?? damage ?? (isOwn ? null : 'Of another appliance.')
    return `${name}  ${status}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}${problem === null ? '' : `  ${problem}`}`
  })
}
