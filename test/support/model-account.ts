// A mail account in memory as the other side of a synchronisation: what its server can do, and when its connection breaks, is up to the test.

import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { Clock } from '../../src/base/clock.ts'
import type { FolderRole } from '../../src/store/rows/records.ts'
import {
  type AccountServer,
  type Idle,
  type LastSelected,
  type ListedFolder,
  type OpenedFolder,
  PIECE_BYTES,
  type RemoteFlagChange,
  type RemoteFlags,
  type RemoteFolderStatus,
  type RemoteHead,
  ServerError,
  type ServerFacts,
  type UidSpan,
} from '../../src/sync/model/server.ts'
import { spansOf, uidsOf, within } from '../../src/sync/model/uid-spans.ts'

export interface ModelAbilities {
  condstore?: boolean
  qresync?: boolean
  idle?: boolean
  uidPlus?: boolean
  move?: boolean
  objectIds?: boolean
  /** Whether the sizes that it names are those of its messages; as Exchange, it estimates them otherwise. */
  exactSizes?: boolean
  /** As Gmail: all messages are in All Mail, Trash or Spam. */
  labels?: boolean
  /** Keywords that are kept; null: all. */
  keywords?: readonly string[] | null
}

export interface ModelMessage {
  uid: number
  bytes: Buffer
  receivedAt: number
  flags: Set<string>
  labels: Set<string>
  objectId: string
  modSeq: number
}

export interface ModelFolder {
  path: string
  id: string
  role: FolderRole | null
  uidValidity: number
  uidNext: number
  messages: Map<number, ModelMessage>
  vanished: { uid: number; modSeq: number }[]
}

/** The account; connections to it are {@link ModelConnection}s. */
export class ModelAccount {
  readonly abilities: Required<ModelAbilities>
  readonly folders = new Map<string, ModelFolder>()
  readonly changes = new EventEmitter()
  /** Paths of folders that hold folders only. */
  readonly holders = new Set<string>()
  /** Called before and after each command; throws to break the connection. */
  fault: (command: string, moment: 'before' | 'after', path?: string) => void = () => {}
  /** Runs before contents are given: a server that is read too fast. */
  pace: (() => Promise<void>) | null = null
  /** UIDs whose heads the server does not give. */
  readonly headless = new Set<number>()
  /** Paths of folders in which nothing can be changed. */
  readonly readOnly = new Set<string>()
  /** UIDs at whose contents the connection breaks. */
  readonly breaking = new Set<number>()
  /** UIDs that make the server refuse each FETCH of their contents, or of anything of them. */
  readonly refusedContents = new Set<number>()
  readonly refused = new Set<number>()
  /** UIDs at whose heads the connection breaks, or the server fails. */
  readonly breakingHeads = new Set<number>()
  /** Paths that are there and not listed. */
  readonly hidden = new Set<string>()
  /** UIDs that a search leaves out. */
  readonly unsearched = new Set<number>()
  /** What a copy, or a stored message, becomes: a server may give it another date, or other bytes. */
  filed: (message: { bytes: Buffer; receivedAt: number }) => { bytes: Buffer; receivedAt: number } = (message) =>
    message
  /** Sizes that the server names, by UID; the others have their own. */
  readonly sizes = new Map<number, number>()
  /** Contents that were fetched. */
  fetched = 0
  #modSeq = 1
  #ids = 0

  constructor(abilities: ModelAbilities = {}) {
    this.abilities = {
      ...{
        condstore: true,
        qresync: true,
        idle: true,
        uidPlus: true,
        move: true,
        objectIds: false,
        exactSizes: true,
        labels: false,
        keywords: null,
      },
      ...abilities,
    }
    this.changes.setMaxListeners(0)
    this.create('INBOX', 'inbox')
    if (!this.abilities.labels) return
    this.create('[Gmail]/All Mail', 'archive')
    this.create('[Gmail]/Trash', 'trash')
    this.create('[Gmail]/Spam', 'junk')
    this.create('[Gmail]/Sent Mail', 'sent')
    this.create('[Gmail]/Drafts', 'drafts')
  }

  create(path: string, role: FolderRole | null = null): ModelFolder {
    const folder = {
      ...{ path, id: `f${++this.#ids}`, role, uidValidity: 1000 + this.#ids, uidNext: 1 },
      ...{ messages: new Map<number, ModelMessage>(), vanished: [] },
    }
    this.folders.set(path, folder)
    return folder
  }

  folder(path: string): ModelFolder {
    const folder = this.folders.get(path)
    if (folder === undefined) throw new ServerError('refused', `There is no folder ${path}.`)
    return folder
  }

  /** @returns the highest modification number */
  touch(folder?: ModelFolder): number {
    this.#modSeq++
    if (folder !== undefined) this.changes.emit('change', folder.path)
    return this.#modSeq
  }

  get modSeq(): number {
    return this.#modSeq
  }

  add(
    path: string,
    bytes: Buffer,
    {
      receivedAt = 0,
      flags = [] as readonly string[],
      labels = [] as readonly string[],
      objectId = `e${++this.#ids}`,
    } = {},
  ): ModelMessage {
    const folder = this.folder(path)
    const message = {
      ...{ uid: folder.uidNext++, bytes, receivedAt: Math.floor(receivedAt / 1000) * 1000, flags: new Set(flags) },
      ...{ labels: new Set(labels), objectId, modSeq: this.touch(folder) },
    }
    folder.messages.set(message.uid, message)
    return message
  }

  setFlags(path: string, uid: number, { add, remove }: RemoteFlagChange): void {
    const folder = this.folder(path)
    const message = folder.messages.get(uid)
    if (message === undefined) return
    for (const flag of remove) for (const own of message.flags) if (same(own, flag)) message.flags.delete(own)
    for (const flag of add)
      if (![...message.flags].some((own) => same(own, flag)) && this.#keeps(flag)) message.flags.add(flag)
    message.modSeq = this.touch(folder)
  }

  #keeps(flag: string): boolean {
    const { keywords } = this.abilities
    return flag.startsWith('\\') || keywords === null || keywords.some((keyword) => same(keyword, flag))
  }

  setLabels(path: string, uid: number, { add, remove }: RemoteFlagChange): void {
    const folder = this.folder(path)
    const message = folder.messages.get(uid)
    if (message === undefined) return
    for (const label of remove) message.labels.delete(label)
    for (const label of add) message.labels.add(label)
    message.modSeq = this.touch(folder)
  }

  remove(path: string, uid: number): void {
    const folder = this.folder(path)
    if (!folder.messages.delete(uid)) return
    folder.vanished.push({ uid, modSeq: this.touch(folder) })
  }

  /** @returns the new UID; undefined when the message is gone */
  move(path: string, uid: number, to: string): number | undefined {
    const copied = this.copy(path, uid, to)
    if (copied !== undefined) this.remove(path, uid)
    return copied
  }

  copy(path: string, uid: number, to: string): number | undefined {
    const message = this.folder(path).messages.get(uid)
    if (message === undefined) return undefined
    const { flags, objectId } = message
    const { bytes, receivedAt } = this.filed(message)
    return this.add(to, bytes, { receivedAt, flags: [...flags], objectId }).uid
  }

  /** Gives a folder other UIDs. */
  renumber(path: string): void {
    const folder = this.folder(path)
    const messages = [...folder.messages.values()]
    folder.uidValidity += 1000
    folder.messages.clear()
    folder.vanished = []
    folder.uidNext = 1
    for (const message of messages) folder.messages.set(folder.uidNext, { ...message, uid: folder.uidNext++ })
    this.touch(folder)
  }

  /** Brings a folder back to an earlier state, as from a backup. @param withModSeq whether modification numbers go back as well */
  restore(path: string, backup: ModelFolder, withModSeq: boolean): void {
    const folder = this.folder(path)
    const { messages, uidNext } = structuredClone(backup)
    for (const message of messages.values()) message.bytes = Buffer.from(message.bytes)
    Object.assign(folder, { messages, uidNext, vanished: [] })
    if (withModSeq) this.#modSeq = Math.max(0, ...[...messages.values()].map(({ modSeq }) => modSeq))
  }

  /** Another message has the UID of one now, and no number tells. */
  replace(path: string, uid: number, bytes: Buffer): void {
    const { messages } = this.folder(path)
    messages.set(uid, {
      ...messages.get(uid)!,
      bytes,
      receivedAt: 86_400_000,
      flags: new Set(),
      objectId: `e${++this.#ids}`,
    })
  }

  rename(path: string, to: string): void {
    for (const folder of [...this.folders.values()]) {
      if (folder.path !== path && !folder.path.startsWith(`${path}/`)) continue
      this.folders.delete(folder.path)
      folder.path = to + folder.path.slice(path.length)
      this.folders.set(folder.path, folder)
    }
  }
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

export class ModelConnection implements AccountServer {
  readonly facts: ServerFacts
  readonly #account: ModelAccount
  readonly #clock: Clock
  #selected: ModelFolder | null = null
  #selectedValidity = 0
  #isClosed = false

  readonly #onClose: () => void

  constructor(account: ModelAccount, clock: Clock, onClose = () => {}) {
    this.#account = account
    this.#clock = clock
    this.#onClose = onClose
    const { condstore, qresync, idle, uidPlus, move, labels } = account.abilities
    this.facts = {
      ...{ kind: labels ? 'gmail' : 'other', name: 'model', capabilities: [], hasIdle: idle },
      ...{ hasCondstore: condstore, hasQresync: qresync, hasMove: move, hasUidPlus: uidPlus, hasLabels: labels },
      hasExactSizes: account.abilities.exactSizes,
    }
  }

  async #run<T>(command: string, work: () => T, path?: string): Promise<T> {
    await new Promise(setImmediate)
    if (this.#isClosed) throw new ServerError('delay', 'The connection is closed.')
    this.#account.fault(command, 'before', path)
    const result = work()
    this.#account.fault(command, 'after', path)
    return result
  }

  get #folder(): ModelFolder {
    if (this.#selected === null || this.#account.folders.get(this.#selected.path) !== this.#selected)
      throw new ServerError('delay', 'The selected folder is gone.')
    // UIDs do not change their meaning in a session.
    if (this.#selected.uidValidity !== this.#selectedValidity)
      throw new ServerError('delay', 'The selected folder was numbered again.')
    return this.#selected
  }

  #statusOf({ uidValidity, uidNext, messages }: ModelFolder): RemoteFolderStatus {
    const modSeq = this.facts.hasCondstore ? this.#account.modSeq : null
    return { uidValidity, uidNext, modSeq, messages: messages.size }
  }

  folders(): Promise<ListedFolder[]> {
    return this.#run('LIST', () =>
      this.#listed().map(({ path, id, role }) => ({
        ...{ path, delimiter: '/', objectId: this.#account.abilities.objectIds ? id : null, role },
        ...{ canSelect: !this.#account.holders.has(path), isView: false, isSubscribed: true, status: null },
      })),
    )
  }

  #listed(): ModelFolder[] {
    return [...this.#account.folders.values()].filter(({ path }) => !this.#account.hidden.has(path))
  }

  status(path: string): Promise<RemoteFolderStatus> {
    return this.#run('STATUS', () => this.#statusOf(this.#account.folder(path)))
  }

  select(path: string, known: LastSelected | null): Promise<OpenedFolder> {
    const work = () => {
      const folder = this.#account.folder(path)
      if (this.#account.holders.has(path)) throw new ServerError('refused', 'It cannot be selected.')
      this.#selected = folder
      this.#selectedValidity = folder.uidValidity
      const since = known?.uidValidity === folder.uidValidity && this.facts.hasQresync ? known.modSeq : null
      const difference =
        since === null
          ? null
          : {
              vanished: spansOf(folder.vanished.filter(({ modSeq }) => modSeq > since).map(({ uid }) => uid)),
              changed: this.#changed(folder, since),
            }
      const { keywords } = this.#account.abilities
      return { ...this.#statusOf(folder), keywords, isWritable: !this.#account.readOnly.has(path), difference }
    }
    return this.#run('SELECT', work, path)
  }

  #changed(folder: ModelFolder, since: number): RemoteFlags[] {
    return [...folder.messages.values()].filter(({ modSeq }) => modSeq > since).map((message) => this.#flagsOf(message))
  }

  #flagsOf({ uid, flags, labels, modSeq }: ModelMessage): RemoteFlags {
    const { labels: hasLabels, condstore } = this.#account.abilities
    return { uid, flags: [...flags], labels: hasLabels ? [...labels] : null, modSeq: condstore ? modSeq : null }
  }

  uids(of?: readonly UidSpan[]): Promise<UidSpan[]> {
    return this.#run('SEARCH', () => {
      const all = spansOf([...this.#folder.messages.keys()].filter((uid) => !this.#account.unsearched.has(uid)))
      return of === undefined ? all : of.flatMap(([first, last]) => within(all, first, last))
    })
  }

  fetchedUids(): Promise<UidSpan[]> {
    return this.#run('FETCH', () => spansOf(this.#in([[1, 2 ** 32]]).map(({ uid }) => uid)))
  }

  changedSince(modSeq: number): Promise<RemoteFlags[]> {
    return this.#run('FETCH', () => {
      const changed = this.#changed(this.#folder, modSeq)
      this.#refuse(
        changed.map(({ uid }) => uid),
        this.#account.refused,
      )
      return changed
    })
  }

  /** Messages of a FETCH. */
  #in(runs: readonly UidSpan[]): ModelMessage[] {
    const { messages } = this.#folder
    const all = spansOf([...messages.keys()])
    const uids = runs.flatMap(([first, last]) => uidsOf(within(all, first, last)))
    this.#refuse(uids, this.#account.refused)
    return uids.map((uid) => messages.get(uid)!)
  }

  /** Messages of a FETCH of heads. */
  #whole(runs: readonly UidSpan[]): ModelMessage[] {
    const messages = this.#in(runs)
    if (messages.some(({ uid }) => this.#account.breakingHeads.has(uid)))
      throw new ServerError('delay', 'Broken in a head.')
    return messages
  }

  #refuse(uids: readonly number[], refused: ReadonlySet<number>): void {
    if (uids.some((uid) => refused.has(uid))) throw new ServerError('refused', 'Some messages could not be FETCHed.')
  }

  flags(runs: readonly UidSpan[]): Promise<RemoteFlags[]> {
    return this.#run('FETCH', () => this.#in(runs).map((message) => this.#flagsOf(message)))
  }

  heads(runs: readonly UidSpan[]): Promise<RemoteHead[]> {
    return this.#run('FETCH', () =>
      this.#whole(runs)
        .filter(({ uid }) => !this.#account.headless.has(uid))
        .map((message) => ({
          ...this.#flagsOf(message),
          ...{
            sizeBytes: this.#sizeOf(message),
            receivedAt: message.receivedAt,
          },
          messageId: /^Message-ID: *(.*)$/im.exec(message.bytes.toString('latin1'))?.[1]?.trim() ?? null,
          objectId: this.#account.abilities.objectIds || this.#account.abilities.labels ? message.objectId : null,
        })),
    )
  }

  /** An estimate differs from folder to folder. */
  #sizeOf({ uid, bytes }: ModelMessage): number {
    const { sizes, abilities } = this.#account
    return sizes.get(uid) ?? bytes.length + (abilities.exactSizes ? 0 : 10 * uid + this.#folder.path.length)
  }

  async ready(idle: Idle): Promise<void> {
    const { pace } = this.#account
    if (pace !== null) await idle(pace)
  }

  contents(uids: readonly number[]): Promise<Map<number, Uint8Array>> {
    return this.#run('FETCH BODY', () => {
      if (uids.some((uid) => this.#account.breaking.has(uid))) throw new ServerError('delay', 'Broken in a content.')
      this.#refuse(uids, this.#account.refused.union(this.#account.refusedContents))
      const found = uids.flatMap((uid) => this.#folder.messages.get(uid) ?? [])
      this.#account.fetched += found.length
      return new Map(found.map(({ uid, bytes }) => [uid, bytes]))
    })
  }

  pieces(uids: readonly number[]): Promise<Map<number, Uint8Array>> {
    return this.#run('FETCH PIECE', () => {
      this.#refuse(uids, this.#account.refused.union(this.#account.refusedContents))
      const found = uids.flatMap((uid) => this.#folder.messages.get(uid) ?? [])
      return new Map(found.map(({ uid, bytes }) => [uid, bytes.subarray(0, PIECE_BYTES)]))
    })
  }

  async content(uid: number): Promise<AsyncIterable<Uint8Array> | null> {
    const bytes = (await this.contents([uid])).get(uid)
    if (bytes === undefined) return null
    return (async function* () {
      yield bytes
    })()
  }

  store(runs: readonly UidSpan[], change: RemoteFlagChange): Promise<number[]> {
    return this.#run('STORE', () => {
      for (const { uid } of this.#in(runs)) this.#account.setFlags(this.#folder.path, uid, change)
      return []
    })
  }

  label(runs: readonly UidSpan[], change: RemoteFlagChange): Promise<void> {
    return this.#run('STORE LABELS', () => {
      for (const { uid } of this.#in(runs)) this.#account.setLabels(this.#folder.path, uid, change)
    })
  }

  async move(uids: readonly number[], path: string, uidValidity?: number | null): Promise<Map<number, number> | null> {
    if (!this.facts.hasMove) {
      const copied = await this.copy(uids, path, uidValidity)
      await this.expunge(uids)
      return copied
    }
    return this.#run('MOVE', () =>
      this.#transfer(uids, (uid) => this.#account.move(this.#folder.path, uid, path), path, uidValidity),
    )
  }

  copy(uids: readonly number[], path: string, uidValidity?: number | null): Promise<Map<number, number> | null> {
    return this.#run('COPY', () =>
      this.#transfer(uids, (uid) => this.#account.copy(this.#folder.path, uid, path), path, uidValidity),
    )
  }

  #transfer(
    uids: readonly number[],
    one: (uid: number) => number | undefined,
    path: string,
    uidValidity: number | null = null,
  ): Map<number, number> | null {
    const isOther = ![null, this.#account.folder(path).uidValidity].includes(uidValidity)
    const pairs = uids.flatMap((uid): [number, number][] => {
      const created = one(uid)
      return created === undefined ? [] : [[uid, created]]
    })
    return this.facts.hasUidPlus && !isOther ? new Map(pairs) : null
  }

  append(path: string, bytes: Uint8Array, flags: readonly string[], receivedAt: number): Promise<number | null> {
    return this.#run('APPEND', () => {
      const kept = flags.filter((flag) => flag.startsWith('\\') || this.#account.abilities.keywords === null)
      const stored = this.#account.filed({ bytes: Buffer.from(bytes), receivedAt })
      const { uid } = this.#account.add(path, stored.bytes, { receivedAt: stored.receivedAt, flags: kept })
      return this.facts.hasUidPlus ? uid : null
    })
  }

  expunge(uids: readonly number[]): Promise<number[]> {
    return this.#run('EXPUNGE', () => {
      const { path, messages } = this.#folder
      const isOthers = ({ uid, flags }: ModelMessage) => flags.has('\\Deleted') && !uids.includes(uid)
      if (!this.facts.hasUidPlus && [...messages.values()].some(isOthers)) {
        for (const uid of uids) this.#account.setFlags(path, uid, { add: ['\\Deleted'], remove: [] })
        return uids.filter((uid) => messages.has(uid))
      }
      for (const uid of uids) this.#account.remove(path, uid)
      return []
    })
  }

  find(messageId: string): Promise<number[]> {
    return this.#run('SEARCH', () =>
      [...this.#folder.messages.values()]
        .filter(({ bytes }) => bytes.toString('latin1').includes(messageId))
        .map(({ uid }) => uid),
    )
  }

  createFolder(path: string): Promise<void> {
    return this.#run(
      'CREATE',
      () => {
        if (this.#account.holders.delete(path)) return
        if (this.#account.folders.has(path)) throw new ServerError('refused', 'It exists.')
        this.#account.create(path)
      },
      path,
    )
  }

  isListed(path: string): Promise<boolean> {
    return this.#run('LIST', () =>
      this.#listed().some((folder) => folder.path === path && !this.#account.holders.has(path)),
    )
  }

  renameFolder(path: string, to: string): Promise<void> {
    return this.#run('RENAME', () => {
      this.#account.folder(path)
      if (this.#account.folders.has(to)) throw new ServerError('refused', 'It exists.')
      this.#account.rename(path, to)
    })
  }

  deleteFolder(path: string): Promise<void> {
    return this.#run('DELETE', () => {
      this.#account.folder(path)
      this.#account.folders.delete(path)
    })
  }

  async wait(ms: number, signal: AbortSignal): Promise<'changed' | 'unchanged'> {
    const { path } = this.#folder
    return new Promise((resolve) => {
      const end = (answer: 'changed' | 'unchanged') => {
        timer.cancel()
        this.#account.changes.off('change', changed)
        signal.removeEventListener('abort', aborted)
        resolve(answer)
      }
      const changed = (where: string) => where === path && end('changed')
      const aborted = () => end('unchanged')
      if (signal.aborted) return resolve('unchanged')
      const timer = this.#clock.after(ms, aborted)
      this.#account.changes.on('change', changed)
      signal.addEventListener('abort', aborted)
    })
  }

  async close(): Promise<void> {
    if (!this.#isClosed) this.#onClose()
    this.#isClosed = true
  }
}

/** A short text that two equal messages share. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12)
}
