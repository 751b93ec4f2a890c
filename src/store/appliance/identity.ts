// Checks at every start that mail.db, blobs.db and the secret belong together and are of one moment; on the first start it ties them.

import { isoTime } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import { randomName } from '../../base/ids.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Db } from '../../db/db.ts'
import { opensDkimKeys } from '../../directory/dkim-keys.ts'
import { countKept, keptContents } from '../blobs.ts'
import { newestContents } from '../messages/named-contents.ts'
import { type ApplianceRow, makeAppliance, makeOwner, type OwnerRow, readAppliance, readOwner } from './record.ts'

const CANARY_PURPOSE = 'appliance canary'
/** The databases are written one after the other: they may differ by the sign of life that was being written. */
const BEATS_APART_MAX = 1
/** An appliance may write signs of life while its files are looked at by another process. */
const LOOKS = 3
const ADVICE = 'Put back both databases of one backup: mailstead restore <file> into an empty folder.'

export interface IdentityDeps {
  db: Db
  blobsDb: Db
  vault: Vault
  /** Where the secret comes from, for the sentence: a file, or the setting APP_SECRET. */
  secretSource: string
  /** Whether mail.db has been set up: without a team it names no content. */
  isInUse: boolean
  /** The time of a first sign of life, where there is none yet. ms */
  lastSeenAt(): Promise<number>
}

/**
 * @returns the row of mail.db
 * @throws ProductError service_unavailable with a sentence that says what does not fit and what to do
 */
export async function checkIdentity(deps: IdentityDeps): Promise<ApplianceRow> {
  for (let look = 1; ; look++) {
    // Signs of life are written to blobs.db first: read in this order, that of mail.db is not behind by itself.
    const owner = await readOwner(deps.blobsDb.read)
    const appliance = await readAppliance(deps.db.read)
    if (appliance === undefined || owner === undefined) {
      await tie(deps, appliance, owner)
      continue
    }
    const fault = faultOf(deps, appliance, owner)
    // The secret of another appliance's mail.db is not asked for.
    if (appliance.id === owner.id) checkSecret(deps, appliance)
    if (fault === null) return appliance
    if (look >= LOOKS) throw refused(fault)
  }
}

function faultOf({ db, blobsDb }: IdentityDeps, appliance: ApplianceRow, owner: OwnerRow): string | null {
  if (appliance.id !== owner.id) return `${db.file} and ${blobsDb.file} belong to different appliances. ${ADVICE}`
  const apart = owner.beat - appliance.beat
  if (Math.abs(apart) <= BEATS_APART_MAX) return null
  const mail = `${db.file} (last in use at ${isoTime(appliance.lastSeenAt)})`
  const blobs = `${blobsDb.file} (${isoTime(owner.lastSeenAt)})`
  const [old, young] = apart > 0 ? [mail, blobs] : [blobs, mail]
  return `${old} is an older copy than ${young}. ${ADVICE}`
}

function checkSecret(deps: IdentityDeps, { id, canary }: ApplianceRow): void {
  try {
    if (deps.vault.open(CANARY_PURPOSE, canary).toString() === id) return
  } catch {
    // The bytes were not sealed under this secret.
  }
  throw wrongSecret(deps)
}

function wrongSecret({ secretSource, db }: IdentityDeps): ProductError {
  return refused(
    `${secretSource} is not the secret ${db.file} was made with. Put back keys/app-secret from a backup, or set APP_SECRET to the former value.`,
  )
}

/** Gives both databases the id that one or both lack. A start that was cut short in between is taken up again. */
async function tie(
  deps: IdentityDeps,
  appliance: ApplianceRow | undefined,
  owner: OwnerRow | undefined,
): Promise<void> {
  const { db, blobsDb } = deps
  if (appliance === undefined) {
    if (owner !== undefined) throw refused(`${db.file} is new or an older copy, unlike ${blobsDb.file}. ${ADVICE}`)
    await checkUntied(deps)
    await db.write(async (tx) => makeAppliance(tx, await firstRow(deps)))
    return
  }
  // The first sign of life comes after both rows: a database that lost its row is another file.
  if (appliance.beat > 0) throw refused(`${blobsDb.file} is new or an older copy, unlike ${db.file}. ${ADVICE}`)
  checkSecret(deps, appliance)
  await checkUntied(deps)
  await blobsDb.write((tx) => makeOwner(tx, appliance))
}

async function firstRow({ vault, isInUse, lastSeenAt }: IdentityDeps): Promise<ApplianceRow> {
  const id = randomName()
  const canary = vault.seal(CANARY_PURPOSE, id)
  // How an earlier version ended is not known.
  return { id, canary, beat: 0, lastSeenAt: await lastSeenAt(), isClockHeld: false, isClosed: !isInUse }
}

/** Files of an earlier version have no id: what they hold must do. */
async function checkUntied(deps: IdentityDeps): Promise<void> {
  const { db, blobsDb, isInUse } = deps
  if (!(await opensDkimKeys(db.read, deps.vault))) throw wrongSecret(deps)
  const isEmpty = (await keptContents(blobsDb.read, new Uint8Array(0), 1)).length === 0
  if (!isInUse && !isEmpty) throw refused(`${db.file} is empty although ${blobsDb.file} holds messages. ${ADVICE}`)
  const hashes = await newestContents(db.read)
  if (hashes.length > 0 && (await countKept(blobsDb.read, hashes)) === 0) {
    throw refused(`${blobsDb.file} lacks the content of the newest messages of ${db.file}. ${ADVICE}`)
  }
}

function refused(sentence: string): ProductError {
  return new ProductError('service_unavailable', sentence)
}
