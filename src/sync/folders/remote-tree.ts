// Brings the folders of a server here: new, renamed and deleted ones; each gets a folder here, or the reason why it has none.

import { ProductError } from '../../base/errors.ts'
import type { Tx } from '../../db/db.ts'
import type { FolderRole } from '../../store/rows/records.ts'
import type { RemoteFolder, RemoteFolderChange } from '../ledger/remote-folders.ts'
import { hexOf, messageKey } from '../model/message-key.ts'
import { isRefusal, type ListedFolder, type RemoteFolderStatus, ServerError } from '../model/server.ts'
import { nameFolders, type PlannedFolder, prefixOf } from '../model/tree-names.ts'
import type { SyncSession } from '../session/sync-session.ts'
import { BELOW_NONE, GONE, type KnownTree, NO_ROOM, whyIgnored } from './ignored-folders.ts'
import { noteMissing } from './missing-folders.ts'

/** Messages that are compared to recognise a renamed folder, and how many of them must be the same. */
const SAMPLE = 20
const SAME_SHARE = 0.8
/** Pairs of folders whose messages are compared for one list: a server may name thousands that come and go. */
const COMPARED_MAX = 1000
/** Rows of a folder that is gone are removed in units of this many. */
const ROWS_PER_BATCH = 500

export class RemoteTree {
  readonly #session: SyncSession
  /** What paths begin with, and what separates names, as of the last list. */
  prefix = ''
  delimiter: string | null = null

  constructor(session: SyncSession) {
    this.#session = session
  }

  /** Compares the list with what is known. @param listed from `AccountServer.folders` @throws ServerError delay, for a list without INBOX */
  async bring(listed: readonly ListedFolder[]): Promise<void> {
    const session = this.#session
    requireInbox(listed)
    this.prefix = prefixOf(listed)
    this.delimiter = listed.find(({ delimiter }) => delimiter !== null)?.delimiter ?? null
    const named = nameFolders(listed, this.prefix)
    const { folders, states } = session.deps
    const known = () => folders.list(session.account.n)
    const paths = new Set(named.map(({ path }) => path))
    const gone = known().filter(({ path }) => !paths.has(path))
    const byPath = new Map(known().map((folder) => [folder.path, folder]))
    const created = named.filter(({ path }) => !byPath.has(path))
    const compared = { left: COMPARED_MAX }
    let sent = this.#sentNames(gone)
    for (const folder of gone.length === 0 ? [] : created) {
      const former = await this.#formerOf(folder, { gone, sent, compared })
      if (former === undefined) continue
      gone.splice(gone.indexOf(former), 1)
      await this.#keepAbove(folder, named)
      await this.#rename(former, folder)
      sent = this.#sentNames(gone)
    }
    const tree = this.#readKnown(named)
    for (const folder of named) await this.#keep(folder, tree)
    // Descendants first: a folder with others in it cannot be deleted.
    for (const folder of gone.toReversed()) await this.#leave(folder)
    await session.write((tx) => states.treeRead(tx, session.account.n))
  }

  #readKnown(named: readonly PlannedFolder[]): KnownTree {
    const { folders, store } = this.#session.deps
    const rows = folders.list(this.#session.account.n)
    return {
      rows: new Map(rows.map((row) => [row.path, row])),
      followed: rows.filter(({ state }) => state === 'followed').length,
      holders: holdersIn(named),
      here: new Set(store.read.folders.keys(this.#session.mail).map(({ n }) => n)),
    }
  }

  /** The folder that a new one was before it was renamed. */
  async #formerOf(
    folder: PlannedFolder,
    { gone, sent, compared }: { gone: readonly RemoteFolder[]; sent: SentNames; compared: { left: number } },
  ): Promise<RemoteFolder | undefined> {
    const named = gone.find(({ objectId }) => objectId !== null && objectId === folder.objectId)
    const isSent = ({ objectId }: RemoteFolder) => folder.objectId === null || objectId === null
    const found = named ?? sent.get(folder.names.join('/'))?.find(isSent)
    if (found !== undefined || folder.objectId !== null || !folder.canSelect) return found
    try {
      const status = folder.status ?? (await this.#session.server.status(folder.path))
      for (const former of gone) {
        if (!mayBe(former, status)) continue
        if (compared.left-- <= 0) return undefined
        if (await this.#isSame(folder, former, status)) return former
      }
    } catch (error) {
      // One that the server does not open is a folder of its own until it does.
      if (!isRefusal(error)) throw error
    }
    return undefined
  }

  /** Folders that were renamed here, by their new names: the answer to a RENAME may be lost. */
  #sentNames(gone: readonly RemoteFolder[]): SentNames {
    if (gone.length === 0) return new Map()
    const { store } = this.#session.deps
    const paths = new Map(store.read.folders.paths(this.#session.mail).map(({ n, path }) => [n, path]))
    const renamed = gone.flatMap((former) => {
      const path = former.folder === null ? undefined : paths.get(former.folder)
      return path === undefined || path === former.localPath ? [] : [{ path, former }]
    })
    const byPath = Map.groupBy(renamed, ({ path }) => path)
    return new Map([...byPath].map(([path, all]) => [path, all.map(({ former }) => former)]))
  }

  /** Whether the newest known messages of a folder that is gone are in a new one. */
  async #isSame(folder: PlannedFolder, former: RemoteFolder, status: RemoteFolderStatus): Promise<boolean> {
    const session = this.#session
    const { messages } = session.deps
    const isLooked = former.uidNext !== null
    const spans = await messages.spans(former.n)
    const last = spans.at(-1)
    if (last === undefined) {
      // Missing in an earlier list, with messages: they are found one by one.
      if (messages.gone(former.n, 1).length > 0) return false
      const depth = (former.localPath ?? '').split('/').length
      return isLooked && status.messages === 0 && folder.names.length === depth
    }
    const from = Math.max(last[0], last[1] - SAMPLE + 1)
    const rows = messages.in(former.n, [[from, last[1]]], SAMPLE)
    await session.ensure(folder.path)
    const heads = await session.server.heads([[from, last[1]]])
    const keys = new Set(heads.map((head) => hexOf(messageKey(head, session.facts.hasExactSizes))))
    const same = rows.filter(({ key }) => keys.has(hexOf(key))).length
    return same >= rows.length * SAME_SHARE
  }

  async #rename(former: RemoteFolder, folder: PlannedFolder): Promise<void> {
    const session = this.#session
    await session.write((tx) => {
      session.deps.folders.set(tx, former.n, { path: folder.path, objectId: folder.objectId })
      const here = this.#folderHere(tx, former.folder)
      if (here === undefined || here.role !== null) return
      const [parent, name] = this.#parentOf(tx, folder)
      if (name === null) return
      const { folders: folderEdits } = session.deps.store.edit
      attempt(() =>
        folderEdits.updateIn(tx, session.mail, here.id, {
          name: freeName(this.#paths(tx), parent, name, here.id),
          parentId: parent?.id ?? null,
        }),
      )
      this.#noteEqual(tx, former.n)
    })
  }

  /** Below a folder that is new as well, a renamed one is filed when that one is here. */
  async #keepAbove({ path, names }: PlannedFolder, named: readonly PlannedFolder[]): Promise<void> {
    if (names.length === 1) return
    const known = new Set(this.#session.deps.folders.list(this.#session.account.n).map((row) => row.path))
    const isAbove = (one: PlannedFolder) => one.delimiter !== null && path.startsWith(one.path + one.delimiter)
    const above = named.filter((one) => isAbove(one) && !known.has(one.path))
    if (above.length === 0) return
    const tree = this.#readKnown(named)
    for (const folder of above) await this.#keep(folder, tree)
  }

  /** Writes a listed folder, and creates its folder here. */
  async #keep(folder: PlannedFolder, known: KnownTree): Promise<void> {
    const session = this.#session
    const { folders } = session.deps
    const row = known.rows.get(folder.path)
    const reason = whyIgnored(session, folder, known)
    const state = reason === null ? 'followed' : 'ignored'
    const isThere = row?.folder != null && known.here.has(row.folder)
    const isSame = row?.state === state && row.role === folder.role && row.objectId === folder.objectId
    // It holds folders that are shown.
    const isHolder = session.account.mode === 'mirror' && !folder.canSelect && known.holders.has(folder.path)
    if (row !== undefined && isThere) await this.#fileBelow(row, folder)
    // A folder deleted here is to be deleted there first (folder-push.ts).
    const isOpen = isThere || row?.folder != null || (reason !== null && !isHolder)
    if (row !== undefined && isSame && isOpen) return
    await session.write((tx) => {
      const n = row?.n ?? folders.add(tx, session.account.n, { path: folder.path, state })
      const change: RemoteFolderChange = { state, reason, role: folder.role, objectId: folder.objectId }
      // One that comes back is read again: what happened to its messages meanwhile is not known.
      if (row?.state === 'ignored' && reason === null) {
        change.lowest = null
        change.suspectAt = null
        // What was put into it here meanwhile is to be sent.
        if (isThere) change.compareAfter = 0
      }
      folders.set(tx, n, { ...change, total: folder.status?.messages ?? row?.total ?? 0 })
      if (session.account.mode === 'mirror' && (reason === null || isHolder) && !isThere) this.#open(tx, n, folder)
      if (session.account.mode === 'collect' && reason === null) this.#collect(tx, n)
      note(known, folders.get(n, tx)!)
    })
  }

  /** A folder whose parent had none here got the names of both: below its parent it has its own. */
  async #fileBelow(row: RemoteFolder, folder: PlannedFolder): Promise<void> {
    const session = this.#session
    if (folder.names.length === 1 || row.localPath !== joinedName(folder)) return
    await session.write((tx) => {
      const [parent, name] = this.#parentOf(tx, folder)
      const here = this.#paths(tx).find(({ n }) => n === row.folder)
      if (parent === null || name === null || here?.path !== row.localPath) return
      const change = { name: freeName(this.#paths(tx), parent, name, here.id), parentId: parent.id }
      attempt(() => session.deps.store.edit.folders.updateIn(tx, session.mail, here.id, change))
      this.#noteEqual(tx, row.n)
    })
  }

  /** Collected mail goes into one folder, whatever it is in there. */
  #collect(tx: Tx, n: number): void {
    const { store, folders } = this.#session.deps
    folders.set(tx, n, { folder: store.read.folders.byRole(this.#session.mail.n, 'inbox', tx).n })
  }

  /** Gives a remote folder its folder here: that of its role, one with its name, or a new one. */
  #open(tx: Tx, n: number, folder: PlannedFolder): void {
    const session = this.#session
    const { folders, store } = session.deps
    const taken = new Set(folders.list(session.account.n, tx).map((row) => row.folder))
    const byRole = folder.role === null ? undefined : store.read.folders.byRole(session.mail.n, folder.role, tx)
    if (byRole !== undefined && !taken.has(byRole.n)) {
      folders.set(tx, n, { folder: byRole.n, compareAfter: 0 })
      this.#noteEqual(tx, n)
      return
    }
    const [parent, name] = this.#parentOf(tx, folder)
    if (name === null) {
      folders.set(tx, n, { state: 'ignored', reason: BELOW_NONE })
      return
    }
    const paths = this.#paths(tx)
    const path = parent === null ? name : `${parent.path}/${name}`
    const same = paths.find((one) => one.path === path && one.role === null && !taken.has(one.n))
    const id = same?.id ?? this.#create(tx, freeName(paths, parent, name, null), parent?.id ?? null)
    if (id === null) {
      folders.set(tx, n, { state: 'ignored', reason: NO_ROOM })
      return
    }
    const here = this.#paths(tx).find((one) => one.id === id)!.n
    // What was here already is to be sent.
    folders.set(tx, n, { folder: here, compareAfter: same === undefined ? null : 0 })
    this.#noteEqual(tx, n)
  }

  #create(tx: Tx, name: string, parentId: string | null): string | null {
    const { store } = this.#session.deps
    return attempt(() => store.edit.folders.createIn(tx, this.#session.mail, { name, parentId })) ?? null
  }

  /** The folder here that a listed one is in, and its name there; a null name: its parent has no folder here. */
  #parentOf(tx: Tx, { names, path, delimiter }: PlannedFolder): [parent: FolderHere | null, name: string | null] {
    const name = names.at(-1)!
    if (names.length === 1 || delimiter === null) return [null, name]
    const parentPath = path.slice(0, path.lastIndexOf(delimiter))
    const parent = this.#session.deps.folders.list(this.#session.account.n, tx).find((row) => row.path === parentPath)
    if (parent === undefined) return [null, joinedName({ names })]
    const here = parent.folder === null ? undefined : this.#paths(tx).find(({ n }) => n === parent.folder)
    return [here ?? null, here === undefined ? null : name]
  }

  /** A folder is gone there: its messages are, and then the folder here. */
  async #leave(folder: RemoteFolder): Promise<void> {
    const session = this.#session
    const { messages, folders, store } = session.deps
    if (session.account.mode === 'collect') {
      // A message is collected once, ever: what was collected stays known if the folder comes back.
      if (folder.reason !== GONE)
        await session.write((tx) => folders.set(tx, folder.n, { state: 'ignored', reason: GONE }))
      return
    }
    await this.#departAll(folder)
    const isGone = await noteMissing(session, folder)
    const { present, gone } = await messages.counts(folder.n)
    if (!isGone || present + gone > 0) return
    const here = this.#folderHere(session.deps.db.read, folder.folder)
    if (here !== undefined && here.role === null) {
      const { total } = store.read.folders.paths(session.mail).some(({ n }) => n === here.n)
        ? { total: store.read.folders.total(session.mail, here.id, 'messages', false) ?? 0 }
        : { total: 0 }
      const hasChildren = store.programs.views.status(session.mail, here.n)?.hasChildren ?? false
      // What was put into it here meanwhile is stored there again, in a new folder.
      if (total === 0 && !hasChildren)
        await store.edit.folders.remove(session.mail, here.id, 'reject', () => {}).catch(ignoreConflict)
    }
    for (let left = ROWS_PER_BATCH; left === ROWS_PER_BATCH; )
      left = await session.write((tx) => messages.removeSome(tx, folder.n, ROWS_PER_BATCH))
    await session.write((tx) => folders.remove(tx, folder.n))
  }

  async #departAll({ n }: RemoteFolder): Promise<void> {
    const { messages } = this.#session.deps
    for (let left = ROWS_PER_BATCH; left === ROWS_PER_BATCH; )
      left = await this.#session.write((tx) => messages.depart(tx, n, [[1, 2 ** 32]], ROWS_PER_BATCH))
  }

  #folderHere(reader: Parameters<SyncSession['deps']['store']['read']['folders']['keys']>[1], n: number | null) {
    return this.#session.deps.store.read.folders.keys(this.#session.mail, reader).find((key) => key.n === n)
  }

  #paths(tx: Tx): FolderHere[] {
    return this.#session.deps.store.read.folders.paths(this.#session.mail, tx)
  }

  /** Both sides have the folder under the same name now. */
  #noteEqual(tx: Tx, n: number): void {
    const { folders } = this.#session.deps
    const here = this.#paths(tx).find((one) => one.n === folders.get(n, tx)?.folder)
    if (here !== undefined) folders.set(tx, n, { localPath: here.path })
  }
}

/**
 * Every account has an INBOX (RFC 9051 §5.1): a list without one is not the list of its folders.
 * @throws ServerError delay
 */
function requireInbox(listed: readonly ListedFolder[]): void {
  if (listed.some(({ path }) => path.toLowerCase() === 'inbox')) return
  const what = listed.length === 0 ? 'no folders' : 'no INBOX'
  const message = `The server lists ${what}. Nothing is changed until it does: look at the account at its provider.`
  throw new ServerError('delay', message)
}

/** Folders that cannot be selected and have some below them that are shown. Those of roles are shown at the top. */
function holdersIn(named: readonly PlannedFolder[]): ReadonlySet<string> {
  const holders = new Set<string>()
  for (const { path, delimiter, canSelect, role } of named) {
    if (!canSelect || role !== null || delimiter === null) continue
    for (let at = path.lastIndexOf(delimiter); at > 0; at = path.lastIndexOf(delimiter, at - 1))
      holders.add(path.slice(0, at))
  }
  return holders
}

/** What a folder is called whose parent is not listed. */
function joinedName({ names }: Pick<PlannedFolder, 'names'>): string {
  return names.join('.').slice(-255)
}

/** Takes a row as it is written now. */
function note(known: KnownTree, row: RemoteFolder): void {
  const count = (one: RemoteFolder | undefined) => (one?.state === 'followed' ? 1 : 0)
  known.followed += count(row) - count(known.rows.get(row.path))
  known.rows.set(row.path, row)
  if (row.folder !== null) known.here.add(row.folder)
}

type SentNames = ReadonlyMap<string, readonly RemoteFolder[]>

/** A folder that was made from here may not have been looked at yet: then its messages alone decide. */
function mayBe({ uidNext, uidValidity }: RemoteFolder, status: RemoteFolderStatus): boolean {
  return uidNext === null || (status.uidNext >= uidNext && status.uidValidity === uidValidity)
}

interface FolderHere {
  n: number
  id: string
  role: FolderRole | null
  path: string
}

/** The name, or another one when a folder beside it has it. */
function freeName(paths: readonly FolderHere[], parent: FolderHere | null, name: string, self: string | null): string {
  const base = parent === null ? '' : `${parent.path}/`
  const isFree = (candidate: string) =>
    !(parent === null && candidate.toLowerCase() === 'inbox') &&
    !paths.some(({ id, path }) => id !== self && path === base + candidate)
  if (isFree(name)) return name
  for (let at = 2; ; at++) {
    const candidate = `${name.slice(0, 240)} (${at})`
    if (isFree(candidate)) return candidate
  }
}

/** @returns undefined when the store refuses it */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof ProductError) return undefined
    throw error
  }
}

function ignoreConflict(error: unknown): void {
  if (!(error instanceof ProductError)) throw error
}
