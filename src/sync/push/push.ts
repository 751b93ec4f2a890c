// The outgoing half of a round: what changed here since it was last sent, compared with the base.

import { FolderMap, seenMarks } from '../ledger/folder-map.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { flagOf } from '../model/marks.ts'
import type { MarkChange, Marks } from '../model/merge.ts'
import { spansOf } from '../model/uid-spans.ts'
import type { SyncSession } from '../session/sync-session.ts'
import { type MayAppend, PushAppends } from './push-appends.ts'
import { numbersOf, PushCommands } from './push-commands.ts'
import { PushMoves } from './push-moves.ts'
import { type PushStep, planPush, type StepOf } from './push-plan.ts'
import { PushRemovals } from './push-removals.ts'

/** Messages that are compared at a time. */
const MESSAGES_PER_PAGE = 200
/** UIDs of one command. */
const UIDS_PER_COMMAND = 500

export class Push {
  readonly #session: SyncSession
  readonly #commands: PushCommands
  readonly #appends: PushAppends
  readonly #removals: PushRemovals
  readonly #moves: PushMoves
  /** Numbers of messages that changed here, and are gone at the server as far as is known. */
  readonly #gone = new Set<number>()

  constructor(session: SyncSession, mayAppend: MayAppend) {
    this.#session = session
    this.#commands = new PushCommands(session)
    this.#appends = new PushAppends(this.#commands, mayAppend)
    this.#removals = new PushRemovals(this.#commands)
    this.#moves = new PushMoves(this.#commands)
  }

  /** Why something waits, in one sentence; null: nothing does. */
  get reason(): string | null {
    return this.#commands.reason
  }

  /** Why messages that were deleted here are kept at the server, in one sentence; null: none are. */
  get held(): string | null {
    return this.#removals.reason
  }

  /** Whether something changed here that is not sent. */
  get isNeeded(): boolean {
    const { account, mail, deps } = this.#session
    if (account.mode === 'collect') return false
    const isAhead = deps.store.accounts.seqIn(deps.db.read, mail.n) > account.pushedSeq
    return isAhead || this.#commands.hasDue || this.#removals.areReady
  }

  /** The remote folders to look at: messages were moved or copied there under UIDs that are not known, or are to be fetched again. */
  takeTargets(): RemoteFolder[] {
    const { folders } = this.#session.deps
    const { doubted } = this.#commands
    const targets = [...this.#moves.takeTargets().union(doubted), ...this.#removals.takeRestored()].flatMap(
      (n) => folders.get(n) ?? [],
    )
    doubted.clear()
    return targets.filter((folder) => this.#session.isRead(folder))
  }

  /** Messages that changed here while they were gone at the server, by number, each once. */
  takeGone(): number[] {
    const gone = [...this.#gone]
    this.#gone.clear()
    return gone
  }

  /** A round begins: what waited may not wait any more. */
  begin(): void {
    this.#commands.reason = null
  }

  /** Sends everything that changed. @throws ServerError of effect `delay` or `failed` */
  async run(): Promise<void> {
    const session = this.#session
    const { store, states } = session.deps
    this.#appends.begin()
    await this.#commands.again(this.#commands.dueLater(), (numbers) => this.messages(numbers))
    for (;;) {
      const { pushedSeq } = session.refresh()
      const page = store.read.changes.numbersSince(session.mail, 'messages', pushedSeq, MESSAGES_PER_PAGE)
      const upTo = page?.upTo ?? store.accounts.seqIn(session.deps.db.read, session.mail.n)
      if (page === null) await this.#everything()
      else await this.messages(page.numbers)
      await session.write((tx) => states.pushed(tx, session.account.n, upTo))
      if (page === null || !page.hasMore) break
    }
  }

  /** The ledger does not go back far enough: all messages are compared, here and there. */
  async #everything(): Promise<void> {
    const session = this.#session
    const { store, messages } = session.deps
    for (const folder of session.followed()) {
      for (let after = 0; ; ) {
        const entries = store.programs.views.entries(
          folder.folder!,
          [{ first: after + 1, last: 2 ** 32 }],
          MESSAGES_PER_PAGE,
        )
        if (entries.length === 0) break
        await this.messages(entries.map(({ message }) => message))
        after = entries.at(-1)!.uid
      }
      for (let after = 0; ; ) {
        const rows = messages.in(folder.n, [[after + 1, 2 ** 32]], MESSAGES_PER_PAGE)
        if (rows.length === 0) break
        await this.messages(rows.flatMap(({ message }) => message ?? []))
        after = rows.at(-1)!.uid
      }
    }
  }

  /** The end of a round: forgets changes that were not sent again and are at the server now, and notes what it does not keep. */
  async end(): Promise<void> {
    await this.#commands.noteUnkept()
    const { deps, account } = this.#session
    const parked = deps.intents.parked(account.n)
    for (let at = 0; at < parked.length; at += MESSAGES_PER_PAGE) {
      const page = parked.slice(at, at + MESSAGES_PER_PAGE)
      const open = new Set(page.filter(({ message }) => this.#plan([message]).length > 0))
      const done = page.filter((intent) => !open.has(intent)).map(({ n }) => n)
      if (done.length > 0) await this.#session.write((tx) => deps.intents.remove(tx, done))
    }
  }

  /** Compares messages by number, and sends what differs. */
  async messages(numbers: readonly number[]): Promise<void> {
    for (let at = 0; at < numbers.length; at += MESSAGES_PER_PAGE) {
      const steps = this.#plan(numbers.slice(at, at + MESSAGES_PER_PAGE))
      await this.#marks(steps.filter((step) => step.kind === 'marks'))
      await this.#labels(steps.filter((step) => step.kind === 'labels'))
      await this.#moves.copy(steps.filter((step) => step.kind === 'copy'))
      await this.#moveOrCopy(steps.filter((step) => step.kind === 'move'))
      await this.#appends.run(steps.filter((step) => step.kind === 'append'))
      const removals = steps.filter((step) => step.kind === 'remove')
      await this.#removals.note(removals.filter(({ isErased }) => isErased))
      await this.#removeCopies(removals.filter(({ isErased }) => !isErased))
    }
  }

  /** Removes there what was deleted here. @throws ServerError of effect `delay` or `failed` */
  settleRemovals(): Promise<void> {
    return this.#removals.settle()
  }

  #plan(numbers: readonly number[]): PushStep[] {
    const session = this.#session
    const { store, messages, folders, db } = session.deps
    // What is erased here because the account was deleted stays there.
    session.refresh()
    const map = new FolderMap(folders.list(session.account.n), session.areLabels)
    const placements = store.programs.mail.placements(session.mail, numbers)
    const rows = messages.of(session.account.n, numbers, db.read)
    const takes = (row: RemoteMessage, mark: string) => this.#commands.takes(row.folder, mark)
    for (const [n, copies] of rows) if (copies.every(({ uid }) => uid < 0)) this.#gone.add(n)
    return numbers.flatMap((n) => planPush(n, placements.get(n) ?? null, rows.get(n) ?? [], { map, takes }))
  }

  async #marks(steps: readonly StepOf<'marks'>[]): Promise<void> {
    for (const [folder, group] of Map.groupBy(steps, ({ row }) => row.folder)) {
      const rows = await this.#commands.opened(folder, group)
      const known = rows.map(({ row, change }) => ({ row, change: this.#kept(folder, change) }))
      const groups = Map.groupBy(
        known.filter(({ change }) => change.add.length + change.remove.length > 0),
        ({ change }) => JSON.stringify(change),
      )
      for (const one of groups.values()) await this.#store(folder, one, 'marks')
    }
  }

  #kept(folder: number, { add, remove }: MarkChange): MarkChange {
    const isKept = (mark: string) => this.#commands.takes(folder, mark)
    return { add: add.filter(isKept), remove: remove.filter(isKept) }
  }

  async #labels(steps: readonly StepOf<'labels'>[]): Promise<void> {
    for (const [folder, group] of Map.groupBy(steps, ({ row }) => row.folder)) {
      const rows = await this.#commands.opened(folder, group)
      const groups = Map.groupBy(rows, ({ change }) => JSON.stringify(change))
      for (const one of groups.values()) await this.#store(folder, one, 'labels')
    }
  }

  /** One change for many messages of the selected folder. */
  async #store(
    folder: number,
    group: readonly { row: RemoteMessage; change: MarkChange }[],
    kind: 'marks' | 'labels',
  ): Promise<void> {
    const { server, deps } = this.#session
    const { change } = group[0]!
    for (let at = 0; at < group.length; at += UIDS_PER_COMMAND) {
      const rows = group.slice(at, at + UIDS_PER_COMMAND).map(({ row }) => row)
      const spans = spansOf(rows.map(({ uid }) => uid))
      await this.#commands.try(
        kind,
        rows.map(({ message }) => message),
        async () => {
          if (kind === 'labels') await server.label(spans, change)
          else await server.store(spans, { add: change.add.map(flagOf), remove: change.remove.map(flagOf) })
          const changed = (list: Marks) => [...list.filter((one) => !change.remove.includes(one)), ...change.add].sort()
          await this.#commands.write(rows, (tx, batch) =>
            deps.messages.mark(
              tx,
              folder,
              batch.map(({ uid, marks, labels }) =>
                kind === 'labels'
                  ? { uid, marks: withLabels(marks, changed(labels ?? [])), labels: changed(labels ?? []) }
                  : { uid, marks: changed(marks) },
              ),
            ),
          )
        },
      )
    }
  }

  /** Without MOVE a message is removed when its copy is known: an end in between leaves an intent, and no second copy. */
  async #moveOrCopy(steps: readonly StepOf<'move'>[]): Promise<void> {
    const { byMove = [], byCopy = [] } = Object.groupBy(steps, ({ row }) =>
      this.#moves.isMovable(row) ? 'byMove' : 'byCopy',
    )
    await this.#moves.move(byMove)
    if (byCopy.length === 0) return
    await this.#moves.copy(byCopy.map(({ row, to }) => ({ kind: 'copy', row, to })))
    const again = this.#plan(byCopy.flatMap(({ row }) => row.message ?? []))
    await this.#removeCopies(again.filter((step) => step.kind === 'remove'))
  }

  /** Copies of messages that are still in other folders. */
  async #removeCopies(steps: readonly StepOf<'remove'>[]): Promise<void> {
    const { server, deps } = this.#session
    for (const [folder, group] of Map.groupBy(steps, ({ row }) => row.folder)) {
      const rows = (await this.#commands.opened(folder, group)).map(({ row }) => row)
      if (rows.length === 0) continue
      await this.#commands.try('expunge', numbersOf(group), async () => {
        const left = new Set(await server.expunge(rows.map(({ uid }) => uid)))
        const removed = rows.filter(({ uid }) => !left.has(uid))
        await this.#commands.write(removed, (tx, batch) =>
          deps.messages.remove(
            tx,
            folder,
            batch.map(({ uid }) => uid),
          ),
        )
        await this.#commands.later(rows.filter(({ uid }) => left.has(uid)).map(({ message }) => message))
      })
    }
  }
}

/** The mark that stands for a label follows it. */
function withLabels(marks: Marks, labels: readonly string[]): Marks {
  return [...new Set([...marks.filter((mark) => mark !== '$important'), ...seenMarks([], labels)])].sort()
}
