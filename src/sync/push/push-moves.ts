// Messages that were moved or copied here: the same at the server, each once, and their rows as the server has them then.

import { sendNow } from '../ledger/intents.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { bareId, hexOf, messageKey } from '../model/message-key.ts'
import { isRefusal } from '../model/server.ts'
import { spansOf } from '../model/uid-spans.ts'
import { digestsThere } from '../session/content-digest.ts'
import { headsOf } from '../session/heads.ts'
import type { SyncSession } from '../session/sync-session.ts'
import { numbersOf, type PushCommands } from './push-commands.ts'
import type { StepOf } from './push-plan.ts'

export class PushMoves {
  readonly #commands: PushCommands
  readonly #session: SyncSession
  /** Numbers of remote folders that have messages of ours under UIDs that are not known. */
  readonly #targets = new Set<number>()

  constructor(commands: PushCommands) {
    this.#commands = commands
    this.#session = commands.session
  }

  /** The numbers of remote folders to look at, each once. */
  takeTargets(): Set<number> {
    const targets = new Set(this.#targets)
    this.#targets.clear()
    return targets
  }

  /** Whether MOVE is there, and the message is found in the other folder. */
  isMovable({ message }: RemoteMessage): boolean {
    const { hasMove, hasUidPlus } = this.#session.facts
    return hasMove && (hasUidPlus || this.#nameless([message]).size === 0)
  }

  async move(steps: readonly StepOf<'move'>[]): Promise<void> {
    const { server } = this.#session
    for (const group of Map.groupBy(steps, ({ row, to }) => `${row.folder} ${to.n}`).values()) {
      const [{ row, to }] = group as [StepOf<'move'>]
      const rows = (await this.#commands.opened(row.folder, group)).map((step) => step.row)
      if (rows.length === 0) continue
      const created: RemoteMessage[] = []
      await this.#commands.try('move', numbersOf(group), async () => {
        const uids = rows.map(({ uid }) => uid)
        const moved = await server.move(uids, to.path, to.uidValidity)
        created.push(...(await this.#noteMoved(rows, to, moved)))
      })
      await this.#noteFacts(to, created)
    }
  }

  /** @param moved new UIDs by those before @returns the new rows */
  async #noteMoved(
    rows: readonly RemoteMessage[],
    to: RemoteFolder,
    moved: ReadonlyMap<number, number> | null,
  ): Promise<RemoteMessage[]> {
    const { account, deps } = this.#session
    const { messages, intents } = deps
    const created: RemoteMessage[] = []
    await this.#commands.write(rows, (tx, batch) => {
      for (const one of batch) {
        const uid = moved?.get(one.uid)
        if (uid === undefined) {
          // With COPYUID it was gone already. Else it is found by its key in the other folder.
          if (moved !== null) messages.depart(tx, one.folder, [[one.uid, one.uid]], 1)
          else messages.expect(tx, one, to.n)
          this.#targets.add(to.n)
          continue
        }
        const now = { ...one, folder: to.n, uid, labels: one.labels && [] }
        messages.remove(tx, one.folder, [one.uid])
        this.#commands.add(tx, now)
        created.push(now)
        // Out of Trash and Junk it has no label: those of its folders here are set next.
        if (one.labels !== null && one.message !== null && to.role === 'archive')
          intents.add(tx, account.n, sendNow(one.message))
      }
    })
    return created
  }

  async copy(steps: readonly StepOf<'copy'>[]): Promise<void> {
    const session = this.#session
    const { deps, facts } = session
    for (const group of Map.groupBy(steps, ({ row, to }) => `${row.folder} ${to.n}`).values()) {
      const [{ row, to }] = group as [StepOf<'copy'>]
      const identified = await this.#commands.opened(row.folder, group)
      const announced = deps.intents.of(
        session.account.n,
        group.flatMap((step) => step.row.message ?? []),
      )
      const open = new Set<number | null>(announced.flatMap(({ folder, message }) => (folder === to.n ? message : [])))
      const rows = identified.map((step) => step.row).filter(({ message }) => !open.has(message))
      const nameless = facts.hasUidPlus ? new Set() : this.#nameless(numbersOf(group))
      const named = rows.filter(({ message }) => !nameless.has(message))
      if (named.length > 0) await this.#copyTogether(named, to)
      for (const one of rows) if (nameless.has(one.message)) await this.#copyAlone(one, to)
    }
  }

  async #copyTogether(rows: readonly RemoteMessage[], to: RemoteFolder): Promise<void> {
    const { server } = this.#session
    const uids = rows.map(({ uid }) => uid)
    await this.#announced(rows, to, () => server.copy(uids, to.path, to.uidValidity))
  }

  /** Copies a message that nothing finds where the server gives it other bytes and names no UID: it is the one that is new in the folder. */
  async #copyAlone(row: RemoteMessage, to: RemoteFolder): Promise<void> {
    const { server } = this.#session
    // The state of a selected folder is not that of STATUS (RFC 9051 §6.3.11): a step before may have selected the other one.
    if ((await this.#commands.opened(row.folder, [{ row }])).length === 0) return
    await this.#announced([row], to, async () => {
      const before = await server.status(to.path)
      await server.copy([row.uid], to.path, to.uidValidity)
      const after = await server.status(to.path)
      const isOne = after.uidValidity === before.uidValidity && after.uidNext === before.uidNext + 1
      // A message that was gone was not copied, and the new one is that of another program.
      const wasThere = isOne && (await server.uids([[row.uid, row.uid]])).length > 0
      return wasThere ? new Map([[row.uid, before.uidNext]]) : null
    })
  }

  /** @param copy gives the new UIDs by those before; null: they are not known */
  async #announced(
    rows: readonly RemoteMessage[],
    to: RemoteFolder,
    copy: () => Promise<ReadonlyMap<number, number> | null>,
  ): Promise<void> {
    const session = this.#session
    const { deps } = session
    const messages = rows.flatMap(({ message }) => message ?? [])
    // Some servers give a copy another time of receipt: its Message-ID finds it.
    const ids = deps.store.programs.mail.internetIds(messages)
    const intents = await session.write((tx) =>
      rows.map(({ message, key }) => {
        const messageId = bareId(ids.get(message!) ?? null)
        const tries = this.#commands.triesOf(message!)
        const intent = { kind: 'copy', message: message!, folder: to.n, key: hexOf(key), messageId, tries } as const
        return deps.intents.add(tx, session.account.n, { ...intent, at: null })
      }),
    )
    const created: RemoteMessage[] = []
    await this.#commands.tryIntents('copy', { intents, messages }, async () => {
      const copied = await copy()
      if (copied === null) {
        this.#targets.add(to.n)
        return session.write((tx) => deps.intents.answered(tx, intents))
      }
      await session.write((tx) => {
        deps.intents.remove(tx, intents)
        for (const one of this.#commands.current(tx, rows)) {
          const uid = copied.get(one.uid)
          if (uid === undefined) continue
          const now = { ...one, folder: to.n, uid }
          this.#commands.add(tx, now)
          created.push(now)
        }
      })
    })
    await this.#noteFacts(to, created)
  }

  /** Those of the messages that have no Message-ID, by number. */
  #nameless(messages: readonly (number | null)[]): Set<number | null> {
    const given = messages.filter((message) => message !== null)
    const ids = this.#session.deps.store.programs.mail.internetIds(given)
    return new Set(given.filter((message) => bareId(ids.get(message) ?? null) === null))
  }

  /**
   * Reads what the server has of new copies without a Message-ID: with another time of receipt or other bytes than before, they would be
   * taken for other messages.
   */
  async #noteFacts(to: RemoteFolder, created: readonly RemoteMessage[]): Promise<void> {
    const session = this.#session
    const nameless = session.areLabels ? new Set() : this.#nameless(created.map(({ message }) => message))
    const rows = created.filter(({ message }) => nameless.has(message))
    if (rows.length === 0) return
    const uids = rows.map(({ uid }) => uid)
    try {
      const { uidValidity } = await session.select(to.path)
      // Numbered again since: these UIDs may name other messages, whose facts these rows must not take.
      if (to.uidValidity !== null && uidValidity !== to.uidValidity) return
      const { heads } = await headsOf(session, to.n, spansOf(uids))
      const digests = await digestsThere(session, to.n, uids)
      const byUid = new Map(heads.map((head) => [head.uid, head]))
      await this.#commands.write(rows, (tx, batch) => {
        for (const row of batch) {
          const [head, digest] = [byUid.get(row.uid), digests.get(row.uid)]
          if (head === undefined || digest === undefined) continue
          const key = messageKey(head, session.facts.hasExactSizes)
          this.#commands.add(tx, { ...row, key, digest: new Uint8Array(Buffer.from(digest, 'hex')) })
        }
      })
    } catch (error) {
      // The next look at the folder compares them by what is known.
      if (!isRefusal(error)) throw error
    }
  }
}
