// Messages that were deleted here and are removed at the server: noted first, then removed together, unless so many that a person has to
// confirm it.

import { DAY_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import { CONTENT } from '../ledger/content-state.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import { heldSentence } from '../model/announcements.ts'
import { MASS_CONFIRM_MESSAGES } from '../model/limits.ts'
import type { HeldRemoval } from '../model/records.ts'
import { ServerError } from '../model/server.ts'
import { spansOf } from '../model/uid-spans.ts'
import type { SyncSession } from '../session/sync-session.ts'
import type { PushCommands } from './push-commands.ts'
import type { StepOf } from './push-plan.ts'

/** Removals within this time count as one, ms. */
const MASS_WINDOW_MS = DAY_MS
/** Messages removed with one command, and rows written in one unit of work. */
const MESSAGES_PER_COMMAND = 500
const ROWS_PER_BATCH = 100
/** Folders that are named to people. */
const NAMED_MAX = 20

/** What is to be removed from a folder. */
interface FolderRemoval {
  folder: RemoteFolder
  /** Messages that are to be removed now. */
  pending: number
  /** Messages removed within {@link MASS_WINDOW_MS}. */
  removed: number
}

export class PushRemovals {
  readonly #session: SyncSession
  readonly #commands: PushCommands
  /** UIDVALIDITY of folders, by number, as it was when the server had another one: their messages are removed after the next look. */
  readonly #waiting = new Map<number, number | null>()
  readonly #restored = new Set<number>()

  constructor(commands: PushCommands) {
    this.#session = commands.session
    this.#commands = commands
  }

  /** Why messages that were deleted here are kept at the server, in one sentence; null: none are. */
  get reason(): string | null {
    const { removalThere } = this.#session.account
    const isHeld = removalThere !== null && !removalThere.isConfirmed && removalThere.isUndone !== true
    return isHeld ? heldSentence('server', removalThere) : null
  }

  /** Whether removals can go on that waited for a look at their folder. */
  get areReady(): boolean {
    const { folders } = this.#session.deps
    return this.#waiting.entries().some(([n, uidValidity]) => folders.get(n)?.uidValidity !== uidValidity)
  }

  /** Notes what is to be removed: it is counted before anything is removed. */
  async note(steps: readonly StepOf<'remove'>[]): Promise<void> {
    const { messages } = this.#session.deps
    for (const [folder, group] of Map.groupBy(steps, ({ row }) => row.folder)) {
      for (let at = 0; at < group.length; at += ROWS_PER_BATCH) {
        const uids = group.slice(at, at + ROWS_PER_BATCH).map(({ row }) => row.uid)
        await this.#session.write((tx) => messages.erased.add(tx, folder, uids))
      }
    }
  }

  /** Removes what was noted, as far as it is not held back. @throws ServerError of effect `delay` or `failed` */
  async settle(): Promise<void> {
    const session = this.#session
    const { messages } = session.deps
    this.#waiting.clear()
    if (session.account.mode === 'collect') return
    const counts = messages.erased.counts(session.account.n)
    if (session.account.removalThere?.isUndone === true) return this.#putBack(counts)
    if (counts.size === 0 && session.account.removalThere === null) return this.#removeLate()
    const removals = this.#removals(counts)
    const held = await this.#held(removals)
    await this.#hold(held)
    for (const { folder } of removals) if (!held.some((one) => one.folder.n === folder.n)) await this.#remove(folder)
    await this.#endConfirmed()
    if (held.length === 0) await this.#removeLate()
  }

  /** What the server has refused often may have become possible. */
  async #removeLate(): Promise<void> {
    const { account, deps } = this.#session
    for (const n of deps.messages.erased.foldersDue(account.n, deps.clock.now())) {
      const folder = deps.folders.get(n)
      if (folder !== undefined) await this.#remove(folder)
    }
  }

  /** What a person wants back is fetched again: it is still at the server. */
  async #putBack(counts: ReadonlyMap<number, number>): Promise<void> {
    const session = this.#session
    const { messages, folders, states } = session.deps
    for (const n of counts.keys()) {
      for (let left = MESSAGES_PER_COMMAND; left === MESSAGES_PER_COMMAND; )
        left = await session.write((tx) => messages.erased.restore(tx, n, MESSAGES_PER_COMMAND))
      this.#restored.add(n)
    }
    await session.write((tx) => {
      states.holdRemoval(tx, session.account, 'server', null)
      for (const { n, erased } of folders.list(session.account.n, tx))
        if (erased > 0) folders.set(tx, n, { erased: 0, erasedAt: null })
    })
  }

  /** Numbers of the folders whose messages are to be fetched again, each once. */
  takeRestored(): number[] {
    const restored = [...this.#restored]
    this.#restored.clear()
    return restored
  }

  #removals(counts: ReadonlyMap<number, number>): FolderRemoval[] {
    const { account, deps } = this.#session
    // What is held stays held, however long it takes.
    const since = (account.removalThere?.since ?? deps.clock.now()) - MASS_WINDOW_MS
    return deps.folders.list(account.n).flatMap((folder) => {
      const pending = counts.get(folder.n) ?? 0
      const removed = (folder.erasedAt ?? 0) > since ? folder.erased : 0
      return pending + removed === 0 ? [] : [{ folder, pending, removed }]
    })
  }

  /** The removals that wait for a confirmation. What is in Trash and Junk is there to be removed. */
  async #held(all: readonly FolderRemoval[]): Promise<FolderRemoval[]> {
    const { account, deps } = this.#session
    const counted = all.filter(({ folder }) => isKept(folder))
    const pending = sum(counted, 'pending')
    const confirmed = account.removalThere?.isConfirmed === true ? account.removalThere.messages : null
    // What was confirmed is this removal, and not a larger one after it.
    if (confirmed !== null && pending <= confirmed + MASS_CONFIRM_MESSAGES) return []
    if (pending === 0 || pending + sum(counted, 'removed') <= MASS_CONFIRM_MESSAGES) return []
    const known = await deps.messages.knownCounts(account.n)
    const sizeOf = (folder: RemoteFolder) => {
      const present = known.get(folder.n) ?? 0
      // During the import most messages are not known yet.
      return folder.lowest === 1 ? present : Math.max(present, folder.total)
    }
    const total = this.#session.followed().reduce((size, folder) => size + (isKept(folder) ? sizeOf(folder) : 0), 0)
    const waiting = counted.filter((one) => one.pending > 0)
    if (isMass(pending, sum(counted, 'removed'), total)) return waiting
    return waiting.filter((one) => isMass(one.pending, one.removed, sizeOf(one.folder)))
  }

  /** Writes what is held back, or that nothing is. */
  async #hold(held: readonly FolderRemoval[]): Promise<void> {
    const { account, deps } = this.#session
    const { removalThere: before } = account
    if (held.length === 0 && (before === null || before.isConfirmed)) return
    const kept = {
      folders: held.slice(0, NAMED_MAX).map(({ folder }) => folder.localPath ?? folder.path),
      messages: sum(held, 'pending'),
      since: before === null || before.isConfirmed ? deps.clock.now() : before.since,
      isConfirmed: false,
    }
    const isSame = before !== null && !before.isConfirmed && before.messages === kept.messages
    if (isSame && held.length > 0) return
    await this.#session.write((tx) =>
      // Confirmed meanwhile: the next round carries it out.
      isDecided(this.#session.account.removalThere) === isDecided(before)
        ? deps.states.holdRemoval(tx, this.#session.account, 'server', held.length === 0 ? null : kept)
        : undefined,
    )
  }

  /** A confirmation ends with what it was for: what is left, or is deleted from now on, may be removed without one as far as it is little. */
  async #endConfirmed(): Promise<void> {
    const session = this.#session
    const { messages, folders, states } = session.deps
    if (session.account.removalThere?.isConfirmed !== true) return
    const left = this.#removals(messages.erased.counts(session.account.n)).filter(({ folder }) => isKept(folder))
    if (sum(left, 'pending') > MASS_CONFIRM_MESSAGES) return
    await session.write((tx) => {
      states.holdRemoval(tx, session.account, 'server', null)
      for (const { n, erased } of folders.list(session.account.n, tx))
        if (erased > 0) folders.set(tx, n, { erased: 0, erasedAt: null })
    })
  }

  async #remove(folder: RemoteFolder): Promise<void> {
    const session = this.#session
    const { messages, clock } = session.deps
    const due = (after: number) => messages.erased.due(folder.n, after, clock.now(), MESSAGES_PER_COMMAND)
    for (let uids = due(0); uids.length > 0; uids = due(uids.at(-1)!)) {
      const opened = await this.#commands.open(folder.n, [])
      if (opened === undefined) return void this.#waiting.set(folder.n, folder.uidValidity)
      try {
        await this.#removeSome(opened, uids)
      } catch (error) {
        if (!(error instanceof ServerError) || error.effect !== 'refused') throw error
        this.#commands.noteRefusal('expunge', error)
        await session.write((tx) => messages.erased.noteRefusal(tx, folder.n, uids, clock.now()))
      }
    }
  }

  /** With labels a message is erased for good from Trash only. */
  async #removeSome(folder: RemoteFolder, due: readonly number[]): Promise<void> {
    const session = this.#session
    const { folders, messages, clock } = session.deps
    const rows = messages.in(folder.n, spansOf(due), due.length)
    const { same, absent, different } = await this.#commands.identify(folder.n, rows)
    await this.#write(folder, uidsOf(absent), (tx, batch) => messages.remove(tx, folder.n, batch))
    // The others are compared again after the next look at the folder.
    if (different.length > 0) return
    const uids = uidsOf(same)
    const compared = new Set([...uids, ...uidsOf(absent)])
    const unsure = due.filter((uid) => !compared.has(uid))
    if (unsure.length > 0) await session.write((tx) => messages.erased.noteRefusal(tx, folder.n, unsure, clock.now()))
    if (uids.length === 0) return
    const trash = session.areLabels
      ? folders.list(session.account.n).find(({ role, state }) => role === 'trash' && state === 'followed')
      : undefined
    if (trash !== undefined && trash.n !== folder.n) return this.#throwAway(folder, trash, uids)
    const left = new Set(await session.server.expunge(uids))
    const removed = uids.filter((uid) => !left.has(uid))
    await this.#write(folder, removed, (tx, batch) => messages.remove(tx, folder.n, batch))
    if (left.size === 0) return
    // It is marked there, and removed when the messages that others marked are.
    await session.write((tx) => messages.erased.noteRefusal(tx, folder.n, [...left], clock.now()))
  }

  async #throwAway(folder: RemoteFolder, trash: RemoteFolder, uids: readonly number[]): Promise<void> {
    const { server, deps } = this.#session
    const moved = await server.move(uids, trash.path, trash.uidValidity)
    await this.#write(folder, uids, (tx, batch) => {
      for (const row of deps.messages.in(
        folder.n,
        batch.map((uid) => [uid, uid] as const),
        batch.length,
        tx,
      )) {
        const uid = moved?.get(row.uid)
        const known = { ...row, state: CONTENT.known, tries: 0, triedAt: null }
        deps.messages.remove(tx, folder.n, [row.uid])
        if (uid !== undefined) {
          this.#commands.add(tx, { ...known, folder: trash.n, uid, labels: [] })
          continue
        }
        // Without its new UID it is found by its key in Trash.
        deps.messages.add(tx, [known])
        deps.messages.depart(tx, folder.n, [[row.uid, row.uid]], 1)
      }
    })
  }

  /** What was confirmed is allowed once. */
  #countConfirmed(tx: Tx, folder: RemoteFolder, count: number): void {
    const { account, deps } = this.#session
    const { removalThere } = account
    if (removalThere?.isConfirmed !== true || !isKept(folder)) return
    const messages = Math.max(0, removalThere.messages - count)
    deps.states.holdRemoval(tx, account, 'server', { ...removalThere, messages })
  }

  /** Writes what was removed, and counts it. */
  async #write(folder: RemoteFolder, uids: readonly number[], work: (tx: Tx, batch: number[]) => void): Promise<void> {
    const session = this.#session
    const { folders, clock } = session.deps
    for (let at = 0; at < uids.length; at += ROWS_PER_BATCH) {
      const batch = uids.slice(at, at + ROWS_PER_BATCH)
      await session.write((tx) => {
        work(tx, batch)
        const now = clock.now()
        const { erased = 0, erasedAt = null } = folders.get(folder.n, tx) ?? {}
        const isSame = erasedAt !== null && erasedAt > now - MASS_WINDOW_MS
        this.#countConfirmed(tx, folder, batch.length)
        const counted = isSame ? { erased: erased + batch.length } : { erased: batch.length, erasedAt: now }
        folders.set(tx, folder.n, counted)
      })
    }
  }
}

function isDecided(removal: HeldRemoval | null): boolean {
  return removal?.isConfirmed === true || removal?.isUndone === true
}

function uidsOf(rows: readonly { uid: number }[]): number[] {
  return rows.map(({ uid }) => uid)
}

function isKept({ role }: RemoteFolder): boolean {
  return role !== 'trash' && role !== 'junk'
}

function sum(all: readonly FolderRemoval[], of: 'pending' | 'removed'): number {
  return all.reduce((count, one) => count + one[of], 0)
}

/** @param present what is known of a folder, with what is to be removed and without what was */
function isMass(pending: number, removed: number, present: number): boolean {
  const gone = pending + removed
  return gone > MASS_CONFIRM_MESSAGES && gone > present - pending
}
