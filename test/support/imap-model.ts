// A model of a mailbox as mail programs see it (messages in several folders, flags shared), and what one session knows of a folder.

import assert from 'node:assert/strict'
import type { ImapClient, ImapReply } from './imap.ts'

interface ModelMessage {
  flags: Set<string>
  /** By name of the folder. */
  entries: Map<string, { uid: number; isDeleted: boolean }>
}

/** A message in a folder, as FETCH shows it. */
export interface ModelEntry {
  uid: number
  flags: string[]
}

export class MailboxModel {
  readonly #messages = new Set<ModelMessage>()
  readonly #uidNext = new Map<string, number>()

  #file(message: ModelMessage, folder: string, isDeleted = false): number {
    const uid = this.#uidNext.get(folder) ?? 1
    this.#uidNext.set(folder, uid + 1)
    message.entries.set(folder, { uid, isDeleted })
    return uid
  }

  #find(folder: string, uid: number): ModelMessage | undefined {
    return [...this.#messages].find(({ entries }) => entries.get(folder)?.uid === uid)
  }

  append(folder: string, flags: readonly string[]): number {
    const message: ModelMessage = { flags: new Set(flags), entries: new Map() }
    this.#messages.add(message)
    return this.#file(message, folder)
  }

  /** Messages of a folder by ascending UID. */
  entries(folder: string): ModelEntry[] {
    const found = [...this.#messages].flatMap(({ flags, entries }) => {
      const entry = entries.get(folder)
      return entry === undefined
        ? []
        : [{ uid: entry.uid, flags: [...flags, ...(entry.isDeleted ? ['\\Deleted'] : [])].sort() }]
    })
    return found.sort((a, b) => a.uid - b.uid)
  }

  store(folder: string, uid: number, mode: '+' | '-' | '', flags: readonly string[]): void {
    const message = this.#find(folder, uid)
    if (message === undefined) return
    const entry = message.entries.get(folder)!
    const shared = flags.filter((flag) => flag !== '\\Deleted')
    if (mode === '') {
      message.flags = new Set(shared)
      entry.isDeleted = flags.includes('\\Deleted')
      return
    }
    for (const flag of shared) {
      if (mode === '+') message.flags.add(flag)
      else message.flags.delete(flag)
    }
    if (flags.includes('\\Deleted')) entry.isDeleted = mode === '+'
  }

  copy(from: string, uid: number, to: string): void {
    const message = this.#find(from, uid)
    if (message === undefined) return
    if (message.entries.has(to)) this.append(to, [...message.flags])
    else this.#file(message, to)
  }

  move(from: string, uid: number, to: string): void {
    const message = this.#find(from, uid)
    if (message === undefined) return
    const { isDeleted } = message.entries.get(from)!
    if (from !== to) message.entries.delete(from)
    this.#file(message, to, isDeleted)
  }

  expunge(folder: string): void {
    for (const message of this.#messages) {
      if (message.entries.get(folder)?.isDeleted) message.entries.delete(folder)
      if (message.entries.size === 0) this.#messages.delete(message)
    }
  }
}

/** A session that believes what the server says. */
export class ObservingSession {
  readonly folder: string
  readonly #client: ImapClient
  /** By sequence number; null where the UID is not known yet. */
  #uids: (number | null)[] = []
  readonly #flags = new Map<number, string[]>()

  constructor(client: ImapClient, folder: string) {
    this.#client = client
    this.folder = folder
  }

  get known(): number[] {
    return this.#uids.filter((uid) => uid !== null)
  }

  async select(): Promise<void> {
    this.#uids = []
    await this.run(`SELECT ${this.folder}`)
    await this.#learn()
  }

  async run(text: string, ...literals: string[]): Promise<ImapReply> {
    const reply = await this.#client.run(text, ...literals)
    for (const one of reply.untagged) this.#heard(one)
    return reply
  }

  /** Asks for what is not known, and compares everything. */
  async check(model: MailboxModel, step: string): Promise<void> {
    await this.run('NOOP')
    await this.#learn()
    const known = this.#uids.map((uid) => ({ uid, flags: this.#flags.get(uid!) }))
    const entries = model.entries(this.folder)
    assert.deepEqual(known, entries, `${this.folder} after ${step}`)
    const { untagged } = await this.run('UID SEARCH RETURN (COUNT) FLAGGED')
    const count = entries.filter(({ flags }) => flags.includes('\\Flagged')).length
    assert.match(untagged.join(), new RegExp(`COUNT ${count}$`), `search after ${step}`)
  }

  async #learn(): Promise<void> {
    if (!this.#uids.includes(null)) return
    await this.run('UID FETCH 1:* (FLAGS)')
  }

  #heard(response: string): void {
    const [, number, kind, rest = ''] = /^\* (\d+) (EXISTS|EXPUNGE|FETCH)(.*)$/.exec(response) ?? []
    const n = Number(number)
    if (kind === 'EXISTS') while (this.#uids.length < n) this.#uids.push(null)
    else if (kind === 'EXPUNGE') {
      assert.ok(n <= this.#uids.length, response)
      this.#uids.splice(n - 1, 1)
    } else if (kind === 'FETCH') this.#fetched(n, rest)
    const vanished = /^\* VANISHED ([\d:,]+)$/.exec(response)?.[1]
    for (const range of vanished?.split(',') ?? []) {
      const [first, last = first] = range.split(':').map(Number)
      for (let uid = first!; uid <= last!; uid++) {
        const at = this.#uids.indexOf(uid)
        // A message whose UID was never asked for is one of those that are not known.
        this.#uids.splice(at >= 0 ? at : this.#uids.indexOf(null), 1)
      }
    }
  }

  #fetched(sequence: number, text: string): void {
    assert.ok(sequence <= this.#uids.length, text)
    const uid = /UID (\d+)/.exec(text)?.[1]
    if (uid !== undefined) {
      const before = this.#uids[sequence - 1]
      assert.ok(before === null || before === Number(uid), `message ${sequence} was ${before} and is ${uid}`)
      this.#uids[sequence - 1] = Number(uid)
    }
    const flags = /FLAGS \(([^)]*)\)/.exec(text)?.[1]
    const known = this.#uids[sequence - 1]
    if (flags !== undefined && known != null)
      this.#flags.set(
        known,
        flags
          .split(' ')
          .filter((flag) => flag !== '' && flag !== '\\Recent')
          .sort(),
      )
  }

  /** What the session itself changed without an answer. */
  assume(uid: number, flags: string[]): void {
    this.#flags.set(uid, flags)
  }
}
