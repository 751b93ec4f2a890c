// Folders that were created, renamed or deleted here: the same is done at the server.

import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import type { FolderRole } from '../../store/rows/records.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import { isRefusal, ServerError } from '../model/server.ts'
import { pathThere } from '../model/tree-names.ts'
import type { SyncSession } from '../session/sync-session.ts'
import type { RefusedFolder } from './differences.ts'
import { HOLDS_FOLDERS } from './ignored-folders.ts'
import type { RemoteTree } from './remote-tree.ts'

/** What the server refused is tried again with a list after this time, doubled each time (ms), and so often. */
const RETRY_MS = MINUTE_MS
const TRIES_MAX = 6
/** A folder that cannot be selected there is tried again after this time, ms. */
const HOLDER_RETRY_MS = HOUR_MS

interface FolderHere {
  n: number
  id: string
  role: FolderRole | null
  path: string
}

export class FolderPush {
  readonly #session: SyncSession
  readonly #tree: RemoteTree
  /** What was compared last: the folders here up to a sequence number, with those there. */
  #compared = ''
  /** Sequence number of the folders here when they were compared. */
  #comparedSeq = -1
  /** How often the server refused some of it, and when it is tried again (ms). */
  #tries = 0
  #retryAt = Number.POSITIVE_INFINITY
  /** When folders that hold folders only were tried, by number, ms. */
  readonly #openedAt = new Map<number, number>()
  /** By path here: what the server answered; null: it cannot have the name. */
  readonly #refused = new Map<string, string | null>()

  constructor(session: SyncSession, tree: RemoteTree) {
    this.#session = session
    this.#tree = tree
  }

  /** Folders that are here only, because the server does not take their names; those in them are not named. */
  get refused(): RefusedFolder[] {
    const { deps, mail } = this.#session
    const here = new Set(deps.store.read.folders.paths(mail).map(({ path }) => path))
    for (const path of this.#refused.keys()) if (!here.has(path)) this.#refused.delete(path)
    const isTop = (path: string) => !this.#refused.keys().some((other) => path.startsWith(`${other}/`))
    return [...this.#refused].filter(([path]) => isTop(path)).map(([path, reason]) => ({ path, reason }))
  }

  /** Whether folders changed here since they were compared: also while a round was sending messages. */
  get isNeeded(): boolean {
    return this.#session.account.mode !== 'collect' && this.#seq !== this.#comparedSeq
  }

  get #seq(): number {
    const { deps, mail } = this.#session
    return deps.store.accounts.lastSeq(mail, 'folders')
  }

  /** The messages of folders that were created there are to be compared. */
  async createAndRename(): Promise<void> {
    const session = this.#session
    if (session.account.mode === 'collect') return
    const seq = this.#seq
    // A folder that is gone there, and has messages here, is created again.
    const compared = () => [seq, ...this.#rows().map(({ n, folder }) => `${n} ${folder}`)].join()
    this.#comparedSeq = seq
    const isSame = compared() === this.#compared
    if (isSame && session.deps.clock.now() < this.#retryAt) return
    if (!isSame) this.#tries = 0
    this.#retryAt = Number.POSITIVE_INFINITY
    const here = [...session.deps.store.read.folders.paths(session.mail)].sort((a, b) => depth(a) - depth(b))
    for (let open = here; open.length > 0; ) {
      const before = this.#rows()
      const late = open.filter(({ path }) => this.#pathOf(path, before) === undefined)
      await this.#renameAndCreate(open, before)
      const after = late.length === 0 ? before : this.#rows()
      // Below a folder that was created or renamed just now.
      open = late.filter(({ path }) => this.#pathOf(path, after) !== undefined)
    }
    this.#compared = compared()
  }

  /**
   * A folder that holds folders only at the server has messages here: there it becomes a folder with messages, as RFC 9051 §6.3.4 describes
   * for the superior names of a CREATE.
   * @returns whether the list is to be read again
   */
  async openHolders(): Promise<boolean> {
    const { deps, mail, server } = this.#session
    const now = deps.clock.now()
    const paths = new Map(deps.store.read.folders.paths(mail).map((folder) => [folder.n, folder]))
    const isDue = ({ n }: RemoteFolder) => now - (this.#openedAt.get(n) ?? Number.NEGATIVE_INFINITY) >= HOLDER_RETRY_MS
    let isOpened = false
    for (const row of this.#rows().filter(({ reason }) => reason === HOLDS_FOLDERS)) {
      const here = row.folder === null ? undefined : paths.get(row.folder)
      const messages = here === undefined ? 0 : (deps.store.read.folders.total(mail, here.id, 'messages', false) ?? 0)
      if (here !== undefined && messages === 0) this.#refused.delete(here.path)
      if (here === undefined || messages === 0 || !isDue(row)) continue
      this.#openedAt.set(row.n, now)
      const open = () => this.#listed(row.path, server.createFolder(row.path))
      if (await this.#name('create', here.path, open)) isOpened = true
    }
    return isOpened
  }

  /** @throws ServerError refused when the server does not list what it has created or renamed */
  async #listed(path: string, command: Promise<void>): Promise<void> {
    await command
    if (!(await this.#session.server.isListed(path)))
      throw new ServerError('refused', 'It takes the name and does not list the folder.')
  }

  /** A folder that is not listed under its new name gets its former one: its messages would seem to be gone. */
  async #renameThere(path: string, to: string): Promise<void> {
    const { server } = this.#session
    try {
      await this.#listed(to, server.renameFolder(path, to))
    } catch (error) {
      if (isRefusal(error) && !(await server.isListed(path))) await server.renameFolder(to, path)
      throw error
    }
  }

  /** @param here parents first */
  async #renameAndCreate(here: readonly FolderHere[], known: readonly RemoteFolder[]): Promise<void> {
    let rows = byFolder(known)
    for (const folder of here) {
      if (!isMoved(folder, rows.get(folder.n))) continue
      await this.#renameIfMoved(folder)
      rows = byFolder(this.#rows())
    }
    for (const folder of here) if (!rows.has(folder.n)) await this.#createIfMissing(folder)
  }

  #rows(): RemoteFolder[] {
    return this.#session.deps.folders.list(this.#session.account.n)
  }

  /** @returns undefined when the server cannot have the folder */
  #pathOf(path: string, rows: readonly RemoteFolder[] = this.#rows()): string | undefined {
    const names = path.split('/')
    const parentPath = names.slice(0, -1).join('/')
    const parent = parentPath === '' ? undefined : rows.find(({ localPath }) => localPath === parentPath)
    if (parentPath !== '' && parent === undefined) return undefined
    const { delimiter, prefix } = this.#tree
    const before = parent === undefined ? prefix : parent.path + (delimiter ?? '')
    return pathThere([names.at(-1)!], delimiter, before) ?? undefined
  }

  async #renameIfMoved(folder: FolderHere): Promise<void> {
    const session = this.#session
    const { folders } = session.deps
    const row = this.#rows().find((one) => one.folder === folder.n)
    if (row === undefined || !isMoved(folder, row)) return
    const to = this.#pathOf(folder.path)
    if (to === undefined) return void this.#refused.set(folder.path, null)
    const { delimiter } = this.#tree
    const former = row.localPath
    if (to !== row.path && !(await this.#name('rename', folder.path, () => this.#renameThere(row.path, to))))
      return this.#tryLater()
    await session.write((tx) => {
      for (const one of folders.list(session.account.n, tx)) {
        const isBelow = delimiter !== null && one.path.startsWith(row.path + delimiter)
        if (one.n !== row.n && !isBelow) continue
        const localPath =
          one.n === row.n ? folder.path : one.localPath && former && folder.path + one.localPath.slice(former.length)
        folders.set(tx, one.n, { path: to + one.path.slice(row.path.length), localPath })
      }
    })
  }

  /** A refusal may be one of the moment. */
  #tryLater(): void {
    if (this.#retryAt !== Number.POSITIVE_INFINITY || this.#tries === TRIES_MAX) return
    this.#retryAt = this.#session.deps.clock.now() + RETRY_MS * 2 ** this.#tries++
  }

  /** Folders with a role are created when something is in them. */
  async #createIfMissing(folder: FolderHere): Promise<void> {
    const session = this.#session
    const { folders, store } = session.deps
    const messages = store.read.folders.total(session.mail, folder.id, 'messages', false) ?? 0
    const hasChildren = store.programs.views.status(session.mail, folder.n)?.hasChildren ?? false
    if (folder.role !== null && messages === 0 && !hasChildren) return
    const path = this.#pathOf(folder.path)
    if (path === undefined) return void this.#refused.set(folder.path, null)
    if (this.#rows().some((one) => one.path === path)) return
    const create = () => this.#listed(path, session.server.createFolder(path))
    if (!(await this.#name('create', folder.path, create))) return this.#tryLater()
    await session.write((tx) => {
      const row = { path, folder: folder.n, localPath: folder.path, role: folder.role, state: 'followed' as const }
      folders.add(tx, session.account.n, { ...row, compareAfter: 0 })
    })
  }

  /**
   * Folders that were deleted here, after their messages have left.
   * @param isPending whether changes of messages are to be sent before
   * @returns whether one has to come back: the list is to be read
   */
  async remove(isPending: () => boolean): Promise<boolean> {
    const session = this.#session
    const { folders, messages, store, clock } = session.deps
    let isBack = false
    const here = new Set(store.read.folders.keys(session.mail).map(({ n }) => n))
    const deleted = this.#rows().filter(
      ({ folder, localPath }) => folder !== null && localPath !== null && !here.has(folder),
    )
    // Its messages may have been deleted after the last ones were sent.
    if (deleted.length === 0 || isPending()) return false
    for (const row of deleted.sort((a, b) => b.path.length - a.path.length)) {
      // Its messages are removed before, or wait for a confirmation.
      if (messages.erased.isIn(row.n)) continue
      const { present, gone } = await messages.counts(row.n)
      const isEmpty = present + gone === 0 && (await this.#isEmptyThere(row))
      if (isEmpty && (await this.#try('delete', () => session.server.deleteFolder(row.path)))) {
        await session.write((tx) => folders.remove(tx, row.n))
        // Another folder here may have its name already.
        this.#compared = ''
        this.#comparedSeq = -1
        continue
      }
      // What arrived there meanwhile is not lost: the folder comes back with it.
      await session.write((tx) => folders.set(tx, row.n, { folder: null, localPath: null, lookedAt: clock.now() }))
      isBack = true
    }
    return isBack
  }

  /** Whether nothing is lost with a folder. A folder that was not read, or not to its end, has messages that are not known here. */
  async #isEmptyThere(row: RemoteFolder): Promise<boolean> {
    const session = this.#session
    const isLabel = session.areLabels && !session.isRead(row)
    if (row.reason === HOLDS_FOLDERS || isLabel) return true
    try {
      return (await session.server.status(row.path)).messages === 0
    } catch (error) {
      if (error instanceof ServerError && error.effect === 'refused') return false
      throw error
    }
  }

  /** Gives a folder its name there. @param path here @returns false when the server refuses it */
  async #name(what: string, path: string, command: () => Promise<void>): Promise<boolean> {
    const isDone = await this.#try(what, command, (reason) => this.#refused.set(path, reason))
    if (isDone) this.#refused.delete(path)
    return isDone
  }

  /** @returns false when the server refuses */
  async #try(
    what: string,
    command: () => Promise<void>,
    onRefused: (reason: string) => void = () => {},
  ): Promise<boolean> {
    const { log } = this.#session.deps
    try {
      await command()
      return true
    } catch (error) {
      if (!(error instanceof ServerError) || error.effect !== 'refused') throw error
      const remote = this.#session.account.id
      log.warn({ event: 'sync.change_refused', remote, what, reason: error.message }, 'The server refused a change')
      onRefused(error.message)
      return false
    }
  }
}

/** By number of the folder here. */
function byFolder(rows: readonly RemoteFolder[]): Map<number | null, RemoteFolder> {
  return new Map(rows.map((row) => [row.folder, row]))
}

/** Whether a folder has another name here than it has there. */
function isMoved({ path, role }: FolderHere, row: RemoteFolder | undefined): boolean {
  return row !== undefined && row.localPath !== path && role === null && row.role === null
}

function depth({ path }: FolderHere): number {
  return path.split('/').length
}
