// Messages that are gone at the server and still here: taken out, kept until they are confirmed, or put back at the server.

import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import type { MailPlacement } from '../../store/messages/mail-reads.ts'
import { isUnlisted } from '../folders/ignored-folders.ts'
import { FolderMap } from '../ledger/folder-map.ts'
import { sendNow } from '../ledger/intents.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import type { FolderNumbers } from '../model/merge.ts'
import type { HeldPart, HeldRemoval } from '../model/records.ts'
import { isCounted, isFew, isLost, LARGE_MESSAGES, type RemovalWeight, weightOf } from '../model/removal-weight.ts'
import { applyFolders, compareAgain, localFolders } from '../session/local-changes.ts'
import type { SyncSession } from '../session/sync-session.ts'

/** Messages taken out, or put back, in one unit of work. */
const GONE_PER_BATCH = 20
/** A large removal is followed when it is still so after this time, ms. */
const LARGE_WAIT_MS = 15 * MINUTE_MS
/** Folders that are named to people. */
const NAMED_MAX = 20

/** A folder from which messages are gone that are still here. */
interface GoneFolder {
  folder: RemoteFolder
  /** Messages of it that are still at the server. */
  present: number
  gone: number
  /** Those that were gone when the list of folders was read: they are not in a folder that was looked at before. */
  listed: number
}

/** What is done about a folder: `most` messages are taken out; `held`: what waits for a confirmation. */
type GoneVerdict =
  | { kind: 'take'; most: number; isAllowed: boolean; held?: undefined }
  | { kind: 'wait'; held?: HeldPart }
  | { kind: 'look'; held?: undefined }

export class PullRemovals {
  readonly #session: SyncSession
  /** By folder: the message that was gone last when the list of folders was read. */
  #listedGone: ReadonlyMap<number, number> = new Map()
  /** Messages that are gone wait for the next list. */
  #hasUnlisted = false
  /** Messages were taken out since the bounds of what can be restored were kept. */
  #hasTaken = false

  constructor(session: SyncSession) {
    this.#session = session
  }

  get #map(): FolderMap {
    return new FolderMap(this.#session.deps.folders.list(this.#session.account.n), this.#session.areLabels)
  }

  /** To be called before the list of folders is read, with what changed in them. */
  beginList(): void {
    this.#listedGone = this.#session.deps.messages.lastGone(this.#session.account.n)
    this.#hasUnlisted = false
  }

  /** Whether another list is to be read before all that is gone can be taken out. */
  get hasUnlisted(): boolean {
    return this.#hasUnlisted
  }

  /**
   * Takes out what is gone from its folder and was not found in another one. To be called when all folders were looked at; what is gone since
   * their list was read waits for the next one.
   * @param looked numbers of the folders that were compared in full
   * @param changed numbers of messages that changed here while they were gone: those that were moved or copied are kept
   * @returns folders to be looked at in full before their messages may be taken out
   */
  async settle(looked: ReadonlySet<number>, changed: readonly number[] = []): Promise<RemoteFolder[]> {
    const session = this.#session
    if (session.account.mode === 'collect') return []
    await this.#rescue(changed)
    const gone = await this.#gone()
    if (session.account.removal?.isUndone === true) {
      await this.#putBack(gone)
      return []
    }
    const weight = await this.#weigh(gone)
    const unsure: RemoteFolder[] = []
    const held = new Map<RemoteFolder, HeldPart>()
    for (const one of gone) {
      const verdict = await this.#mayTakeOut(one, weight, looked.has(one.folder.n))
      if (verdict.kind === 'look') unsure.push(one.folder)
      else if (verdict.kind === 'take') await this.#takeOut(one.folder, verdict.most, verdict.isAllowed)
      if (verdict.held !== undefined) held.set(one.folder, verdict.held)
    }
    if (unsure.length > 0) return unsure
    await this.#hold(held)
    await this.#trim()
    return []
  }

  /** Messages that can be restored take at most as many bytes as the mailbox may have. */
  async #trim(): Promise<void> {
    const session = this.#session
    if (this.#hasTaken) await session.deps.store.edit.removed.trim(session.mail, session.mailbox().quotaBytes)
    this.#hasTaken = false
  }

  async #gone(): Promise<GoneFolder[]> {
    const { account, deps } = this.#session
    const result: GoneFolder[] = []
    for (const folder of deps.folders.list(account.n)) {
      // Until it is imported again, what is gone may be found in it.
      if (folder.lowest !== 1) continue
      if (deps.messages.gone(folder.n, 1).length === 0) {
        if (folder.doubt !== null) await this.#session.write((tx) => deps.folders.set(tx, folder.n, { doubt: null }))
        continue
      }
      const isMissed = isUnlisted(folder)
      const last = isMissed ? 0 : (this.#listedGone.get(folder.n) ?? 0)
      // Erased here as well, or never stored: nothing is taken out.
      if (last < 0) await this.#session.write((tx) => deps.messages.forgetGone(tx, folder.n, last))
      const { present, gone } = await deps.messages.counts(folder.n)
      const listed = deps.messages.goneUntil(folder.n, last, gone)
      if (listed < gone && !isMissed) this.#hasUnlisted = true
      result.push({ folder, present, gone, listed })
    }
    return result
  }

  /** How large the removal of this day is. */
  async #weigh(all: readonly GoneFolder[]): Promise<RemovalWeight> {
    const { account, deps } = this.#session
    const counted = all.filter(({ folder }) => isCounted(folder))
    const gone = counted.reduce((sum, { listed }) => sum + listed, 0)
    const taken = deps.states.takenOf(account)
    if (counted.some(({ folder, listed }) => isLost(folder.doubt, listed))) return 'mass'
    if (isFew({ gone, taken })) return 'small'
    const known = await deps.messages.knownCounts(account.n)
    // During the import of a folder most of its messages are not known yet.
    const sizeOf = ({ n, lowest, state, total }: RemoteFolder) =>
      Math.max(known.get(n) ?? 0, state === 'followed' && lowest !== 1 ? total : 0)
    const folders = deps.folders.list(account.n).filter(isCounted)
    const present = folders.reduce((sum, folder) => sum + sizeOf(folder), 0)
    return weightOf({ gone, taken, present })
  }

  async #mayTakeOut(one: GoneFolder, ofAccount: RemovalWeight, isLooked: boolean): Promise<GoneVerdict> {
    const session = this.#session
    const { folder, gone, present, listed } = one
    const now = session.deps.clock.now()
    const { removal } = session.account
    const part = partOf(removal, folder)
    if (listed === 0) return { kind: 'wait', held: part === removal?.parts?.[folder.n] ? part : undefined }
    // What is held stays held, although the rest of the account grows meanwhile.
    const isMass = part !== undefined || (ofAccount === 'mass' && isCounted(folder))
    const isLarge = (ofAccount === 'large' && isCounted(folder)) || (gone > LARGE_MESSAGES && gone > present)
    if (!isMass && !isLarge) {
      if (folder.suspectAt !== null) await this.#suspect(folder, null)
      return { kind: 'take', most: listed, isAllowed: false }
    }
    const { suspectAt } = folder
    if (suspectAt === null) await this.#suspect(folder, now)
    const allowed = isMass ? allowedOf(removal, part, now) : listed
    if (allowed === 0) {
      // What a day allowed is done: the rest waits for another one.
      const { first, since } = part === undefined || part.first === 0 ? { first: listed, since: now } : part
      return { kind: 'wait', held: { messages: listed, first, since } }
    }
    if (!isMass && (suspectAt === null || now - suspectAt < LARGE_WAIT_MS)) return { kind: 'wait' }
    if (!isLooked && folder.state === 'followed') return { kind: 'look' }
    await this.#suspect(folder, null)
    // What was gone first is taken out; what is gone since then is looked at by itself.
    return { kind: 'take', most: Math.min(allowed, listed), isAllowed: isMass }
  }

  async #suspect({ n }: RemoteFolder, suspectAt: number | null): Promise<void> {
    await this.#session.write((tx) => this.#session.deps.folders.set(tx, n, { suspectAt }))
  }

  /** Writes what is held back, or that nothing is. */
  async #hold(held: ReadonlyMap<RemoteFolder, HeldPart>): Promise<void> {
    const session = this.#session
    const { states } = session.deps
    const before = session.account.removal
    const parts = [...held.values()]
    if (parts.length === 0 && before === null) return
    // What was confirmed and cannot be carried out yet stays confirmed, unless more is held now.
    const isNew = [...held].some(([{ n }, part]) => part.messages !== before?.parts?.[n]?.messages)
    if (before?.isConfirmed === true && parts.length > 0 && !isNew) return
    const kept: HeldRemoval = {
      folders: [...held.keys()].slice(0, NAMED_MAX).map(({ localPath, path }) => localPath ?? path),
      messages: parts.reduce((sum, { messages }) => sum + messages, 0),
      since: Math.min(...parts.map(({ since }) => since)),
      isConfirmed: false,
      parts: Object.fromEntries([...held].map(([{ n }, part]) => [n, part])),
    }
    const isSame = before?.isConfirmed === false && JSON.stringify(before.parts) === JSON.stringify(kept.parts)
    if (isSame) return
    await session.write((tx) =>
      // Decided meanwhile: the next round carries it out.
      isDecided(session.account.removal) === isDecided(before)
        ? states.holdRemoval(tx, session.account, 'here', parts.length === 0 ? null : kept)
        : undefined,
    )
  }

  /** What was held back is allowed once; what was followed without asking counts for the day. */
  #countTaken(tx: Tx, folder: RemoteFolder, { count, isAllowed }: { count: number; isAllowed: boolean }): void {
    const { account, deps } = this.#session
    const { removal } = account
    const part = removal?.parts?.[folder.n]
    if (removal !== null && part !== undefined) {
      const left = (messages: number) => Math.max(0, messages - count)
      const parts = {
        ...removal.parts,
        [folder.n]: { ...part, messages: left(part.messages), first: left(part.first) },
      }
      deps.states.holdRemoval(tx, account, 'here', { ...removal, parts })
    }
    if (isAllowed) deps.states.forgetTaken(tx, account.n)
    else if (isCounted(folder)) deps.states.countTaken(tx, account, count)
  }

  /** @param most messages, those that were gone first */
  async #takeOut(folder: RemoteFolder, most: number, isAllowed: boolean): Promise<void> {
    const { messages } = this.#session.deps
    for (let left = most; left > 0; ) {
      const map = this.#map
      const count = await this.#session.write((tx) => {
        const rows = messages.gone(folder.n, Math.min(left, GONE_PER_BATCH), tx)
        this.#countTaken(tx, folder, { count: rows.length, isAllowed })
        this.#takeRows(tx, rows, map)
        return rows.length
      })
      left = count === 0 ? 0 : left - count
    }
  }

  /** Takes messages out of the folders that they are gone from; those that were moved or copied here are kept, and sent again. */
  #takeRows(tx: Tx, rows: readonly RemoteMessage[], map: FolderMap): void {
    const session = this.#session
    const { messages, store, intents } = session.deps
    const numbers = rows.flatMap(({ message }) => message ?? [])
    this.#hasTaken = true
    const copies = messages.of(session.account.n, numbers, tx)
    const placements = store.programs.mail.placements(session.mail, numbers, tx)
    this.#forget(tx, rows)
    for (const n of new Set(numbers)) {
      const placement = placements.get(n)
      const all = copies.get(n) ?? []
      const left = all.filter((copy) => !rows.some((row) => row.folder === copy.folder && row.uid === copy.uid))
      if (placement === undefined) {
        // Deleted here as well: its other copies are to be removed there.
        if (left.length > 0) intents.add(tx, session.account.n, sendNow(n))
        continue
      }
      const of = (list: typeof all) => list.flatMap((copy) => map.foldersOf(copy))
      const [before, after] = [of(all), of(left)]
      const kept = after.length > 0 ? [] : this.#keptFolders(tx, placement, before)
      applyFolders(tx, session, placement, { before, after: kept.length > 0 ? kept : after })
      if (kept.length > 0) intents.add(tx, session.account.n, sendNow(n))
      else if (after.length > 0) compareAgain(tx, session, map, [n])
    }
  }

  #forget(tx: Tx, rows: readonly RemoteMessage[]): void {
    for (const [folder, some] of Map.groupBy(rows, (row) => row.folder))
      this.#session.deps.messages.remove(
        tx,
        folder,
        some.map(({ uid }) => uid),
      )
  }

  /** Messages that are gone at the server and were moved or copied here since: they need no confirmation to stay. */
  async #rescue(changed: readonly number[]): Promise<void> {
    const session = this.#session
    const { messages, store } = session.deps
    for (let at = 0; at < changed.length; at += GONE_PER_BATCH) {
      const map = this.#map
      await session.write((tx) => {
        const copies = messages.of(session.account.n, changed.slice(at, at + GONE_PER_BATCH), tx)
        const placements = store.programs.mail.placements(session.mail, [...copies.keys()], tx)
        for (const [n, rows] of copies) {
          const placement = placements.get(n)
          if (placement === undefined || !rows.every((row) => this.#isListed(row))) continue
          const before = rows.flatMap((row) => map.foldersOf(row))
          if (this.#keptFolders(tx, placement, before).length > 0) this.#takeRows(tx, rows, map)
        }
      })
    }
  }

  /** The folders into which a message was put here after it was gone from others at the server. To throw it away does not keep it. */
  #keptFolders(tx: Tx, placement: MailPlacement, before: FolderNumbers): number[] {
    const { store } = this.#session.deps
    const put = localFolders(placement).filter((folder) => !before.includes(folder))
    if (put.length === 0) return put
    const roles = new Map(store.read.folders.keys(this.#session.mail, tx).map(({ n, role }) => [n, role]))
    return put.filter((folder) => isCounted({ role: roles.get(folder) ?? null }))
  }

  #isListed({ folder, uid }: RemoteMessage): boolean {
    const last = this.#listedGone.get(folder)
    return uid < 0 && last !== undefined && uid >= last
  }

  /** What a person wants back is stored at the server again, from the messages here. */
  async #putBack(gone: readonly GoneFolder[]): Promise<void> {
    const session = this.#session
    const { messages, intents, states, store } = session.deps
    const { removal } = session.account
    for (const { folder, listed } of gone) {
      for (let left = Math.min(partOf(removal, folder)?.messages ?? 0, listed); left > 0; ) {
        const count = await session.write((tx) => {
          const rows = messages.gone(folder.n, Math.min(left, GONE_PER_BATCH), tx)
          const numbers = rows.flatMap(({ message }) => message ?? [])
          this.#forget(tx, rows)
          for (const n of store.programs.mail.placements(session.mail, numbers, tx).keys())
            intents.add(tx, session.account.n, sendNow(n))
          return rows.length
        })
        left = count === 0 ? 0 : left - count
      }
      if (folder.suspectAt !== null && folder.reason === null) await this.#suspect(folder, null)
    }
    await session.write((tx) => {
      states.holdRemoval(tx, session.account, 'here', null)
      states.forgetTaken(tx, session.account.n)
    })
  }
}

function isDecided(removal: HeldRemoval | null): boolean {
  return removal?.isConfirmed === true || removal?.isUndone === true
}

/** What is held back of a folder; what an earlier version held says nothing of folders. */
function partOf(removal: HeldRemoval | null, { n }: RemoteFolder): HeldPart | undefined {
  if (removal === null) return undefined
  const { messages, since, parts = { [n]: { messages, first: messages, since } } } = removal
  return parts[n]?.messages === 0 ? undefined : parts[n]
}

/** What may be taken out of a folder when very many messages are gone: what was confirmed, or is held for a day. */
function allowedOf(removal: HeldRemoval | null, part: HeldPart | undefined, now: number): number {
  if (removal === null || part === undefined) return 0
  if (removal.isConfirmed) return part.messages
  return now - part.since >= DAY_MS ? part.first : 0
}
