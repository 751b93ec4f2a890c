// Folders that were created, renamed or deleted here: the same is done at the server.

import type { FolderRole } from '../store/records.ts'
import type { RemoteFolder } from './ledger/remote-folders.ts'
import { HOLDS_FOLDERS, type RemoteTree } from './remote-tree.ts'
import { ServerError } from './server.ts'
import type { SyncSession } from './sync-session.ts'
import { pathThere } from './tree-names.ts'

interface FolderHere {
  n: number
  id: string
  role: FolderRole | null
  path: string
}

export class FolderPush {
  readonly #session: SyncSession
  readonly #tree: RemoteTree
  /** Sequence number of the mailbox's folders up to which they were compared. */
  #comparedSeq = -1

  constructor(session: SyncSession, tree: RemoteTree) {
    this.#session = session
    this.#tree = tree
  }

  /** @returns folders here that the server has now: their messages are to be sent */
  async createAndRename(): Promise<number[]> {
    const session = this.#session
    if (session.account.mode === 'collect') return []
    const seq = session.deps.store.accounts.lastSeq(session.mail, 'folders')
    if (seq === this.#comparedSeq) return []
    const here = [...session.deps.store.folders.paths(session.mail)].sort((a, b) => depth(a) - depth(b))
    for (const folder of here) await this.#renameIfMoved(folder)
    const created: number[] = []
    for (const folder of here) if (await this.#createIfMissing(folder)) created.push(folder.n)
    this.#comparedSeq = seq
    return created
  }

  #rows(): RemoteFolder[] {
    return this.#session.deps.folders.list(this.#session.account.n)
  }

  /** @returns undefined when the server cannot have the folder */
  #pathOf(path: string): string | undefined {
    const names = path.split('/')
    const parentPath = names.slice(0, -1).join('/')
    const parent = parentPath === '' ? undefined : this.#rows().find(({ localPath }) => localPath === parentPath)
    if (parentPath !== '' && parent === undefined) return undefined
    const { delimiter, prefix } = this.#tree
    const before = parent === undefined ? prefix : parent.path + (delimiter ?? '')
    return pathThere([names.at(-1)!], delimiter, before) ?? undefined
  }

  async #renameIfMoved(folder: FolderHere): Promise<void> {
    const session = this.#session
    const { folders } = session.deps
    const row = this.#rows().find((one) => one.folder === folder.n)
    if (row === undefined || row.localPath === folder.path || folder.role !== null || row.role !== null) return
    const to = this.#pathOf(folder.path)
    if (to === undefined) return
    const { delimiter } = this.#tree
    const former = row.localPath
    if (to !== row.path && !(await this.#try('rename', () => session.server.renameFolder(row.path, to)))) return
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

  /** Folders with a role are created when something is in them. */
  async #createIfMissing(folder: FolderHere): Promise<boolean> {
    const session = this.#session
    const { folders, store } = session.deps
    if (this.#rows().some((one) => one.folder === folder.n)) return false
    const messages = store.folders.total(session.mail, folder.id, 'messages', false) ?? 0
    const hasChildren = store.views.status(session.mail, folder.n)?.hasChildren ?? false
    if (folder.role !== null && messages === 0 && !hasChildren) return false
    const path = this.#pathOf(folder.path)
    if (path === undefined || this.#rows().some((one) => one.path === path)) return false
    if (!(await this.#try('create', () => session.server.createFolder(path)))) return false
    await session.write((tx) => {
      const row = { path, folder: folder.n, localPath: folder.path, role: folder.role, state: 'followed' as const }
      folders.add(tx, session.account.n, row)
    })
    return messages > 0
  }

  /**
   * Folders that were deleted here, after their messages have left.
   * @param isPending whether changes of messages are to be sent before
   */
  async remove(isPending: () => boolean): Promise<void> {
    const session = this.#session
    const { folders, messages, store, clock } = session.deps
    if (session.account.mode === 'collect') return
    const here = new Set(store.folders.keys(session.mail).map(({ n }) => n))
    const deleted = this.#rows().filter(
      ({ folder, localPath }) => folder !== null && localPath !== null && !here.has(folder),
    )
    // Its messages may have been deleted after the last ones were sent.
    if (deleted.length === 0 || isPending()) return
    for (const row of deleted.sort((a, b) => b.path.length - a.path.length)) {
      const { present, gone } = await messages.counts(row.n)
      const isEmpty = present + gone === 0 && (await this.#isEmptyThere(row))
      if (isEmpty && (await this.#try('delete', () => session.server.deleteFolder(row.path)))) {
        await session.write((tx) => folders.remove(tx, row.n))
        // Another folder here may have its name already.
        this.#comparedSeq = -1
        continue
      }
      // What arrived there meanwhile is not lost: the folder comes back with it.
      await session.write((tx) => folders.set(tx, row.n, { folder: null, localPath: null, lookedAt: clock.now() }))
    }
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

  /** @returns false when the server refuses */
  async #try(what: string, command: () => Promise<void>): Promise<boolean> {
    const { log } = this.#session.deps
    try {
      await command()
      return true
    } catch (error) {
      if (!(error instanceof ServerError) || error.effect !== 'refused') throw error
      const remote = this.#session.account.id
      log.warn({ event: 'sync.change_refused', remote, what, reason: error.message }, 'The server refused a change')
      return false
    }
  }
}

function depth({ path }: FolderHere): number {
  return path.split('/').length
}
