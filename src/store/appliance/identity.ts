// Checks at every start that mail.db, blobs.db and the secret belong together and have one history; on the first start it ties them.

import { isoTime } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import { randomName } from '../../base/ids.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Db } from '../../db/db.ts'
import { opensDkimKeys } from '../../directory/domains/dkim-keys.ts'
import { contentSizes, countStored, isClaimedBy } from '../content/blobs.ts'
import { newestContents } from '../messages/recount.ts'
import { type ApplianceRow, makeAppliance, makeOwner, type OwnerRow, readAppliance, readOwner } from './record.ts'

const CANARY_PURPOSE = 'appliance canary'
/** An appliance may write heartbeats while another process reads its files. */
const ATTEMPTS_MAX = 3
const ADVICE = 'Put back both databases of one backup: mailstead restore <file> into an empty folder.'

/**
 * How mail.db stands to blobs.db. `behind`: one heartbeat older, after a crash between the two writes, or as an older copy. `returned`: it
 * was one heartbeat newer than a copy that was used in its place meanwhile.
 */
export type MailState = 'current' | 'behind' | 'returned'

export interface FolderIdentity {
  appliance: ApplianceRow
  owner: OwnerRow
  mailState: MailState
}

export interface FolderIdentityDeps {
  db: Db
  blobsDb: Db
  vault: Vault
  /** Where the secret comes from, for the sentence: a file, or the setting APP_SECRET. */
  secretSource: string
  /** Whether mail.db has been set up: without a team it names no content. */
  isInUse: boolean
  /** The time of a first heartbeat, where there is none yet. ms */
  lastSeenAt(): number
}

/** @throws ProductError service_unavailable with a sentence that says what does not fit and what to do */
export async function checkIdentity(deps: FolderIdentityDeps): Promise<FolderIdentity> {
  for (let attempt = 1; ; attempt++) {
    // Heartbeats are written to blobs.db first: read in this order, mail.db is not behind because of the reading.
    const owner = readOwner(deps.blobsDb.read)
    const appliance = readAppliance(deps.db.read)
    if (appliance === undefined || owner === undefined) {
      await tie(deps, appliance, owner)
      continue
    }
    const isOneAppliance = appliance.id === owner.id
    const mailState = isOneAppliance ? stateOf(deps, appliance, owner) : null
    // The secret of another appliance's mail.db is not asked for.
    if (isOneAppliance) checkSecret(deps, appliance)
    if (mailState !== null) return { appliance, owner, mailState }
    if (attempt >= ATTEMPTS_MAX) throw refused(mismatchOf(deps, appliance, owner))
  }
}

/**
 * The heartbeat in mail.db must be that of blobs.db or the one before it: blobs.db is written, and flushed, first. Null tokens are those of
 * an earlier version; the count distinguishes its heartbeats.
 * @returns null when the databases do not have one history
 */
function stateOf({ blobsDb }: FolderIdentityDeps, mail: ApplianceRow, owner: OwnerRow): MailState | null {
  const apart = owner.generation - mail.generation
  if (apart === 0 && mail.token === owner.token) return 'current'
  if (apart === 1 && mail.token === owner.previousToken) return 'behind'
  const isReturned = mail.token !== null && isClaimedBy(blobsDb.read, mail.token)
  return isReturned ? 'returned' : null
}

function mismatchOf({ db, blobsDb }: FolderIdentityDeps, appliance: ApplianceRow, owner: OwnerRow): string {
  if (appliance.id !== owner.id) return `${db.file} and ${blobsDb.file} belong to different appliances. ${ADVICE}`
  const apart = owner.generation - appliance.generation
  const mail = `${db.file} (last in use at ${isoTime(appliance.lastSeenAt)})`
  const blobs = `${blobsDb.file} (${isoTime(owner.lastSeenAt)})`
  const isOlder = apart < 0 ? appliance.previousToken === owner.token || apart < -1 : apart > 1
  if (!isOlder) return `${mail} and ${blobs} are of two copies of the data folder that were both in use. ${ADVICE}`
  const [old, young] = apart > 0 ? [mail, blobs] : [blobs, mail]
  return `${old} is an older copy than ${young}. ${ADVICE}`
}

function checkSecret(deps: FolderIdentityDeps, { id, canary }: ApplianceRow): void {
  try {
    if (deps.vault.open(CANARY_PURPOSE, canary).toString() === id) return
  } catch {
    // The bytes were not sealed under this secret.
  }
  throw wrongSecret(deps)
}

function wrongSecret({ secretSource, db }: FolderIdentityDeps): ProductError {
  return refused(
    `${secretSource} is not the secret ${db.file} was made with. Put back keys/app-secret from a backup, or set APP_SECRET to the former value.`,
  )
}

/** Gives both databases the id that one or both lack. A start that was cut short in between is taken up again. */
async function tie(
  deps: FolderIdentityDeps,
  appliance: ApplianceRow | undefined,
  owner: OwnerRow | undefined,
): Promise<void> {
  const { db, blobsDb } = deps
  if (appliance === undefined) {
    if (owner !== undefined) throw refused(`${db.file} is new or an older copy, unlike ${blobsDb.file}. ${ADVICE}`)
    checkUntied(deps)
    await db.write((tx) => makeAppliance(tx, firstRow(deps)))
    return
  }
  // The first heartbeat comes after both rows: a database that lost its row is another file.
  if (appliance.generation > 0) throw refused(`${blobsDb.file} is new or an older copy, unlike ${db.file}. ${ADVICE}`)
  checkSecret(deps, appliance)
  checkUntied(deps)
  await blobsDb.write((tx) => makeOwner(tx, appliance))
}

function firstRow({ vault, isInUse, lastSeenAt }: FolderIdentityDeps): ApplianceRow {
  const id = randomName()
  const canary = vault.seal(CANARY_PURPOSE, id)
  // How an earlier version ended is not known.
  const heartbeat = { generation: 0, token: randomName(), previousToken: null, lastSeenAt: lastSeenAt() }
  return { id, canary, ...heartbeat, isClockHeld: false, isClosed: !isInUse }
}

/** Files of an earlier version have no id: what they hold must do. */
function checkUntied(deps: FolderIdentityDeps): void {
  const { db, blobsDb, isInUse } = deps
  if (!opensDkimKeys(db.read, deps.vault)) throw wrongSecret(deps)
  const isEmpty = contentSizes(blobsDb.read, new Uint8Array(0), 1).length === 0
  if (!isInUse && !isEmpty) throw refused(`${db.file} is empty although ${blobsDb.file} holds messages. ${ADVICE}`)
  const hashes = newestContents(db.read)
  if (hashes.length > 0 && countStored(blobsDb.read, hashes) === 0) {
    throw refused(`${blobsDb.file} lacks the content of the newest messages of ${db.file}. ${ADVICE}`)
  }
}

function refused(sentence: string): ProductError {
  return new ProductError('service_unavailable', sentence)
}
