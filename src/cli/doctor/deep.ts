// What `doctor --deep` finds by reading both databases from end to end, beside an appliance at work or without one.

import { join } from 'node:path'
import { DatabaseFile } from '../../db/database-file.ts'
import { recount, type WrongCounts } from '../../store/recount.ts'
import { missingContents } from '../backup/contents.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

const NAMED_MAX = 3
const RESTORE = 'Restore the newest whole backup: mailstead restore <file> into an empty folder.'

export async function checkDatabases(folder: string): Promise<Finding[]> {
  const mail = new DatabaseFile(join(folder, 'mail.db'))
  const blobs = new DatabaseFile(join(folder, 'blobs.db'))
  try {
    // Content is erased only after its last name is: both moments, in this order, fit.
    await mail.hold()
    await blobs.hold()
    const pages = [await checkPages(mail, 'mail.db'), await checkPages(blobs, 'blobs.db')]
    // What is read from damaged pages says nothing.
    if (pages.some(({ level }) => level === 'fail')) return pages
    return [
      ...pages,
      missingContentFinding(await missingContents(mail, blobs)),
      countsFinding(await recount(mail.read)),
    ]
  } finally {
    await mail.close()
    await blobs.close()
  }
}

async function checkPages(file: DatabaseFile, name: string): Promise<Finding> {
  const damage = await file.quickDamage().catch((error: Error) => error.message)
  if (damage === undefined) return fine('database', `${name} has no damaged pages.`)
  return failing('database', `${name} is damaged: ${damage.split('\n')[0]}.`, RESTORE)
}

function missingContentFinding({ named, missing }: { named: number; missing: string[] }): Finding {
  if (missing.length === 0) return fine('contents', `blobs.db has every content that mail.db names (${named} rows).`)
  const says = `${missing.length} contents that mail.db names are missing from blobs.db: ${some(missing)}.`
  return failing('contents', says, RESTORE)
}

export function countsFinding(wrong: WrongCounts): Finding {
  const parts = Object.entries(wrong).filter(([, ids]) => ids.length > 0)
  if (parts.length === 0) return fine('counts', 'The counts of folders, threads and quotas agree with the messages.')
  const says = parts.map(([what, ids]: [string, string[]]) => `${ids.length} ${what} (${some(ids)})`).join(', ')
  return warning(
    'counts',
    `Wrong counts are shown by ${says}.`,
    'No message is lost; keep a backup and report this with the log.',
  )
}

function some(list: readonly string[]): string {
  return `${list.slice(0, NAMED_MAX).join(', ')}${list.length > NAMED_MAX ? ', …' : ''}`
}
