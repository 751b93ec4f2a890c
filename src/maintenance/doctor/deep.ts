// What `doctor --deep` finds by reading both databases from end to end, beside an appliance at work or without one.

import { join } from 'node:path'
import { DatabaseFile } from '../../db/database-file.ts'
import { recount, type WrongCounts } from '../../store/messages/recount.ts'
import { type CheckedContents, checkContents } from '../backup/contents.ts'
import { damageOf } from '../damage.ts'
import type { StepProgress } from '../progress.ts'
import { damagedContents } from './contents.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

const NAMED_MAX = 3
const RESTORE = 'Restore the newest whole backup: mailstead restore <file> into an empty folder.'

/** Works without opening the appliance: damaged files may keep it from being opened. */
export async function checkDatabases(folder: string, progress: StepProgress): Promise<Finding[]> {
  // Content is erased only after its last name is: both moments, in this order, fit.
  const mail = openFile(folder, 'mail.db')
  const blobs = openFile(folder, 'blobs.db')
  try {
    const pages = [
      mail.finding ?? checkPages(mail.file, 'mail.db', progress),
      blobs.finding ?? checkPages(blobs.file, 'blobs.db', progress),
    ]
    // What is read from damaged pages says nothing.
    if (pages.some(({ level }) => level === 'fail')) return pages
    return [
      ...pages,
      contentFinding(mail.file, await checkContents(mail.file, blobs.file, progress)),
      countsFinding(recountMessages(mail.file, progress)),
    ]
  } catch (error) {
    return [damagedFinding('A database', reasonOf(error))]
  } finally {
    mail.file.close()
    blobs.file.close()
  }
}

/** A file at one moment; the finding says why it cannot be read. */
function openFile(folder: string, name: string): { file: DatabaseFile; finding?: Finding } {
  const file = new DatabaseFile(join(folder, name))
  try {
    file.hold()
    return { file }
  } catch (error) {
    return { file, finding: damagedFinding(name, reasonOf(error)) }
  }
}

function recountMessages(mail: DatabaseFile, progress: StepProgress): WrongCounts {
  progress.begin('Counting messages', 'messages')
  return recount(mail.read, (messages) => progress.add(messages))
}

function pageDamage(file: DatabaseFile): string | undefined {
  try {
    return file.damage()
  } catch (error) {
    return reasonOf(error)
  }
}

function checkPages(file: DatabaseFile, name: string, progress: StepProgress): Finding {
  progress.begin(`Checking the pages of ${name}`)
  const damage = pageDamage(file)
  if (damage === undefined) return fine('database', `${name} has no damaged pages.`)
  return damagedFinding(name, damage)
}

/** @param damage of SQLite: a headline that names the schema, then the first problem */
function damagedFinding(name: string, damage: string): Finding {
  const problem =
    damage.split('\n').find((line) => line !== '' && !line.startsWith('***')) ?? 'its pages cannot be read'
  return failing('database', `${name} is damaged: ${problem}.`, RESTORE)
}

/** The message of an error without the statement that precedes it. */
function reasonOf(error: unknown): string {
  const { message } = error as Error
  return message.slice(message.lastIndexOf(' - ') + 1).replace(/^- /, '')
}

function contentFinding(mail: DatabaseFile, { named, damaged }: CheckedContents): Finding {
  const rows = [...named.values()].reduce((sum, count) => sum + count, 0)
  if (damaged.length === 0)
    return fine('contents', `blobs.db has every content that mail.db names (${rows} rows), unchanged.`)
  return damagedContents('contents', damageOf(mail.read, damaged))
}

function countsFinding(wrong: WrongCounts): Finding {
  const parts = Object.entries(wrong).filter(([, ids]) => ids.length > 0)
  if (parts.length === 0) return fine('counts', 'The counts of folders, threads and quotas agree with the messages.')
  const says = parts.map(([what, ids]: [string, string[]]) => `${ids.length} ${what} (${some(ids)})`).join(', ')
  return warning(
    'counts',
    `Wrong counts in ${says}.`,
    'No message is lost; keep a backup and report this with the log.',
  )
}

function some(list: readonly string[]): string {
  return `${list.slice(0, NAMED_MAX).join(', ')}${list.length > NAMED_MAX ? ', …' : ''}`
}
