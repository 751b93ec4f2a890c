// What the doctor sees of backups: the schedule, the age of the last good one, and the disk they are on.

import { resolve } from 'node:path'
import { readApplianceId } from '../../store/appliance/record.ts'
import { BackupFolder } from '../backup/folder.ts'
import { isLate } from '../backup/schedule.ts'
import type { DoctorDeps } from './deps.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

const CHECK = 'backup'
const HOW = 'Choose times, and a rule for old ones.'
const SCHEDULE = 'mailstead backups --at 03:15'
const LOOK = 'Look at the last attempt, or make one now.'
const LIST = 'mailstead backups'

export async function checkBackups({
  config,
  db,
  clock,
}: Pick<DoctorDeps, 'config' | 'db' | 'clock'>): Promise<Finding[]> {
  const folder = new BackupFolder(config, () => readApplianceId(db.read))
  const { BACKUP_TIMES: times } = config
  try {
    const now = clock.now()
    const lastGood = await folder.lastGood(now)
    const [newest] = (await folder.list()).filter(({ isOwn, status }) => isOwn && status === 'complete')
    const findings: Finding[] = []
    const how: [string, string] = times.length === 0 ? [HOW, SCHEDULE] : [LOOK, LIST]
    if (lastGood === null) {
      const says = 'There is no backup of this server.'
      findings.push(warning(CHECK, says, ...how))
    } else if (isLate({ times, lastGood, hasFailed: false, now })) {
      const says = `The last good backup is of ${new Date(lastGood.at).toISOString()}: ${lastGood.file}.`
      findings.push(failing(CHECK, says, ...how))
    } else if (times.length === 0) {
      findings.push(warning(CHECK, 'No backups are scheduled.', HOW, SCHEDULE))
    }
    if (newest?.damage != null) {
      const says = `The newest backup has damaged contents: ${newest.damage}`
      findings.push(
        failing(
          CHECK,
          says,
          'Keep the older backups, none is deleted now, and read both databases from end to end.',
          'mailstead doctor --deep',
        ),
      )
    }
    if (lastGood?.file.startsWith(`${folder.path}/`) && (await folder.disk()).isDataDisk) {
      const says = `The backups in ${folder.path} are on the disk of the data folder (${resolve(config.DATA_DIR)}): lost with it.`
      findings.push(
        warning(CHECK, says, 'Set BACKUP_DIR to a folder on another disk, or copy each backup to another machine.'),
      )
    }
    if (findings.length > 0) return findings
    return [fine(CHECK, `The last good backup is of ${new Date(lastGood!.at).toISOString()}: ${lastGood!.file}.`)]
  } catch (error) {
    return [
      failing(
        CHECK,
        (error as Error).message,
        'Let the user of the appliance read and write the folder, or set BACKUP_DIR.',
      ),
    ]
  }
}
