// What is done with one signed-in account: folders, new messages, changes made here, what is gone, and the import.

import { MINUTE_MS } from '../../base/durations.ts'
import { sortByReceipt } from '../../store/rows/folders-sort.ts'
import { differencesOf } from '../folders/differences.ts'
import { FolderPush } from '../folders/folder-push.ts'
import { isLeftOut } from '../folders/ignored-folders.ts'
import { RemoteTree } from '../folders/remote-tree.ts'
import { sentAgain } from '../ledger/intents.ts'
import { areFlagsUnread, type RemoteFolder } from '../ledger/remote-folders.ts'
import { skippedOf, skippedSentence } from '../ledger/skipped-messages.ts'
import { isRefusal, type ListedFolder, type RemoteFolderStatus, type ServerError } from '../model/server.ts'
import { ALL_COMPARED_EVERY_MS } from '../pull/look.ts'
import { Pull } from '../pull/pull.ts'
import { PullRemovals } from '../pull/pull-removals.ts'
import { Push } from '../push/push.ts'
import type { MayAppend } from '../push/push-appends.ts'
import type { SyncSession } from '../session/sync-session.ts'

/** How often the list of folders is read, with what changed in them, ms. */
const LIST_EVERY_MS = 2 * MINUTE_MS
/** How often the Inbox is looked at during the import, ms. */
const INBOX_EVERY_MS = 30_000
/** The import is interrupted for what changes in the Inbox once in this time, ms. */
const ARRIVALS_EVERY_MS = 1_000
/** How long the import goes on before changes made here and new mail have their turn, ms. */
const IMPORT_SLICE_MS = 5_000
/** How long messages that are gone wait for a folder that the server does not open, ms. */
const REFUSED_WAIT_MS = 15 * MINUTE_MS
/** Messages of folders that are compared because the server has them now. */
const COMPARED_PER_PAGE = 200

export class Round {
  readonly #session: SyncSession
  readonly #tree: RemoteTree
  readonly #pull: Pull
  readonly #removals: PullRemovals
  readonly #push: Push
  readonly #folderPush: FolderPush
  /** Whether something changed in the folder of new mail meanwhile. */
  readonly #hasArrivals: () => boolean
  /** Folders that the server did not open or describe, by number: since when (ms), and what it answered. */
  readonly #refused = new Map<number, { since: number; reason: string }>()
  #listedAt: number | null = null
  #inboxAt = 0

  constructor(session: SyncSession, mayAppend: MayAppend, hasArrivals: () => boolean) {
    this.#session = session
    this.#hasArrivals = hasArrivals
    this.#tree = new RemoteTree(session)
    this.#pull = new Pull(session, () => this.#readTree())
    this.#removals = new PullRemovals(session)
    this.#push = new Push(session, mayAppend)
    this.#folderPush = new FolderPush(session, this.#tree)
  }

  /** Until when (ms) nothing is to be done unless something changes. */
  get nextAt(): number {
    return (this.#listedAt ?? 0) + LIST_EVERY_MS
  }

  /** Whether changes made here wait. */
  get hasLocalChanges(): boolean {
    return this.#push.isNeeded || this.#folderPush.isNeeded
  }

  /** The folder in which new mail arrives. */
  get arrivals(): RemoteFolder | undefined {
    const role = this.#session.areLabels ? 'archive' : 'inbox'
    return this.#session.followed().find((folder) => folder.role === role)
  }

  /**
   * Everything that is to be done now.
   * @param because `arrivals`: something changed in the folder of new mail; `local`: something changed here
   * @returns whether the import has more to do
   */
  async run(because: { arrivals: boolean; wanted: boolean }): Promise<boolean> {
    const session = this.#session
    const { states, clock, folders, intents, messages } = session.deps
    session.refresh()
    const isListDue = because.wanted || this.#listedAt === null || clock.now() >= this.nextAt
    const looked = isListDue ? await this.#lookAtChanged() : await this.#lookAtArrivals(because.arrivals)
    await this.#settleIntents()
    await this.#send()
    // What is gone from one folder may be in a new one that is not read yet.
    const isNew = session.account.import.state === 'done' && session.followed().some(({ lowest }) => lowest !== 1)
    if (!isNew) await this.#settleGone(looked)
    const more = await this.#import()
    if (isNew && !more && this.#pull.reason === null) await this.#settleGone(looked)
    if (this.#removals.hasUnlisted) this.#listedAt = null
    await this.#push.end()
    await session.write((tx) => {
      const { n } = session.account
      const changes = intents.refused(tx, n)
      const refused = { names: this.#folderPush.refused, changes, removals: messages.erased.countRefused(n, tx) }
      const differences = differencesOf({ folders, reader: tx }, n, refused)
      const skipped = skippedOf(tx, n)
      const sentence = skippedSentence(skipped)
      const differs = differences.find(({ kind }) => kind !== 'skipped' || sentence === null)?.sentence ?? sentence
      states.synced(tx, n, { reason: this.#reason() ?? differs, skipped, differences })
    })
    return more
  }

  /** Why something waits, in one sentence; null: nothing does. */
  #reason(): string | null {
    const followed = new Set(this.#session.followed().map(({ n }) => n))
    for (const n of this.#refused.keys()) if (!followed.has(n)) this.#refused.delete(n)
    const [refused] = this.#refused.values()
    return this.#push.held ?? this.#pull.reason ?? this.#push.reason ?? refused?.reason ?? null
  }

  /** Folders of the server whose messages are missing here. */
  #leftOut(): RemoteFolder[] {
    const { folders } = this.#session.deps
    return folders.list(this.#session.account.n).filter(isLeftOut)
  }

  /** Sends what changed here. */
  async #send(): Promise<void> {
    if (this.#session.account.mode === 'collect') return
    this.#push.begin()
    await this.#folderPush.createAndRename()
    if (await this.#folderPush.openHolders()) await this.#readTree()
    for (const folder of this.#session.deps.folders.list(this.#session.account.n)) await this.#compare(folder)
    if (this.#push.isNeeded) await this.#push.run()
    await this.#push.settleRemovals()
    // What was moved under a UID that is not known is looked for before it counts as gone.
    await this.#look(this.#push.takeTargets())
    const isBack = await this.#folderPush.remove(() => {
      this.#session.refresh()
      return this.#push.isNeeded
    })
    // Until it has a folder here, its messages would seem to be in none.
    if (!isBack) return
    await this.#readTree()
    this.#listedAt = null
  }

  /** Sends the messages of a folder that the server has now. */
  async #compare({ n, folder, compareAfter }: RemoteFolder): Promise<void> {
    const { store, folders } = this.#session.deps
    for (let after = compareAfter; after !== null; ) {
      const range = [{ first: after + 1, last: 2 ** 32 }]
      const entries = folder === null ? [] : store.programs.views.entries(folder, range, COMPARED_PER_PAGE)
      await this.#push.messages(entries.map(({ message }) => message))
      after = entries.at(-1)?.uid ?? null
      const next = after
      await this.#session.write((tx) => folders.set(tx, n, { compareAfter: next }))
    }
  }

  async #lookAtArrivals(isChanged: boolean): Promise<Set<number>> {
    const session = this.#session
    const now = session.deps.clock.now()
    const isDue = isChanged || (session.account.import.state !== 'done' && now - this.#inboxAt >= INBOX_EVERY_MS)
    const folder = isDue ? this.arrivals : undefined
    if (folder === undefined || folder.lowest === null) return new Set()
    this.#inboxAt = now
    const hasGone = await this.#look([folder])
    // What is gone may have been moved: the other folders are looked at before it is taken out.
    return hasGone ? this.#lookAtChanged() : new Set([folder.n])
  }

  async #readTree(): Promise<void> {
    await this.#tree.bring(await this.#session.server.folders())
  }

  /** Reads the list and looks at the folders that changed. @returns their numbers */
  async #lookAtChanged(): Promise<Set<number>> {
    const session = this.#session
    this.#removals.beginList()
    const listed = await session.server.folders()
    await this.#tree.bring(listed)
    const byPath = new Map(listed.map((folder) => [folder.path, folder]))
    const changed: RemoteFolder[] = []
    for (const folder of session.followed()) {
      const status = await this.#statusOf(folder, byPath)
      if (folder.lowest === null) await this.#notePlan(folder, status)
      else if (this.#hasChanged(folder, status)) changed.push(folder)
      else if (status !== null) this.#refused.delete(folder.n)
    }
    this.#listedAt = session.deps.clock.now()
    this.#inboxAt = this.#listedAt
    await this.#look(changed)
    return new Set(changed.map(({ n }) => n))
  }

  async #statusOf(folder: RemoteFolder, listed: ReadonlyMap<string, ListedFolder>): Promise<RemoteFolderStatus | null> {
    const given = listed.get(folder.path)?.status
    if (given != null) return given
    try {
      return await this.#session.server.status(folder.path)
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#noteRefused(folder, error)
      return null
    }
  }

  #noteRefused({ n }: RemoteFolder, { message: reason }: ServerError): void {
    const { log, clock } = this.#session.deps
    const remote = this.#session.account.id
    log.warn({ event: 'sync.folder_refused', remote, folder: n, reason }, 'A folder could not be read')
    this.#refused.set(n, { since: this.#refused.get(n)?.since ?? clock.now(), reason })
  }

  #hasChanged(folder: RemoteFolder, status: RemoteFolderStatus | null): boolean {
    if (status === null) return false
    if (status.uidValidity !== folder.uidValidity || status.uidNext !== folder.uidNext) return true
    if (status.messages !== folder.total || this.#pull.hasOpen(folder)) return true
    const flagsAt = folder.flagsAt ?? 0
    if (areFlagsUnread(folder) && this.#session.deps.clock.now() - flagsAt >= ALL_COMPARED_EVERY_MS) return true
    // Without modification numbers flags change unseen.
    return status.modSeq === null || folder.modSeq === null || status.modSeq !== folder.modSeq
  }

  /** How many messages the import of a folder has to do. */
  async #notePlan(folder: RemoteFolder, status: RemoteFolderStatus | null): Promise<void> {
    const { folders } = this.#session.deps
    if (status === null || status.messages === folder.total) return
    await this.#session.write((tx) => folders.set(tx, folder.n, { total: status.messages }))
  }

  /** @returns whether messages are gone */
  async #look(changed: readonly RemoteFolder[], full: ReadonlySet<number> = new Set()): Promise<boolean> {
    let hasGone = false
    for (const folder of changed) {
      try {
        if (await this.#pull.look([folder], full)) hasGone = true
        this.#refused.delete(folder.n)
      } catch (error) {
        // A folder that cannot be opened now: the next list shows its state.
        if (!isRefusal(error)) throw error
        this.#noteRefused(folder, error)
      }
    }
    return hasGone
  }

  /** Changes without an answer: their folders are looked at; what is not found there did not happen, and is sent again. */
  async #settleIntents(): Promise<void> {
    const session = this.#session
    const { intents, folders } = session.deps
    const before = intents.announced(session.account.n)
    if (before.length === 0) return
    const concerned = [...new Set(before.map(({ folder }) => folder!))].flatMap((n) => folders.get(n) ?? [])
    await this.#look(concerned.filter((folder) => session.isRead(folder)))
    // A folder that is not read to its end may have them: its import finds them.
    const isOpen = ({ folder: n }: { folder: number | null }) => {
      const folder = folders.get(n!)
      const isUnread = folder?.lowest !== 1 || this.#refused.has(folder.n)
      return folder !== undefined && session.isRead(folder) && isUnread
    }
    const known = new Set(before.map(({ n }) => n))
    const left = intents.announced(session.account.n).filter((one) => known.has(one.n) && !isOpen(one))
    if (left.length === 0) return
    await session.write((tx) => {
      intents.remove(
        tx,
        left.map(({ n }) => n),
      )
      for (const intent of left) intents.add(tx, session.account.n, sentAgain(intent))
    })
  }

  async #settleGone(looked: ReadonlySet<number>): Promise<void> {
    const now = this.#session.deps.clock.now()
    // What is gone from one folder may be in one that the server does not open for a moment.
    if (this.#refused.values().some(({ since }) => now - since < REFUSED_WAIT_MS)) return
    const unsure = await this.#removals.settle(looked, this.#push.takeGone())
    if (unsure.length === 0) return
    const numbers = new Set(unsure.map(({ n }) => n))
    await this.#look(unsure, numbers)
    await this.#removals.settle(numbers.union(looked))
  }

  /** @returns whether there is more to import */
  async #import(): Promise<boolean> {
    const session = this.#session
    const { clock } = session.deps
    const open = () => session.followed().filter(({ lowest }) => lowest !== 1)
    const end = clock.now() + IMPORT_SLICE_MS
    const isDue = () => this.#hasArrivals() && clock.now() >= this.#inboxAt + ARRIVALS_EVERY_MS
    const mayGoOn = () => clock.now() < end && !this.#push.isNeeded && !isDue()
    await this.#noteProgress()
    for (let folder = open()[0]; folder !== undefined; folder = open()[0]) {
      session.refresh()
      const isDone = !(await this.#importOf(folder, mayGoOn))
      if (isDone) await this.#noteProgress()
      if (!mayGoOn() || this.#pull.reason !== null) break
    }
    if (open().length > 0) return this.#pull.reason === null
    if (session.account.import.state !== 'done') await this.#finish()
    return false
  }

  async #importOf(folder: RemoteFolder, mayGoOn: () => boolean): Promise<boolean> {
    try {
      return await this.#pull.importSome(folder, mayGoOn)
    } catch (error) {
      if (!isRefusal(error)) throw error
      const { folders, log } = this.#session.deps
      const reason = error.message
      const facts = { event: 'sync.folder_refused', remote: this.#session.account.id, folder: folder.n, reason }
      log.warn(facts, 'A folder could not be imported')
      await this.#session.write((tx) => folders.set(tx, folder.n, { state: 'ignored', reason }))
      return false
    }
  }

  async #noteProgress(): Promise<void> {
    const session = this.#session
    if (session.account.import.state === 'done') return
    const followed = session.followed()
    const plan = {
      // A folder that is left out is not done.
      folders: followed.length + this.#leftOut().length,
      foldersDone: followed.filter(({ lowest }) => lowest === 1).length,
      messages: followed.reduce((sum, { total }) => sum + total, 0),
    }
    await session.write((tx) => session.deps.states.plan(tx, session.account.n, plan))
  }

  /** The import is done: mail programs may see the mailbox, with UIDs in the order of receipt. */
  async #finish(): Promise<void> {
    const session = this.#session
    const { db, clock, store, states } = session.deps
    if (session.account.mode === 'mirror') {
      for (const { n } of store.read.folders.keys(session.mail))
        await sortByReceipt(db, session.mail, n, { now: clock.now(), signal: session.signal })
    }
    session.refresh()
    const folders = this.#leftOut().length
    await session.write((tx) => {
      const { messages } = skippedOf(tx, session.account.n)
      states.imported(tx, session.account, { messages, folders })
    })
  }
}
