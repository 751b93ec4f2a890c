// One mailbox in the browser: its folders, threads and lists, and how they follow the server.

import { signal } from '@preact/signals'
import { type Api, apiAs } from '../api/client.ts'
import { toApiError } from '../api/errors.ts'
import {
  readContacts,
  readFolders,
  readLabels,
  readThreadChanges,
  readThreads,
  type ThreadFilter,
  undoChange,
} from '../api/mail.ts'
import type { Folder, OwnMailbox } from '../api/types.ts'
import type { TypedAddress } from '../base/address-list.ts'
import { type ActionOutcome, type ActionTarget, runAction, type ThreadAction } from './actions.ts'
import { Conversations } from './conversations.ts'
import { type Patch, ThreadRecords } from './records.ts'
import { Snippets } from './snippets.ts'
import { ThreadList } from './thread-list.ts'
import { MessageViews } from './views.ts'

/** Lists that are kept: the way back to one is instant. */
const MOST_LISTS = 12
const BATCH = 100

export class MailboxData implements ActionTarget {
  readonly mailbox: OwnMailbox
  readonly api: Api
  readonly folders = signal<readonly Folder[] | null>(null)
  /** Keywords that people gave to messages. */
  readonly labels = signal<readonly string[]>([])
  /** People to whom the mailbox has written; read with the first message that is written. */
  readonly contacts = signal<readonly TypedAddress[]>([])
  readonly threads = new ThreadRecords()
  readonly conversations: Conversations
  readonly views: MessageViews
  readonly snippets: Snippets
  readonly #lists = new Map<string, ThreadList>()
  /** State of the threads that is known; null before the first list. */
  #state: string | null = null
  #following: Promise<void> | null = null
  #isBehind = false

  constructor(mailbox: OwnMailbox) {
    this.mailbox = mailbox
    this.api = apiAs(mailbox.id)
    this.conversations = new Conversations(this.api)
    this.views = new MessageViews(this.api)
    this.snippets = new Snippets(this.api)
  }

  get mayChange(): boolean {
    return this.mailbox.capabilities.includes('mailbox.write')
  }

  get maySend(): boolean {
    return this.mailbox.capabilities.includes('email.send')
  }

  /** @throws ApiError */
  async readFolders(): Promise<void> {
    this.folders.value = await readFolders(this.api)
  }

  /** @throws ApiError */
  async readLabels(): Promise<void> {
    this.labels.value = await readLabels(this.api)
  }

  /** A label that a change under way gives. */
  addLabel(keyword: string): void {
    if (!this.labels.peek().includes(keyword)) this.labels.value = [...this.labels.peek(), keyword].sort()
  }

  /** @throws ApiError */
  async readContacts(): Promise<void> {
    this.contacts.value = (await readContacts(this.api)).map(({ email, name }) => ({ email, name }))
  }

  list(filter: ThreadFilter): ThreadList {
    const key = JSON.stringify(filter)
    const list =
      this.#lists.get(key) ??
      new ThreadList(this.api, this.threads, filter, (state) => {
        this.#state ??= state
      })
    this.#lists.delete(key)
    this.#lists.set(key, list)
    for (const name of this.#lists.keys()) {
      if (this.#lists.size <= MOST_LISTS) break
      this.#lists.delete(name)
    }
    return list
  }

  openLists(): Iterable<ThreadList> {
    return this.#lists.values()
  }

  addPatch(patch: Patch): void {
    this.threads.addPatch(patch)
  }

  removePatch(patch: Patch): void {
    this.threads.removePatch(patch)
  }

  /** Does something to threads. @throws ApiError when it was refused; what was drawn is undone */
  act(action: ThreadAction): Promise<ActionOutcome> {
    return runAction(this, action)
  }

  /** Undoes changes at the server, the last one first. @returns messages that changed since and stay as they are @throws ApiError */
  async undo(undoIds: readonly string[]): Promise<number> {
    let unrestored = 0
    for (const id of [...undoIds].reverse()) unrestored += (await undoChange(this.api, id)).not_restored.length
    await this.follow()
    return unrestored
  }

  /** The server said that types have a new state. */
  changed(types: readonly string[]): void {
    if (types.includes('folders')) void this.readFolders().catch(() => null)
    if (types.includes('threads') || types.includes('messages')) void this.follow().catch(() => null)
  }

  /** Reads what changed; one reading at a time, and once more for what changes during it. */
  follow(): Promise<void> {
    if (this.#following !== null) {
      this.#isBehind = true
      return this.#following
    }
    this.#following = this.#follow().finally(() => {
      this.#following = null
    })
    return this.#following
  }

  async #follow(): Promise<void> {
    do {
      this.#isBehind = false
      await this.#followThreads()
      await Promise.all([...this.#lists.values()].map((list) => list.follow()))
    } while (this.#isBehind)
  }

  async #followThreads(): Promise<void> {
    const since = this.#state
    if (since === null) return
    const changes = await this.#changesSince(since)
    if (changes === null) return
    const changed = [...changes.created, ...changes.updated]
    if (changed.length > 0) void this.readLabels().catch(() => null)
    this.conversations.refresh(changed)
    const held = changed.filter((id) => this.threads.has(id))
    for (let at = 0; at < held.length; at += BATCH) {
      const { list } = await readThreads(this.api, held.slice(at, at + BATCH))
      this.threads.put(list)
    }
    this.#state = changes.new_state
    if (changes.has_more_changes) this.#isBehind = true
  }

  /** Null when the state was too old: then every list was read again. */
  async #changesSince(state: string) {
    try {
      return await readThreadChanges(this.api, state)
    } catch (error) {
      if (toApiError(error).status !== 409) throw error
      this.#state = null
      await Promise.all([...this.#lists.values()].map((list) => list.reload()))
      return null
    }
  }
}
