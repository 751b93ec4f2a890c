// Contents that were found damaged when they were read: each is read again, and named while it is damaged.

import { type Damage, damageCount, damageLines, damageOf } from '../damage.ts'
import type { DoctorDeps } from './deps.ts'
import { type CheckName, type Finding, failing, fine } from './finding.ts'

/** Contents that are read again at most. */
const REVIEWED_MAX = 200
const NAMED_MAX = 10
const READ = 'content_read'

export async function checkContents({ store, db }: Pick<DoctorDeps, 'store' | 'db'>): Promise<Finding> {
  const { damaged } = store.blobs
  const whole: Uint8Array[] = []
  const still: Uint8Array[] = []
  for (const content of damaged.list(REVIEWED_MAX)) {
    if (await store.blobs.isIntact(content)) whole.push(content.hash)
    else still.push(content.hash)
  }
  if (whole.length > 0) await damaged.forget(whole)
  const damage = { ...damageOf(db.read, still), contents: damaged.count() }
  if (damage.contents === 0) return fine(READ, 'No content that was read is damaged. --deep reads all of it.')
  return damagedContents(READ, damage)
}

/** The finding that names them. */
export function damagedContents(check: CheckName, { contents, names }: Damage): Finding {
  const lines = damageLines({ contents, names: names.slice(0, NAMED_MAX) })
  return failing(
    check,
    `${damageCount({ contents })} in blobs.db: ${lines.join('; ')}.`,
    'Only these are lost here: restore the newest backup that holds them into an empty folder (mailstead restore <file> --data <folder>), and import them from it.',
  )
}
