// Takes messages that are new in a folder of a server: those that are known here are filed, the others are fetched and stored.

import type { Tx } from '../../db/db.ts'
import type { StoredImport } from '../../store/mailbox/imports.ts'
import type { MessageReading } from '../../workers/inspection.ts'
import { CONTENT } from '../ledger/content-state.ts'
import type { FolderMap } from '../ledger/folder-map.ts'
import { seenMarks } from '../ledger/folder-map.ts'
import { sendNow } from '../ledger/intents.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { keywordsIn } from '../model/marks.ts'
import type { SkipReason } from '../model/records.ts'
import { spansOf } from '../model/uid-spans.ts'
import { contentDigest } from '../session/content-digest.ts'
import { type HoldsBytes, holderOf } from '../session/content-memory.ts'
import { headsOf } from '../session/heads.ts'
import { applyFolders, applyMarks, compareAgain, markedBy, noteCrowded } from '../session/local-changes.ts'
import type { SyncSession } from '../session/sync-session.ts'
import { receiptOf, reportArrival, TAKEN_OVER } from './arrival-report.ts'
import {
  BATCH_MESSAGES,
  batchesOf,
  bytesOf,
  type FetchedBatch,
  fetchBatch,
  isLarge,
  isWanted,
  uidsOf,
} from './intake-batches.ts'
import type { KeyedHead, MatchedHead } from './matching.ts'

/** Batches that are fetched, parsed or stored at the same time. */
const BATCHES_AT_ONCE = 3
/** Known messages filed in one unit of work. */
const FILED_PER_BATCH = 20

/** Why no messages are taken. */
const FULL = 'The mailbox is full: new messages wait at the server. Delete messages or raise its quota.'

/** Batches of one `fetch`: how many messages are stored, and whether one of them did not fit. */
interface FetchRun {
  count: number
  isStopped: boolean
}

/** A batch with what was read of it, in its order. */
interface ReadBatch {
  batch: readonly KeyedHead[]
  /** Null where there is no content. */
  readings: readonly (MessageReading | null)[]
  skipped: FetchedBatch['skipped']
  /** By UID. */
  digests: ReadonlyMap<number, Uint8Array>
}

/** One batch of a run. */
interface BatchTurn {
  run: FetchRun
  /** Settles when the batch before this one is stored. */
  earlier: Promise<void> | undefined
  onFetched: () => void
  holds: HoldsBytes
}

export class Intake {
  readonly #session: SyncSession
  /** Bytes that the mailbox had, and could have, when a message did not fit. */
  #full: { used: number; quota: number } | null = null

  constructor(session: SyncSession) {
    this.#session = session
  }

  /** Why no messages are taken, in one sentence; null: they are. */
  get reason(): string | null {
    return this.#isFull() ? FULL : null
  }

  /** As long as there is no more room than when a message did not fit, none is fetched. */
  #isFull(): boolean {
    if (this.#full === null) return false
    const { used, quota } = this.#room()
    if (used < this.#full.used || quota > this.#full.quota) this.#full = null
    return this.#full !== null
  }

  #room(): { used: number; quota: number } {
    const session = this.#session
    const used = session.deps.store.accounts.byMailbox(session.account.mailboxId)?.usedBytes ?? 0
    return { used, quota: session.mailbox().quotaBytes }
  }

  /** Files messages that are here already. */
  async file(folder: RemoteFolder, map: FolderMap, known: readonly MatchedHead[]): Promise<void> {
    for (let at = 0; at < known.length; at += FILED_PER_BATCH) {
      const batch = known.slice(at, at + FILED_PER_BATCH)
      await this.#session.write((tx) => {
        for (const one of batch) this.#fileOne(tx, folder, map, one)
      })
    }
  }

  #fileOne(tx: Tx, folder: RemoteFolder, map: FolderMap, { head, key, gone, intent, message }: MatchedHead): void {
    const session = this.#session
    const { messages, intents, store } = session.deps
    const marks = seenMarks(head.flags, head.labels)
    const rows = message === null ? [] : (messages.of(session.account.n, [message], tx).get(message) ?? [])
    const before = rows.flatMap((row) => map.foldersOf(row))
    if (gone !== null) messages.remove(tx, gone.folder, [gone.uid])
    if (intent !== null) intents.remove(tx, [intent.n])
    if (intent?.kind === 'append') session.deps.states.carried(tx, 'out', 1)
    const state = gone?.state ?? CONTENT.known
    const row: RemoteMessage = {
      ...{ folder: folder.n, uid: head.uid, message, marks: [...marks], labels: head.labels && [...head.labels], key },
      ...{ state, tries: gone?.tries ?? 0, triedAt: gone?.triedAt ?? null, skipReason: gone?.skipReason ?? null },
      digest: gone?.digest ?? null,
    }
    messages.remove(tx, folder.n, [head.uid])
    messages.add(tx, [row])
    if (message === null) return
    const placement = store.programs.mail.placements(session.mail, [message], tx).get(message)
    if (placement === undefined) {
      // Deleted here meanwhile: what is there now is to be removed.
      intents.add(tx, session.account.n, sendNow(message))
      return
    }
    const left = rows.filter((other) => other.uid !== gone?.uid || other.folder !== gone.folder)
    const after = [...left, row].flatMap((other) => map.foldersOf(other))
    const [here] = map.foldersOf(row)
    // What was sent from here is where it was sent from; what moved there since is pushed.
    if (intent === null && !applyFolders(tx, session, placement, { before, after })) {
      // This copy is of no message here: it would seem to have been removed.
      messages.setContent(tx, folder.n, head.uid, { ...row, message: null })
      noteCrowded(tx, session, folder.n)
      return
    }
    const base = gone?.marks ?? marks
    const marked = here === undefined ? null : markedBy(placement, here, { base, server: marks })
    const moved = store.programs.mail.placements(session.mail, [message], tx).get(message)
    if (marked !== null && moved !== undefined) applyMarks(tx, session, [{ ...marked, placement: moved }])
    compareAgain(tx, session, map, [message])
  }

  /**
   * Fetches messages and stores them in batches; while one is parsed and stored, the next one is on its way.
   * @param fresh in the order in which they are to be stored
   * @param mayGoOn asked between two batches
   * @returns how many of them, from the first on, were stored or need not be: not all when the mailbox is full
   */
  async fetch(
    folder: RemoteFolder,
    map: FolderMap,
    fresh: readonly KeyedHead[],
    mayGoOn: () => boolean = () => true,
  ): Promise<number> {
    const { account, deps } = this.#session
    const run: FetchRun = { count: 0, isStopped: false }
    const taken: Promise<void>[] = []
    try {
      for (const batch of batchesOf(fresh, ({ head }) => deps.breaks.isAlone(folder.n, head.uid))) {
        if (run.isStopped || this.#isFull() || (taken.length > 0 && !mayGoOn())) break
        await this.#session.ready()
        await taken.at(-BATCHES_AT_ONCE)
        if (run.isStopped) break
        const [fetched, earlier] = [Promise.withResolvers<void>(), taken.at(-1)]
        const one = deps.memory.holding(holderOf(account), bytesOf(batch), (holds) =>
          this.#take(folder, map, batch, { earlier, onFetched: fetched.resolve, run, holds }),
        )
        taken.push(one)
        await Promise.race([fetched.promise, one])
      }
    } finally {
      await Promise.allSettled(taken)
    }
    await taken.at(-1)
    return run.count
  }

  async #take(
    folder: RemoteFolder,
    map: FolderMap,
    batch: readonly KeyedHead[],
    { earlier, onFetched, run, holds }: BatchTurn,
  ): Promise<void> {
    const session = this.#session
    const { store } = session.deps
    await session.ensure(folder.path)
    const { contents, skipped } = await this.#contents(folder, batch)
    // A server may name smaller sizes: the next batch waits until there is room for this one.
    await holds(contents.values().reduce((sum, { length }) => sum + length, 0))
    onFetched()
    const readings = await this.#read(batch, contents)
    await store.blobs.putAll(readings.filter((reading) => reading !== null))
    await earlier
    // What comes behind a message that did not fit is fetched again.
    if (run.isStopped) return
    const digests = new Map([...contents].map(([uid, bytes]) => [uid, contentDigest(bytes)]))
    const read = { batch, readings, skipped, digests }
    const isStored = await session.write((tx) => this.#storeBatch(tx, folder, map, read))
    if (isStored) {
      run.count += batch.length
      session.deps.breaks.forget(folder.n, uidsOf(batch))
    } else {
      run.isStopped = true
      this.#full = this.#room()
    }
  }

  async #contents(folder: RemoteFolder, batch: readonly KeyedHead[]): Promise<FetchedBatch> {
    const { deps, server, signal } = this.#session
    const wanted = batch.filter(({ head }) => isWanted(this.#session, head) && !isLarge(head))
    const [left, asked] = partition(wanted, ({ head }) => deps.breaks.isLeft(folder.n, head.uid))
    try {
      const { contents, skipped } = await fetchBatch(server, asked)
      return { contents, skipped: new Map([...skipped, ...left.map(({ head }) => [head.uid, 'broken'] as const)]) }
    } catch (error) {
      if (!signal.aborted) deps.breaks.note(folder.n, uidsOf(asked), error)
      throw error
    }
  }

  /** In the order of the batch; null where there is no content. */
  async #read(batch: readonly KeyedHead[], contents: ReadonlyMap<number, Uint8Array>) {
    const given = batch.filter(({ head }) => contents.has(head.uid))
    const readings = await this.#session.deps.inspector.readAll(given.map(({ head }) => contents.get(head.uid)!))
    const byHead = new Map(given.map(({ head }, index) => [head, readings[index]!]))
    return batch.map(({ head }): MessageReading | null => byHead.get(head) ?? null)
  }

  /** @returns false when the mailbox is full: what fitted is stored */
  #storeBatch(tx: Tx, folder: RemoteFolder, map: FolderMap, { batch, readings, skipped, digests }: ReadBatch): boolean {
    const session = this.#session
    const { messages, states, clock } = session.deps
    const present = batch.flatMap((one, index) => (readings[index] ? [{ ...one, reading: readings[index] }] : []))
    const stored = this.#import(tx, folder, map, present)
    const isFull = stored.length < present.length
    // The rest is fetched again: nothing of it is known.
    const kept = isFull
      ? batch.slice(0, batch.indexOf(batch.find(({ head }) => head.uid === present[stored.length]!.head.uid)!))
      : batch
    const byUid = new Map(stored.map((one, index) => [present[index]!.head.uid, one.n]))
    const rows = kept.map(({ head, key }): RemoteMessage => {
      const message = byUid.get(head.uid) ?? null
      const isHere = message !== null || !isWanted(session, head)
      const skipReason = isHere ? null : isLarge(head) ? 'large' : (skipped.get(head.uid) ?? 'absent')
      const state = stateOf(skipReason)
      const tries = state === CONTENT.missing ? 1 : 0
      const marks = [...seenMarks(head.flags, head.labels)]
      const labels = head.labels && [...head.labels]
      const triedAt = tries === 0 ? null : clock.now()
      const content = { message, key, state, tries, triedAt, skipReason, digest: digests.get(head.uid) ?? null }
      return { folder: folder.n, uid: head.uid, marks, labels, ...content }
    })
    const uids = rows.map(({ uid }) => uid)
    const isHere = new Set(rows.filter(({ skipReason }) => skipReason === null).map(({ uid }) => uid))
    const skippedBefore = messages.in(folder.n, spansOf(uids), uids.length, tx).filter((row) => row.skipReason !== null)
    messages.remove(tx, folder.n, uids)
    messages.add(tx, rows)
    const bytes = present.slice(0, stored.length).reduce((sum, { reading }) => sum + reading.sizeBytes, 0)
    if (session.account.import.state !== 'done') states.count(tx, session.account, { messages: isHere.size, bytes })
    else {
      const late = skippedBefore.filter(({ uid }) => isHere.has(uid)).length
      states.countLate(tx, session.account, { messages: late, bytes })
    }
    return !isFull
  }

  #import(
    tx: Tx,
    folder: RemoteFolder,
    map: FolderMap,
    present: readonly (KeyedHead & { reading: MessageReading })[],
  ): StoredImport[] {
    const session = this.#session
    const { store, closeLinks } = session.deps
    if (present.length === 0) return []
    const links = present.flatMap(({ reading }) => reading.linkTokens)
    const persons = links.length > 0 ? closeLinks(tx, links) : []
    if (persons.includes(session.account.email)) session.deps.states.linkArrived(tx, session.account.n)
    const mailbox = session.mailbox(tx)
    const keys = store.read.folders.keys(session.mail, tx)
    const into = { account: session.mail, ownAddresses: [mailbox.email.toLowerCase()], quotaBytes: mailbox.quotaBytes }
    const strays = new Set<number>()
    const imports = present.map(({ head, reading }, index) => {
      const placed = this.#targets(folder, map, head.labels)
      const filed = keys.filter(({ n }) => placed.includes(n))
      if (filed.length === 0) strays.add(index)
      return {
        ...{ parsed: reading.message, hash: reading.hash, sizeBytes: reading.sizeBytes, folderIds: null },
        folders: filed.length > 0 ? filed : keys.filter(({ role }) => role === 'inbox'),
        keywords: keywordsIn(seenMarks(head.flags, head.labels)),
        receivedAt: receiptOf(head, session.deps.clock.now()),
        authentication: TAKEN_OVER,
        spam: { score: 0, isSpam: false, reasons: [] },
        envelope: { mailFrom: '', rcptTo: '' },
      }
    })
    const stored = store.edit.imports.importAll(tx, into, imports)
    session.deps.states.carried(tx, 'in', stored.length)
    for (const [index, one] of stored.entries()) {
      // Its folder was deleted here: it is in the Inbox, and is to be there as well.
      if (strays.has(index) && session.account.mode === 'mirror')
        session.deps.intents.add(tx, session.account.n, sendNow(one.n))
      const { head, reading, isOld } = present[index]!
      // What was removed at the server, and is there again, was reported when it arrived.
      const isNews = isOld !== true && !store.edit.removed.isHeld(tx, session.mail, reading.hash)
      if (isNews) reportArrival(tx, session, { head, reading, folders: imports[index]!.folders, stored: one })
    }
    return stored
  }

  #targets(folder: RemoteFolder, map: FolderMap, labels: readonly string[] | null): number[] {
    const { account, deps, mail } = this.#session
    if (account.mode === 'mirror') return map.foldersOf({ folder: folder.n, labels: labels && [...labels] })
    const chosen = deps.store.read.folders.keys(mail).find(({ id }) => id === account.folderId)
    return chosen === undefined ? [] : [chosen.n]
  }

  /** Whether contents of a folder are to be asked for again. */
  hasMissing(folder: number): boolean {
    const { messages, clock } = this.#session.deps
    return !this.#isFull() && messages.missing(folder, clock.now(), 1).length > 0
  }

  /** Asks again for contents that a server did not give. */
  async retryMissing(folder: RemoteFolder, map: FolderMap): Promise<void> {
    const session = this.#session
    const { messages, clock } = session.deps
    const open = messages.missing(folder.n, clock.now(), BATCH_MESSAGES)
    if (open.length === 0 || this.#isFull()) return
    await session.ensure(folder.path)
    const { heads } = await headsOf(session, folder.n, spansOf(open.map(({ uid }) => uid)))
    for (const row of open) {
      const head = heads.find(({ uid }) => uid === row.uid)
      const tries = row.tries + 1
      // Written before it is asked for: the connection may break at it.
      await session.write((tx) =>
        messages.setContent(tx, folder.n, row.uid, { ...row, message: null, tries, triedAt: clock.now() }),
      )
      if (head === undefined) continue
      const one = { head, key: row.key }
      await session.ready()
      await session.deps.memory.holding(holderOf(session.account), bytesOf([one]), () =>
        this.#takeMissing(folder, map, { ...row, tries }, one),
      )
    }
  }

  /** @param row with this attempt counted */
  async #takeMissing(folder: RemoteFolder, map: FolderMap, row: RemoteMessage, one: KeyedHead): Promise<void> {
    const session = this.#session
    const { messages, inspector, store } = session.deps
    const { contents, skipped } = await fetchBatch(session.server, [one])
    const bytes = contents.get(row.uid)
    const skipReason = skipped.get(row.uid) ?? 'absent'
    const triedAt = session.deps.clock.now()
    if (bytes === undefined) {
      const state = stateOf(skipReason)
      return session.write((tx) => messages.setContent(tx, folder.n, row.uid, { ...row, state, triedAt, skipReason }))
    }
    const [reading] = (await inspector.readAll([bytes])) as [MessageReading]
    await store.blobs.putAll([reading])
    await session.write((tx) => {
      const [stored] = this.#import(tx, folder, map, [{ ...one, reading }])
      if (stored === undefined) {
        this.#full = this.#room()
        return messages.setContent(tx, folder.n, row.uid, { ...row, tries: row.tries - 1 })
      }
      const known = { message: stored.n, state: CONTENT.known, tries: row.tries, triedAt: null, skipReason: null }
      messages.setContent(tx, folder.n, row.uid, { ...known, digest: contentDigest(bytes) })
      session.deps.states.countLate(tx, session.account, { messages: 1, bytes: bytes.length })
    })
  }
}

/** A message that is too large is not asked for again. */
function stateOf(skipReason: SkipReason | null): number {
  if (skipReason === null) return CONTENT.known
  return skipReason === 'large' ? CONTENT.unreadable : CONTENT.missing
}

function partition<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))]
}
