// Watches the folder entries of one mailbox from outside, as a mail program with perfect memory would.

import assert from 'node:assert/strict'
import { expungedSince } from '../../src/store/rows/folders-expunged.ts'
import type { Account } from '../../src/store/rows/records.ts'
import type { TestStore } from './mailbox.ts'

interface EntryRow {
  folder: number
  uid: number
  message: number
  mod_seq: number
  flags: number
}

interface FolderState {
  uid_validity: number
  uid_next: number
  mod_seq: number
  /** By UID. */
  entries: Map<number, EntryRow>
}

export class EntryWatcher {
  readonly #appliance: TestStore
  readonly #account: () => Account
  #folders = new Map<number, FolderState>()
  #seq = 0
  readonly #validities = new Set<number>()
  /** What the watcher knew at some modification numbers, to ask for what changed since. */
  readonly #earlier: { seq: number; folders: Map<number, FolderState> }[] = []

  constructor(appliance: TestStore, account: () => Account) {
    this.#appliance = appliance
    this.#account = account
  }

  /** Compares all entries with their messages, and with what was seen before. */
  look(): void {
    const { n } = this.#account()
    const { read } = this.#appliance.db
    this.#compareWithMessages(n)
    const seq = read.get<{ seq: number }>('SELECT seq FROM accounts WHERE n = ?', [n])!.seq
    const folders = new Map<number, FolderState>()
    const rows = read.all<{ n: number; uid_validity: number; uid_next: number; mod_seq: number }>(
      'SELECT n, uid_validity, uid_next, mod_seq FROM folders WHERE account = ? ORDER BY n',
      [n],
    )
    for (const { n: folder, ...state } of rows) {
      const entries = read.all<EntryRow>(
        'SELECT folder, uid, message, mod_seq, flags FROM message_folders WHERE folder = ? ORDER BY uid',
        [folder],
      )
      folders.set(folder, { ...state, entries: new Map(entries.map((entry) => [entry.uid, entry])) })
    }
    for (const [folder, state] of folders) this.#compareFolder(folder, state, seq)
    for (const { seq: since, folders: known } of this.#earlier) this.#compareExpunged(since, known, folders)
    this.#earlier.push({ seq, folders })
    if (this.#earlier.length > 12) this.#earlier.splice(3, 1)
    this.#folders = folders
    this.#seq = seq
  }

  #compareWithMessages(account: number): void {
    const { read } = this.#appliance.db
    const entries = `FROM folders f JOIN message_folders e ON e.folder = f.n JOIN messages m ON m.n = e.message
      WHERE f.account = ? ORDER BY e.folder, e.uid`
    assert.deepEqual(
      read.all(`SELECT e.folder, e.uid, e.flags & ~16 AS flags, e.size_bytes, e.received_at ${entries}`, [account]),
      read.all(
        `SELECT e.folder, e.uid, m.seen + 2 * m.flagged + 4 * m.draft + 8 * m.answered
           + 32 * EXISTS (SELECT 1 FROM message_keywords k WHERE k.message = m.n) AS flags, m.size_bytes, m.received_at ${entries}`,
        [account],
      ),
    )
    const unfiled = 'SELECT n FROM messages WHERE account = ? AND n NOT IN (SELECT message FROM message_folders)'
    assert.deepEqual(read.all(unfiled, [account]), [])
  }

  #compareFolder(folder: number, state: FolderState, seq: number): void {
    const before = this.#folders.get(folder)
    const name = `folder ${folder}`
    assert.ok(state.mod_seq >= 1 && state.mod_seq <= seq, `${name}: ${state.mod_seq} is above ${seq}`)
    if (before === undefined) {
      for (const known of this.#validities) assert.ok(state.uid_validity > known, `${name}: UIDVALIDITY does not grow`)
      this.#validities.add(state.uid_validity)
    } else {
      assert.equal(state.uid_validity, before.uid_validity)
      assert.ok(state.uid_next >= before.uid_next && state.mod_seq >= before.mod_seq)
    }
    for (const [uid, entry] of state.entries) {
      assert.ok(uid < state.uid_next, `${name}: UID ${uid} is not below UIDNEXT`)
      assert.ok(entry.mod_seq >= 1 && entry.mod_seq <= state.mod_seq, `${name}: ${uid} is newer than its folder`)
      const known = before?.entries.get(uid)
      if (known === undefined) assert.ok(uid >= (before?.uid_next ?? 1), `${name}: UID ${uid} was given twice`)
      else assert.equal(entry.message, known.message, `${name}: UID ${uid} is another message`)
      const isNew = known === undefined || known.flags !== entry.flags
      if (isNew) assert.ok(entry.mod_seq > this.#seq, `${name}: ${uid} changed below its modification number`)
      else if (known.mod_seq !== entry.mod_seq) assert.ok(entry.mod_seq > known.mod_seq)
    }
    const left = before === undefined ? [] : [...before.entries.keys()].filter((uid) => !state.entries.has(uid))
    if (left.length > 0) assert.ok(state.mod_seq > this.#seq, `${name}: UIDs left below its modification number`)
  }

  /** What left a folder since then is in the ranges, and nothing that is there. */
  #compareExpunged(since: number, known: Map<number, FolderState>, folders: Map<number, FolderState>): void {
    for (const [folder, state] of folders) {
      const ranges = expungedSince(this.#appliance.db.read, folder, since)
      assert.ok(ranges !== null, 'nothing was pruned')
      const isGone = (uid: number) => ranges.some(({ first, last }) => first <= uid && uid <= last)
      for (const uid of known.get(folder)?.entries.keys() ?? []) {
        assert.equal(isGone(uid), !state.entries.has(uid), `folder ${folder}, UID ${uid} since ${since}`)
      }
      for (const uid of state.entries.keys()) assert.ok(!isGone(uid), `folder ${folder}: UID ${uid} is still there`)
    }
  }
}
