// The incoming half of a round: folders that changed, new messages, and the import of old ones.

import { countOf, piecesOfRanges } from '../../base/number-ranges.ts'
import { CONTENT } from '../ledger/content-state.ts'
import { FolderMap } from '../ledger/folder-map.ts'
import { sendNow } from '../ledger/intents.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { isRefusal, type RemoteHead, ServerError, type UidSpan } from '../model/server.ts'
import { highest, spansOf, within, without } from '../model/uid-spans.ts'
import { readHeads } from '../session/heads.ts'
import type { SyncSession } from '../session/sync-session.ts'
import { ContentEvidence } from './ambiguity.ts'
import { Intake } from './intake.ts'
import { ALL_COMPARED_EVERY_MS, type FolderLook, lookAt } from './look.ts'
import { type KeyedHead, type MatchedHead, type Matches, matchHeads } from './matching.ts'
import { Recognition } from './recognition.ts'

/** Messages whose heads are read at a time: at the end of a page everything before it is stored. */
const HEADS_PER_PAGE = 500

export class Pull {
  readonly #session: SyncSession
  readonly #intake: Intake
  readonly #recognition: Recognition
  /** Messages below the lowest known UID of folders that are being imported, as of this session. */
  readonly #older = new Map<number, UidSpan[]>()
  /** When the known messages of folders were counted, by number, as of this session, ms. */
  readonly #countedAt = new Map<number, number>()
  /** Reads the folders again, when a message has a label that no folder stands for. */
  readonly #readTree: () => Promise<void>

  constructor(session: SyncSession, readTree: () => Promise<void>) {
    this.#session = session
    this.#intake = new Intake(session)
    this.#recognition = new Recognition(session)
    this.#readTree = readTree
  }

  get #map(): FolderMap {
    return new FolderMap(this.#session.deps.folders.list(this.#session.account.n), this.#session.areLabels)
  }

  /**
   * Looks at folders and takes what is new.
   * @param full by number: folders all of whose UIDs are compared
   * @returns whether messages are gone from one of them
   */
  async look(folders: readonly RemoteFolder[], full: ReadonlySet<number> = new Set()): Promise<boolean> {
    const looks: FolderLook[] = []
    for (const folder of folders) {
      const look = await lookAt(this.#session, this.#map, folder, full.has(folder.n))
      if (look.older !== null) this.#older.set(folder.n, look.older)
      looks.push(look)
    }
    for (const { folder, fresh } of looks) await this.#takeFresh(folder, fresh)
    let hasGone = looks.some((look) => look.hasGone)
    for (const { folder } of looks) {
      if (await this.#isMiscounted(folder)) {
        const look = await lookAt(this.#session, this.#map, folder, true)
        await this.#takeFresh(look.folder, look.fresh)
        hasGone ||= look.hasGone
      }
      await this.#retry(folder)
    }
    return hasGone
  }

  /**
   * Whether a folder has another number of messages than are known, although its server names changes: one that it did not name would never
   * be seen. Counted now and then.
   */
  async #isMiscounted({ n, lowest, total }: RemoteFolder): Promise<boolean> {
    const { facts, deps } = this.#session
    const now = deps.clock.now()
    const isDue = now - (this.#countedAt.get(n) ?? 0) >= ALL_COMPARED_EVERY_MS
    if (!facts.hasQresync || lowest !== 1 || !isDue || this.#intake.reason !== null) return false
    this.#countedAt.set(n, now)
    return (await deps.messages.counts(n)).present !== total
  }

  /** Why new messages wait at the server, in one sentence; null: they do not. */
  get reason(): string | null {
    return this.#intake.reason
  }

  /** New messages, oldest first. */
  async #takeFresh(folder: RemoteFolder, spans: readonly UidSpan[]): Promise<void> {
    const { folders } = this.#session.deps
    let isWhole = true
    for (const piece of piecesOfRanges(spans, HEADS_PER_PAGE)) {
      const isTaken = (await this.#take(folder, piece, (heads) => heads)) === null
      isWhole &&= isTaken
      // In a full mailbox those that are known are still filed; the others are asked for again.
      if (!isWhole) continue
      const next = piece.at(-1)![1] + 1
      await this.#session.write((tx) => {
        const current = folders.get(folder.n, tx)
        folders.set(tx, folder.n, { uidNext: Math.max(current?.uidNext ?? 1, next) })
      })
    }
  }

  /** Whether the server is to be asked again for messages of a folder that it did not give. */
  hasOpen({ n }: RemoteFolder): boolean {
    const { messages, clock } = this.#session.deps
    if (messages.erased.restoring(n, 0, 1).length > 0) return true
    return this.#intake.hasMissing(n) || messages.headless(n, clock.now(), 1).length > 0
  }

  /** Asks again for contents and heads that the server did not give. */
  async #retry(folder: RemoteFolder): Promise<void> {
    const { messages, clock } = this.#session.deps
    await this.#intake.retryMissing(folder, this.#map)
    const open = messages.headless(folder.n, clock.now(), HEADS_PER_PAGE).map(({ uid }) => uid)
    if (open.length > 0) await this.#takeHeadless(folder, open)
    await this.#restore(folder)
  }

  async #takeHeadless(folder: RemoteFolder, uids: readonly number[]): Promise<void> {
    const { messages, clock, headBreaks } = this.#session.deps
    // Written before they are asked for: the connection may break at one of them.
    await this.#session.write((tx) => messages.countTry(tx, folder.n, uids, clock.now()))
    headBreaks.askAgain(folder.n, uids)
    await this.#take(folder, spansOf(uids), (heads) => heads)
  }

  /** Fetches again what was deleted here, and is to be put back. */
  async #restore(folder: RemoteFolder): Promise<void> {
    const { deps, mail } = this.#session
    // A folder that was deleted here with its messages comes back first.
    const isHere = deps.store.read.folders.keys(mail).some(({ n }) => n === folder.folder)
    const next = (after: number) => (isHere ? deps.messages.erased.restoring(folder.n, after, HEADS_PER_PAGE) : [])
    for (let uids = next(0); uids.length > 0; uids = next(uids.at(-1)!))
      await this.#take(folder, spansOf(uids), (heads) => heads)
  }

  /**
   * Imports old messages of a folder, the newest first: one page of heads, or less.
   * @param mayGoOn asked between two batches of contents
   * @returns false when the folder is done
   */
  async importSome(folder: RemoteFolder, mayGoOn: () => boolean): Promise<boolean> {
    const session = this.#session
    const { folders, messages } = session.deps
    const older = this.#older.get(folder.n)
    // A new folder may have the number of one that is gone.
    if (older === undefined || folder.lowest === null) {
      await this.look([folder])
      return true
    }
    const page = highest(older, HEADS_PER_PAGE)
    const newestFirst = (heads: RemoteHead[]) => heads.toReversed()
    const from = page.length === 0 ? null : await this.#take(folder, page, newestFirst, mayGoOn)
    if (from !== null && this.#intake.reason !== null) return this.#importLater()
    const lowest = from ?? page[0]?.[0] ?? 1
    const left = within(older, 1, lowest - 1)
    this.#older.set(folder.n, left)
    const isDone = left.length === 0
    const known = isDone ? await messages.counts(folder.n) : null
    await session.write((tx) =>
      folders.set(tx, folder.n, {
        lowest: isDone ? 1 : lowest,
        done: known?.present ?? (folders.get(folder.n, tx)?.done ?? 0) + countOf(within(page, lowest, 2 ** 32)),
      }),
    )
    return !isDone
  }

  /** The first import of a full mailbox waits for room; later ones let the rest of the round go on. */
  #importLater(): false {
    if (this.#session.account.import.state !== 'done')
      throw new ServerError('delay', this.#intake.reason ?? 'The mailbox is full.', { kind: 'quota' })
    return false
  }

  /**
   * Files what is known of a page, and fetches the rest.
   * @returns the lowest UID from which on all are taken, when it did not go on to the end of the page: also in a full mailbox
   */
  async #take(
    folder: RemoteFolder,
    page: readonly UidSpan[],
    ordered: (heads: RemoteHead[]) => RemoteHead[],
    mayGoOn?: () => boolean,
  ): Promise<number | null> {
    const session = this.#session
    const { messages } = session.deps
    await session.ensure(folder.path)
    const isKnown = ({ state }: RemoteMessage) => state !== CONTENT.headless && state !== CONTENT.restoring
    const all = messages.in(folder.n, page, countOf(page))
    const rows = all.filter(isKnown)
    const old = new Set(all.filter(({ state }) => state === CONTENT.restoring).map(({ uid }) => uid))
    const unknown = without(page, spansOf(rows.map(({ uid }) => uid)))
    if (countOf(unknown) === 0) return null
    const heads = ordered((await readHeads(session, folder, unknown)).sort((a, b) => a.uid - b.uid))
    if (heads.length === 0) return null
    await this.#knowLabels(heads)
    const evidence = new ContentEvidence()
    await evidence.read(session, folder, heads)
    let matches = matchHeads(session, folder, heads, evidence)
    const lost = this.#recognition.mayHaveLost(folder, matches.fresh)
    if (matches.doubtful.length + lost.length > 0 && session.account.mode === 'mirror') {
      // Messages that seem to be elsewhere too may have been moved since that folder was looked at.
      for (const n of new Set([...matches.doubtful, ...lost])) {
        const other = session.deps.folders.get(n)
        if (other !== undefined && session.isRead(other)) await this.#lookForGone(other)
      }
      await evidence.read(session, folder, heads)
      matches = matchHeads(session, folder, heads, evidence)
    }
    matches = await this.#recognition.recognize(folder, matches, evidence)
    const { known: filed, fresh } = await this.#takeBack(folder, matches)
    await this.#intake.file(folder, this.#map, filed)
    // Messages of a folder whose UIDs changed get new dates from some servers: they are not news.
    const isOld = ({ head }: KeyedHead) => old.has(head.uid) || (folder.lowest !== 1 && folder.doubt !== null)
    const marked = fresh.map((one) => (isOld(one) ? { ...one, isOld: true } : one))
    const count = await this.#intake.fetch(folder, this.#map, marked, mayGoOn)
    const left = fresh.slice(count).map(({ head }) => head.uid)
    return left.length === 0 ? null : Math.max(...left) + 1
  }

  /** What was erased here while the server moved it to a folder other than Trash is fetched again: the server's folder wins. */
  async #takeBack(folder: RemoteFolder, matches: Matches): Promise<Pick<Matches, 'known' | 'fresh'>> {
    const session = this.#session
    const { store, messages, intents } = session.deps
    const isErased = ({ gone }: MatchedHead) => gone?.state === CONTENT.erased
    const isMoved = (one: MatchedHead) =>
      one.gone !== null && one.gone.folder !== folder.n && (one.message !== null || isErased(one))
    const moved = session.account.mode === 'mirror' && folder.role !== 'trash' ? matches.known.filter(isMoved) : []
    if (moved.length === 0) return matches
    const here = store.programs.mail.placements(
      session.mail,
      moved.flatMap(({ message }) => message ?? []),
    )
    const erased = new Set(moved.filter(({ message }) => message === null || !here.has(message)))
    if (erased.size === 0) return matches
    await session.write((tx) => {
      for (const { gone, message } of erased) {
        messages.remove(tx, gone!.folder, [gone!.uid])
        // Its other copies are still to be removed there.
        if (message !== null) intents.add(tx, session.account.n, sendNow(message))
      }
    })
    return { known: matches.known.filter((one) => !erased.has(one)), fresh: [...matches.fresh, ...erased] }
  }

  /** A folder that cannot be opened now keeps its messages: its own look says so. */
  async #lookForGone(folder: RemoteFolder): Promise<void> {
    try {
      const look = await lookAt(this.#session, this.#map, folder, false)
      if (look.older !== null) this.#older.set(folder.n, look.older)
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  }

  async #knowLabels(heads: readonly RemoteHead[]): Promise<void> {
    if (!this.#session.areLabels) return
    const unknown = (map: FolderMap) => heads.some(({ labels }) => map.unknownLabels(labels).length > 0)
    if (unknown(this.#map)) await this.#readTree()
  }
}
