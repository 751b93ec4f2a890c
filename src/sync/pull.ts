// The incoming half of a round: folders that changed, new messages, the import of old ones, and what is gone for good.

import { DAY_MS, MINUTE_MS } from '../base/durations.ts'
import { countOf, piecesOfRanges } from '../base/number-ranges.ts'
import type { Tx } from '../db/db.ts'
import { FolderMap } from './folder-map.ts'
import { readHeads } from './heads.ts'
import { Intake } from './intake.ts'
import { sendNow } from './ledger/intents.ts'
import type { RemoteFolder } from './ledger/remote-folders.ts'
import { CONTENT, type RemoteMessage } from './ledger/remote-messages.ts'
import { applyFolders, compareAgain } from './local-changes.ts'
import { type FolderLook, lookAt } from './look.ts'
import { type MatchedHead, type Matches, matchHeads } from './matching.ts'
import { MASS_CONFIRM_MESSAGES } from './push-removals.ts'
import type { HeldPart, HeldRemoval } from './records.ts'
import { MISSED } from './remote-tree.ts'
import { isRefusal, type RemoteHead, ServerError, type UidSpan } from './server.ts'
import type { SyncSession } from './sync-session.ts'
import { highest, spansOf, within, without } from './uid-spans.ts'

/** Messages whose heads are read at a time: at the end of a page everything before it is stored. */
const HEADS_PER_PAGE = 500
/** Messages taken out in one unit of work. */
const GONE_PER_BATCH = 20
/** A removal is held back when it is larger, and more than half of the folder (docs/design/outside-accounts.md §8). */
const MASS_MESSAGES = 100
/** ... until it is still so after this time, ms; above {@link MASS_CONFIRM_MESSAGES} until it is confirmed, or a day. */
const MASS_WAIT_MS = 15 * MINUTE_MS

/** Folders that are named to people. */
const NAMED_MAX = 20

/** What is done about messages that are gone from a folder: `most` of them are taken out; `held`: what waits for a confirmation. */
type GoneVerdict =
  | { kind: 'take'; most: number; held?: undefined }
  | { kind: 'wait'; held?: HeldPart }
  | { kind: 'look'; held?: undefined }

export class Pull {
  readonly #session: SyncSession
  readonly #intake: Intake
  /** Messages below the lowest known UID of folders that are being imported, as of this session. */
  readonly #older = new Map<number, UidSpan[]>()
  /** By folder: the message that was gone last when the list of folders was read. What is gone since may be in one that was looked at before. */
  #listedGone: ReadonlyMap<number, number> = new Map()
  /** Messages that are gone wait for the next list. */
  #hasUnlisted = false
  /** Reads the folders again, when a message has a label that no folder stands for. */
  readonly #readTree: () => Promise<void>

  constructor(session: SyncSession, readTree: () => Promise<void>) {
    this.#session = session
    this.#intake = new Intake(session)
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
    for (const { folder } of looks) await this.#retry(folder)
    return looks.some(({ hasGone }) => hasGone)
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
    return this.#intake.hasMissing(n) || messages.headless(n, clock.now(), 1).length > 0
  }

  /** Asks again for contents and heads that the server did not give. */
  async #retry(folder: RemoteFolder): Promise<void> {
    const { messages, clock } = this.#session.deps
    await this.#intake.retryMissing(folder, this.#map)
    const open = messages.headless(folder.n, clock.now(), HEADS_PER_PAGE).map(({ uid }) => uid)
    if (open.length > 0) await this.#take(folder, spansOf(open), (heads) => heads)
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
    const isKnown = ({ state }: RemoteMessage) => state !== CONTENT.headless
    const rows = messages.in(folder.n, page, countOf(page)).filter(isKnown)
    const unknown = without(page, spansOf(rows.map(({ uid }) => uid)))
    if (countOf(unknown) === 0) return null
    const heads = ordered((await readHeads(session, folder, unknown)).sort((a, b) => a.uid - b.uid))
    if (heads.length === 0) return null
    await this.#knowLabels(heads)
    let matches = matchHeads(session, folder, heads)
    if (matches.doubtful.length > 0 && session.account.mode === 'mirror') {
      // Messages that seem to be elsewhere too may have been moved since that folder was looked at.
      for (const n of matches.doubtful) {
        const other = session.deps.folders.get(n)
        if (other !== undefined && session.isRead(other)) await this.#lookForGone(other)
      }
      matches = matchHeads(session, folder, heads)
    }
    const { known: filed, fresh } = await this.#takeBack(folder, matches)
    await this.#intake.file(folder, this.#map, filed)
    const count = await this.#intake.fetch(folder, this.#map, fresh, mayGoOn)
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
    const here = store.mail.placements(
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

  /**
   * Takes out what is gone from its folder and was not found in another one. To be called when all folders were looked at; what is gone since
   * their list was read waits for the next one.
   * @returns folders to be looked at in full before their messages may be taken out
   */
  async settleGone(looked: ReadonlySet<number>): Promise<RemoteFolder[]> {
    const session = this.#session
    if (session.account.mode === 'collect') return []
    const unsure: RemoteFolder[] = []
    const held = new Map<RemoteFolder, HeldPart>()
    for (const folder of session.deps.folders.list(session.account.n)) {
      if (folder.lowest !== 1 || session.deps.messages.gone(folder.n, 1).length === 0) continue
      const verdict = await this.#mayTakeOut(folder, looked.has(folder.n))
      if (verdict.kind === 'look') unsure.push(folder)
      else if (verdict.kind === 'take') await this.#takeOut(folder, verdict.most)
      if (verdict.held !== undefined) held.set(folder, verdict.held)
    }
    if (unsure.length > 0) return unsure
    await this.#hold(held)
    return []
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
      // Confirmed meanwhile: the next round carries it out.
      session.account.removal?.isConfirmed === before?.isConfirmed
        ? states.holdRemoval(tx, session.account, 'here', parts.length === 0 ? null : kept)
        : undefined,
    )
  }

  async #mayTakeOut(folder: RemoteFolder, isLooked: boolean): Promise<GoneVerdict> {
    const session = this.#session
    const { folders, messages, clock } = session.deps
    const now = clock.now()
    const { removal } = session.account
    const part = partOf(removal, folder)
    const held = part === removal?.parts?.[folder.n] ? part : undefined
    if (folder.reason === MISSED) return { kind: 'wait', held }
    const { present, gone } = await messages.counts(folder.n)
    const listed = messages.goneUntil(folder.n, this.#listedGone.get(folder.n) ?? 0, gone)
    if (listed < gone) this.#hasUnlisted = true
    if (listed === 0) return { kind: 'wait', held }
    const set = (suspectAt: number | null) => session.write((tx) => folders.set(tx, folder.n, { suspectAt }))
    if (gone <= MASS_MESSAGES || gone <= present) {
      if (folder.suspectAt !== null) await set(null)
      return { kind: 'take', most: listed }
    }
    if (folder.suspectAt === null) await set(now)
    if (folder.suspectAt === null || now - folder.suspectAt < MASS_WAIT_MS) return { kind: 'wait', held }
    if (!isLooked && folder.state === 'followed') return { kind: 'look' }
    const most = gone > MASS_CONFIRM_MESSAGES ? allowedOf(removal, part, now) : gone
    if (most === 0) {
      // What a day allowed is done: the rest waits for another one.
      const { first, since } = part === undefined || part.first === 0 ? { first: gone, since: now } : part
      return { kind: 'wait', held: { messages: gone, first, since } }
    }
    await set(null)
    // What was gone first is taken out; what is gone since then is looked at by itself.
    return { kind: 'take', most: Math.min(most, listed) }
  }

  /** What was held back is allowed once. */
  #countTaken(tx: Tx, { n }: RemoteFolder, count: number): void {
    const { account, deps } = this.#session
    const { removal } = account
    const part = removal?.parts?.[n]
    if (removal === null || part === undefined) return
    const left = (messages: number) => Math.max(0, messages - count)
    const parts = { ...removal.parts, [n]: { ...part, messages: left(part.messages), first: left(part.first) } }
    deps.states.holdRemoval(tx, account, 'here', { ...removal, parts })
  }

  /** @param most messages, those that were gone first */
  async #takeOut(folder: RemoteFolder, most: number): Promise<void> {
    const session = this.#session
    const { messages, store } = session.deps
    for (let left = most; left > 0; ) {
      const map = this.#map
      const count = await session.write((tx) => {
        const rows = messages.gone(folder.n, Math.min(left, GONE_PER_BATCH), tx)
        this.#countTaken(tx, folder, rows.length)
        const numbers = rows.flatMap(({ message }) => message ?? [])
        const copies = messages.of(session.account.n, numbers, tx)
        const placements = store.mail.placements(session.mail, numbers, tx)
        messages.remove(
          tx,
          folder.n,
          rows.map(({ uid }) => uid),
        )
        for (const n of new Set(numbers)) {
          const placement = placements.get(n)
          const all = copies.get(n) ?? []
          const left = all.filter((copy) => !rows.some((row) => row.folder === copy.folder && row.uid === copy.uid))
          if (placement === undefined) {
            // Deleted here as well: its other copies are to be removed there.
            if (left.length > 0) session.deps.intents.add(tx, session.account.n, sendNow(n))
            continue
          }
          const of = (list: typeof all) => list.flatMap((copy) => map.foldersOf(copy))
          const after = of(left)
          applyFolders(tx, session, placement, { before: of(all), after })
          if (after.length > 0) compareAgain(tx, session, map, [n])
        }
        return rows.length
      })
      left = count === 0 ? 0 : left - count
    }
  }
}

/** What is held back of a folder; what an earlier version held says nothing of folders. */
function partOf(removal: HeldRemoval | null, { n }: RemoteFolder): HeldPart | undefined {
  if (removal === null) return undefined
  const { messages, since, parts = { [n]: { messages, first: messages, since } } } = removal
  return parts[n]?.messages === 0 ? undefined : parts[n]
}

/** What may be taken out of a folder of which very many messages are gone: what was confirmed, or is held for a day. */
function allowedOf(removal: HeldRemoval | null, part: HeldPart | undefined, now: number): number {
  if (removal === null || part === undefined) return 0
  if (removal.isConfirmed) return part.messages
  return now - part.since >= DAY_MS ? part.first : 0
}
