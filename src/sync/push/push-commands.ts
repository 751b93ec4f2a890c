// What the commands of a push share: the selected folder, changes that a server refuses, and the rows that follow a command.

import { DAY_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import { sendNow } from '../ledger/intents.ts'
import { KEYWORDS_STAY, type RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { takenBy } from '../model/marks.ts'
import { isRefusal, type OpenedFolder, type ServerError } from '../model/server.ts'
import { spansOf } from '../model/uid-spans.ts'
import { DOUBTED, type Identified, identify } from '../session/identity.ts'
import type { SyncSession } from '../session/sync-session.ts'

/** Base rows written in one unit of work. */
const ROWS_PER_BATCH = 100
/** Intents removed in one unit of work. */
const INTENTS_PER_BATCH = 500
/** What a server refused is sent again after this time, doubled each time so often, and then once a day, ms. */
const REFUSED_RETRY_MS = 60_000
const TRIES_MAX = 6
/** What a server refused for want of room is sent again after this time, ms. */
const QUOTA_RETRY_MS = 60 * 60_000

const NOT_GIVEN = 'The server does not give them: whether they are the same messages cannot be told.'

/** Messages with changes that are sent again later, or now. */
type Later = ReturnType<PushCommands['dueLater']>

export class PushCommands {
  readonly session: SyncSession
  /** By remote folder, as of its last SELECT; before that a server is expected to keep everything. */
  readonly #taken = new Map<number, (mark: string) => boolean>()
  /** Numbers of remote folders that did not take a mark. */
  readonly #unkept = new Set<number>()
  /** How often changes of messages were refused that are sent again now, and the numbers of their intents. */
  #tries = new Map<number, number>()
  #again = new Set<number>()
  /** Why something waits, in one sentence; null: nothing does. */
  reason: string | null = null
  /** Numbers of remote folders in which UIDs name other messages: they are to be looked at. */
  readonly doubted = new Set<number>()

  constructor(session: SyncSession) {
    this.session = session
  }

  /** The changes that a server refused, or that wait for a copy in Sent, and are due. */
  dueLater() {
    const { deps, account } = this.session
    return deps.intents.due(account.n, deps.clock.now())
  }

  /** Whether there are some of {@link dueLater}. */
  get hasDue(): boolean {
    const { deps, account } = this.session
    return deps.intents.hasDue(account.n, deps.clock.now())
  }

  /** How often changes of a message were refused, or taken and not found, that are sent again now. */
  triesOf(message: number): number {
    return this.#tries.get(message) ?? 0
  }

  /** Until it ends, changes of these messages that are refused count on. */
  async again(later: Later, work: (messages: number[]) => Promise<void>): Promise<void> {
    if (later.length === 0) return
    const { intents } = this.session.deps
    this.#tries = new Map(later.map(({ message, tries }) => [message, tries ?? 0]))
    this.#again = new Set(later.map(({ n }) => n))
    // Removed when the changes are sent: a connection that breaks meanwhile leaves them to the next one.
    await work([...new Set(later.map(({ message }) => message))])
    const done = [...this.#again]
    for (let at = 0; at < done.length; at += INTENTS_PER_BATCH)
      await this.session.write((tx) => intents.remove(tx, done.slice(at, at + INTENTS_PER_BATCH)))
    this.#tries.clear()
    this.#again.clear()
  }

  /** Writes which folders do not keep all marks that are set here. */
  async noteUnkept(): Promise<void> {
    const { folders } = this.session.deps
    const unkept = [...this.#unkept].filter((n) => folders.get(n)?.reason === null)
    this.#unkept.clear()
    if (unkept.length === 0) return
    await this.session.write((tx) => {
      for (const n of unkept) folders.set(tx, n, { reason: KEYWORDS_STAY })
    })
  }

  /** Whether the server keeps a mark in a folder. */
  takes(folder: number, mark: string): boolean {
    const isTaken = this.#taken.get(folder)?.(mark) ?? true
    if (!isTaken) this.#unkept.add(folder)
    return isTaken
  }

  /**
   * Selects the folder of rows.
   * @param messages whose changes are sent later when the server does not open the folder now
   * @param isFresh whether it is selected again, to see what arrived meanwhile
   * @returns undefined when nothing can be written there
   */
  async open(n: number, messages: readonly (number | null)[], isFresh = false): Promise<RemoteFolder | undefined> {
    const session = this.session
    const folder = session.deps.folders.get(n)
    if (folder === undefined) return undefined
    let opened = await this.#select(folder.path, messages, isFresh)
    const isOld = () => opened !== undefined && opened.uidNext < (folder.uidNext ?? 0)
    // Messages that arrived after the SELECT are known already.
    if (isOld() && !isFresh) opened = await this.#select(folder.path, messages, true)
    if (opened === undefined) return undefined
    // Created from here and not looked at yet: which messages its UIDs mean is known then.
    if (folder.uidValidity === null) await this.#repeat(messages, 'lasting')
    this.#taken.set(n, takenBy(opened.keywords))
    // Numbered again, or restored from a backup: the next look finds the messages under their new UIDs.
    if (opened.uidValidity !== folder.uidValidity || isOld()) return undefined
    if (!opened.isWritable) await this.#repeat(messages, 'lasting')
    return opened.isWritable ? folder : undefined
  }

  /**
   * Rows of the selected folder whose UIDs still name their messages: only those may be changed there. When one names another message, the
   * folder is read again first, and what was to be sent is compared again.
   */
  async identified(n: number, rows: readonly RemoteMessage[]): Promise<RemoteMessage[]> {
    const { same, absent, different } = await this.identify(n, rows)
    const compared = new Set([...same, ...absent, ...different])
    const unsure = rows.filter((row) => !compared.has(row)).map(({ message }) => message)
    await this.later(unsure, NOT_GIVEN)
    return different.length > 0 ? [] : same
  }

  /** As {@link identified}, with the rows whose UIDs name no message or another one. */
  async identify(n: number, rows: readonly RemoteMessage[]): Promise<Identified> {
    const result = rows.length === 0 ? { same: [], absent: [], different: [] } : await identify(this.session, rows)
    if (result.different.length > 0) await this.#doubt(n, result.different)
    return result
  }

  async #doubt(n: number, different: readonly RemoteMessage[]): Promise<void> {
    const { deps, account } = this.session
    this.doubted.add(n)
    const facts = { event: 'sync.uids_reused', remote: account.id, folder: n, messages: different.length }
    deps.log.warn(facts, 'UIDs of a folder name other messages')
    await this.session.write((tx) => {
      deps.folders.set(tx, n, { uidValidity: DOUBTED })
      // Compared again after the look: what was put into another folder here is kept.
      for (const { message } of different) if (message !== null) deps.intents.add(tx, account.n, sendNow(message))
    })
  }

  async #select(
    path: string,
    messages: readonly (number | null)[],
    isFresh: boolean,
  ): Promise<OpenedFolder | undefined> {
    try {
      return isFresh ? await this.session.select(path) : await this.session.ensure(path)
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.noteRefusal('select', error)
      await this.#repeat(messages, 'lasting')
      return undefined
    }
  }

  /** Logs a refused command, and has the state of the account say so. */
  noteRefusal(what: string, { message: reason }: ServerError): void {
    const { deps, account } = this.session
    deps.log.warn({ event: 'sync.change_refused', remote: account.id, what, reason }, 'The server refused a change')
    this.reason = reason
  }

  /** Runs a command that a server may refuse: it is repeated with longer and longer pauses, at last once a day. */
  async try(what: string, messages: readonly (number | null)[], command: () => Promise<void>): Promise<void> {
    try {
      await command()
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.noteRefusal(what, error)
      await this.#repeat(messages, error.kind === 'quota' ? 'full' : 'refused', error.message)
    }
  }

  /** Sends changes again: the server has not carried them out yet. @param reason shown to people; null: it is shown already */
  later(messages: readonly (number | null)[], reason: string | null = null): Promise<void> {
    return messages.length === 0 ? Promise.resolve() : this.#repeat(messages, 'refused', reason)
  }

  /** Sends messages again when the server may have room for them. @param reason what it answered */
  whenRoom(messages: readonly number[], reason: string): Promise<void> {
    return messages.length === 0 ? Promise.resolve() : this.#repeat(messages, 'full', reason)
  }

  /** @param reason shown to people; null: it is shown already */
  async #repeat(
    messages: readonly (number | null)[],
    why: 'refused' | 'full' | 'lasting',
    reason: string | null = null,
  ): Promise<void> {
    const { deps, account } = this.session
    const now = deps.clock.now()
    const given = messages.filter((message) => message !== null)
    const known = deps.intents.of(account.n, given)
    const waiting = known.filter(({ n, kind }) => kind === 'later' && !this.#again.has(n))
    const open = new Set(waiting.map(({ message }) => message))
    const refused = given.filter((message) => !open.has(message))
    if (refused.length === 0) return
    await this.session.write((tx) => {
      for (const message of refused) {
        const tries = this.triesOf(message) + 1
        const pause = REFUSED_RETRY_MS * 2 ** Math.min(tries, TRIES_MAX)
        const at = now + (why === 'full' ? QUOTA_RETRY_MS : why === 'refused' && tries > TRIES_MAX ? DAY_MS : pause)
        deps.intents.add(tx, account.n, { ...sendNow(message), at, tries, ...(reason === null ? {} : { reason }) })
      }
    })
  }

  /** As {@link try}: what was refused did not happen. */
  async tryIntents(
    what: string,
    { intents, messages }: { intents: readonly number[]; messages: readonly (number | null)[] },
    command: () => Promise<void>,
  ): Promise<void> {
    const session = this.session
    await this.try(what, messages, async () => {
      try {
        await command()
      } catch (error) {
        if (isRefusal(error)) await session.write((tx) => session.deps.intents.remove(tx, intents))
        throw error
      }
    })
  }

  /** @param rows of one folder; `work` receives them as an earlier step left them */
  async write(rows: readonly RemoteMessage[], work: (tx: Tx, batch: RemoteMessage[]) => void): Promise<void> {
    for (let at = 0; at < rows.length; at += ROWS_PER_BATCH) {
      const batch = rows.slice(at, at + ROWS_PER_BATCH)
      await this.session.write((tx) => work(tx, this.current(tx, batch)))
    }
  }

  /** Selects the folder of steps. @returns those whose messages may be changed there */
  async opened<S extends { row: RemoteMessage }>(folder: number, steps: readonly S[]): Promise<S[]> {
    if ((await this.open(folder, numbersOf(steps))) === undefined) return []
    const rows = steps.map(({ row }) => row)
    const same = new Set(await this.identified(folder, rows))
    return steps.filter(({ row }) => same.has(row))
  }

  /** Rows as they are now. */
  current(tx: Tx, rows: readonly RemoteMessage[]): RemoteMessage[] {
    const spans = spansOf(rows.map(({ uid }) => uid))
    const current = this.session.deps.messages.in(rows[0]!.folder, spans, rows.length, tx)
    const byUid = new Map(current.map((row) => [row.uid, row]))
    return rows.map((row) => byUid.get(row.uid) ?? row)
  }

  /** A row for a message that a command has created, unless a look has found it already. */
  add(tx: Tx, row: RemoteMessage): void {
    const { messages } = this.session.deps
    messages.remove(tx, row.folder, [row.uid])
    messages.add(tx, [row])
  }
}

export function numbersOf(steps: readonly { row: RemoteMessage }[]): (number | null)[] {
  return steps.map(({ row }) => row.message)
}
