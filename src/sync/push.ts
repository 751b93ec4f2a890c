// The outgoing half of a round: what changed here since it was last sent, compared with the base.

import type { Tx } from '../db/db.ts'
import { withCrlf } from '../mime/line-ends.ts'
import { readFully } from '../store/pack-content.ts'
import { FolderMap, seenMarks } from './folder-map.ts'
import type { RemoteFolder } from './ledger/remote-folders.ts'
import { CONTENT, type RemoteMessage } from './ledger/remote-messages.ts'
import { flagOf, keywordsIn, takenBy } from './marks.ts'
import type { MarkChange, Marks } from './merge.ts'
import { bareId, hexOf, messageKey } from './message-key.ts'
import { type PushStep, planPush } from './push-plan.ts'
import type { AppendDue } from './sent-copy.ts'
import { type RemoteHead, ServerError, type UidSpan } from './server.ts'
import type { SyncSession } from './sync-session.ts'
import { spansOf } from './uid-spans.ts'

/** Messages that are compared at a time. */
const MESSAGES_PER_PAGE = 200
/** UIDs of one command. */
const UIDS_PER_COMMAND = 500
/** Base rows written in one unit of work. */
const ROWS_PER_BATCH = 100
/** What a server refused is sent again after this time, doubled each time (ms), and so often. */
const REFUSED_RETRY_MS = 60_000
const TRIES_MAX = 6
/** What a server refused for want of room is sent again after this time, ms. */
const QUOTA_RETRY_MS = 60 * 60_000

type Step<K extends PushStep['kind']> = Extract<PushStep, { kind: K }>

/** See `appendDue`. */
export type MayAppend = (message: number) => AppendDue

export class Push {
  readonly #session: SyncSession
  readonly #mayAppend: MayAppend
  /** How often changes of messages were refused that are sent again now. */
  #tries = new Map<number, number>()
  /** Numbers of remote folders that have messages of ours under UIDs that are not known. */
  readonly #targets = new Set<number>()
  /** Why something waits, in one sentence; null: nothing does. */
  reason: string | null = null

  constructor(session: SyncSession, mayAppend: MayAppend) {
    this.#session = session
    this.#mayAppend = mayAppend
  }

  /** Whether something changed here that is not sent. */
  get isNeeded(): boolean {
    const { account, mail, deps } = this.#session
    if (account.mode === 'collect') return false
    return deps.store.accounts.seqIn(deps.db.read, mail.n) > account.pushedSeq || this.#dueLater().length > 0
  }

  /** The remote folders into which messages were moved or copied under UIDs that are not known, each once. */
  takeTargets(): RemoteFolder[] {
    const { folders } = this.#session.deps
    const targets = [...this.#targets].flatMap((n) => folders.get(n) ?? [])
    this.#targets.clear()
    return targets.filter((folder) => this.#session.isRead(folder))
  }

  /** Sends everything that changed. @throws ServerError of effect `delay` or `failed` */
  async run(): Promise<void> {
    const session = this.#session
    const { store, states, intents } = session.deps
    this.reason = null
    const later = this.#dueLater()
    if (later.length > 0) {
      this.#tries = new Map(later.map(({ message, tries }) => [message, tries ?? 0]))
      await session.write((tx) =>
        intents.remove(
          tx,
          later.map(({ n }) => n),
        ),
      )
      await this.messages([...new Set(later.map(({ message }) => message))])
      this.#tries.clear()
    }
    for (;;) {
      const { pushedSeq } = session.refresh()
      const page = store.changes.numbersSince(session.mail, 'messages', pushedSeq, MESSAGES_PER_PAGE)
      const upTo = page?.upTo ?? store.accounts.seqIn(session.deps.db.read, session.mail.n)
      if (page === null) await this.#everything()
      else await this.messages(page.numbers)
      await session.write((tx) => states.pushed(tx, session.account.n, upTo))
      if (page === null || !page.hasMore) break
    }
  }

  #dueLater() {
    const { deps, account } = this.#session
    const now = deps.clock.now()
    return deps.intents.list(account.n).filter(({ kind, at }) => kind === 'later' && (at ?? 0) <= now)
  }

  /** The ledger does not go back far enough: all messages are compared, here and there. */
  async #everything(): Promise<void> {
    const session = this.#session
    const { store, messages } = session.deps
    for (const folder of session.followed()) {
      for (let after = 0; ; ) {
        const entries = store.views.entries(folder.folder!, [{ first: after + 1, last: 2 ** 32 }], MESSAGES_PER_PAGE)
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

  /** Compares messages by number, and sends what differs. */
  async messages(numbers: readonly number[]): Promise<void> {
    for (let at = 0; at < numbers.length; at += MESSAGES_PER_PAGE) {
      const steps = this.#plan(numbers.slice(at, at + MESSAGES_PER_PAGE))
      await this.#marks(steps.filter((step) => step.kind === 'marks'))
      await this.#labels(steps.filter((step) => step.kind === 'labels'))
      await this.#copies(steps.filter((step) => step.kind === 'copy'))
      await this.#moveOrCopy(steps.filter((step) => step.kind === 'move'))
      await this.#appends(steps.filter((step) => step.kind === 'append'))
      await this.#removals(steps.filter((step) => step.kind === 'remove'))
    }
  }

  #plan(numbers: readonly number[]): PushStep[] {
    const session = this.#session
    const { store, messages, folders, db } = session.deps
    // What is erased here because the account was deleted stays there.
    session.refresh()
    const map = new FolderMap(folders.list(session.account.n), session.areLabels)
    const placements = store.mail.placements(session.mail, numbers)
    const rows = messages.of(session.account.n, numbers, db.read)
    const takes = (row: RemoteMessage, mark: string) => this.#takes(row.folder, mark)
    return numbers.flatMap((n) => planPush(n, placements.get(n) ?? null, rows.get(n) ?? [], { map, takes }))
  }

  /** By remote folder, as of its last SELECT; before that a server is expected to keep everything. */
  readonly #taken = new Map<number, (mark: string) => boolean>()
  #takes(folder: number, mark: string): boolean {
    return this.#taken.get(folder)?.(mark) ?? true
  }

  /** Selects the folder of rows. @returns undefined when nothing can be written there */
  async #open(n: number): Promise<RemoteFolder | undefined> {
    const session = this.#session
    const folder = session.deps.folders.get(n)
    if (folder === undefined) return undefined
    const opened = await session.ensure(folder.path)
    this.#taken.set(n, takenBy(opened.keywords))
    // Numbered again: the next look finds the messages under their new UIDs.
    return opened.isWritable && opened.uidValidity === folder.uidValidity ? folder : undefined
  }

  /** Runs a command that a server may refuse: it is repeated some times, with longer and longer pauses, and then left. */
  async #try(what: string, messages: readonly (number | null)[], command: () => Promise<void>): Promise<void> {
    const { log } = this.#session.deps
    try {
      await command()
    } catch (error) {
      if (!(error instanceof ServerError) || error.effect !== 'refused') throw error
      const remote = this.#session.account.id
      log.warn({ event: 'sync.change_refused', remote, what, reason: error.message }, 'The server refused a change')
      this.reason = error.message
      await this.#repeat(messages, error.kind === 'quota')
    }
  }

  async #repeat(messages: readonly (number | null)[], isFull: boolean): Promise<void> {
    const { deps, account } = this.#session
    const now = deps.clock.now()
    const open = new Map(deps.intents.list(account.n).map(({ kind, message }) => [message, kind]))
    const refused = messages.filter((message) => message !== null && open.get(message) !== 'later') as number[]
    await this.#session.write((tx) => {
      for (const message of refused) {
        const tries = (this.#tries.get(message) ?? 0) + 1
        if (tries > TRIES_MAX && !isFull) continue
        const at = now + (isFull ? QUOTA_RETRY_MS : REFUSED_RETRY_MS * 2 ** tries)
        deps.intents.add(tx, account.n, { kind: 'later', message, folder: null, key: null, messageId: null, at, tries })
      }
    })
  }

  async #marks(steps: readonly Step<'marks'>[]): Promise<void> {
    for (const [folder, rows] of Map.groupBy(steps, ({ row }) => row.folder)) {
      if ((await this.#open(folder)) === undefined) continue
      const known = rows.map(({ row, change }) => ({ row, change: this.#kept(folder, change) }))
      const groups = Map.groupBy(
        known.filter(({ change }) => change.add.length + change.remove.length > 0),
        ({ change }) => JSON.stringify(change),
      )
      for (const group of groups.values()) await this.#store(folder, group, 'marks')
    }
  }

  #kept(folder: number, { add, remove }: MarkChange): MarkChange {
    const isKept = (mark: string) => this.#takes(folder, mark)
    return { add: add.filter(isKept), remove: remove.filter(isKept) }
  }

  async #labels(steps: readonly Step<'labels'>[]): Promise<void> {
    for (const [folder, rows] of Map.groupBy(steps, ({ row }) => row.folder)) {
      if ((await this.#open(folder)) === undefined) continue
      const groups = Map.groupBy(rows, ({ change }) => JSON.stringify(change))
      for (const group of groups.values()) await this.#store(folder, group, 'labels')
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
      await this.#try(
        kind,
        rows.map(({ message }) => message),
        async () => {
          if (kind === 'labels') await server.label(spans, change)
          else await server.store(spans, { add: change.add.map(flagOf), remove: change.remove.map(flagOf) })
          const changed = (list: Marks) => [...list.filter((one) => !change.remove.includes(one)), ...change.add].sort()
          await this.#write(rows, (tx, batch) =>
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

  /** @param rows of one folder; `work` receives them as an earlier step left them */
  async #write(rows: readonly RemoteMessage[], work: (tx: Tx, batch: RemoteMessage[]) => void): Promise<void> {
    for (let at = 0; at < rows.length; at += ROWS_PER_BATCH) {
      const batch = rows.slice(at, at + ROWS_PER_BATCH)
      await this.#session.write((tx) => work(tx, this.#current(tx, batch)))
    }
  }

  #current(tx: Tx, rows: readonly RemoteMessage[]): RemoteMessage[] {
    const spans = spansOf(rows.map(({ uid }) => uid))
    const current = this.#session.deps.messages.in(rows[0]!.folder, spans, rows.length, tx)
    const byUid = new Map(current.map((row) => [row.uid, row]))
    return rows.map((row) => byUid.get(row.uid) ?? row)
  }

  /** Without MOVE a message is removed when its copy is known: an end in between leaves an intent, and no second copy. */
  async #moveOrCopy(steps: readonly Step<'move'>[]): Promise<void> {
    if (this.#session.facts.hasMove || steps.length === 0) return this.#moves(steps)
    await this.#copies(steps.map(({ row, to }) => ({ kind: 'copy', row, to })))
    const again = this.#plan(steps.flatMap(({ row }) => row.message ?? []))
    await this.#removals(again.filter((step) => step.kind === 'remove'))
  }

  async #moves(steps: readonly Step<'move'>[]): Promise<void> {
    const { server, deps } = this.#session
    const { messages } = deps
    for (const group of Map.groupBy(steps, ({ row, to }) => `${row.folder} ${to.n}`).values()) {
      const [{ row, to }] = group as [Step<'move'>]
      if ((await this.#open(row.folder)) === undefined) continue
      const rows = group.map((step) => step.row)
      await this.#try(
        'move',
        rows.map(({ message }) => message),
        async () => {
          const moved = await server.move(
            rows.map(({ uid }) => uid),
            to.path,
          )
          await this.#write(rows, (tx, batch) => {
            for (const one of batch) {
              const uid = moved?.get(one.uid)
              // Without its new UID it is found by its key in the other folder, or it was gone already.
              if (uid === undefined) {
                messages.depart(tx, one.folder, [[one.uid, one.uid]], 1)
                this.#targets.add(to.n)
              } else {
                messages.remove(tx, one.folder, [one.uid])
                this.#add(tx, { ...one, folder: to.n, uid, labels: one.labels && [] })
              }
            }
          })
        },
      )
    }
  }

  /** A row for a message that a command has created, unless a look has found it already. */
  #add(tx: Tx, row: RemoteMessage): void {
    const { messages } = this.#session.deps
    messages.remove(tx, row.folder, [row.uid])
    messages.add(tx, [row])
  }

  async #copies(steps: readonly Step<'copy'>[]): Promise<void> {
    const session = this.#session
    const { server, deps } = session
    for (const group of Map.groupBy(steps, ({ row, to }) => `${row.folder} ${to.n}`).values()) {
      const [{ row, to }] = group as [Step<'copy'>]
      if ((await this.#open(row.folder)) === undefined) continue
      const open = new Set(deps.intents.list(session.account.n).map(({ message, folder }) => `${message} ${folder}`))
      const rows = group.map((step) => step.row).filter(({ message }) => !open.has(`${message} ${to.n}`))
      if (rows.length === 0) continue
      const intents = await session.write((tx) =>
        rows.map(({ message, key }) => {
          const intent = {
            kind: 'copy',
            message: message!,
            folder: to.n,
            key: hexOf(key),
            messageId: null,
            at: null,
          } as const
          return deps.intents.add(tx, session.account.n, intent)
        }),
      )
      await this.#tryIntents('copy', { intents, messages: rows.map(({ message }) => message) }, async () => {
        const copied = await server.copy(
          rows.map(({ uid }) => uid),
          to.path,
        )
        if (copied === null) return void this.#targets.add(to.n)
        await session.write((tx) => {
          deps.intents.remove(tx, intents)
          for (const one of this.#current(tx, rows)) {
            const uid = copied.get(one.uid)
            if (uid !== undefined) this.#add(tx, { ...one, folder: to.n, uid })
          }
        })
      })
    }
  }

  /** As {@link #try}: what was refused did not happen. */
  async #tryIntents(
    what: string,
    { intents, messages }: { intents: readonly number[]; messages: readonly (number | null)[] },
    command: () => Promise<void>,
  ): Promise<void> {
    const session = this.#session
    await this.#try(what, messages, async () => {
      try {
        await command()
      } catch (error) {
        if (error instanceof ServerError && error.effect === 'refused')
          await session.write((tx) => session.deps.intents.remove(tx, intents))
        throw error
      }
    })
  }

  async #appends(steps: readonly Step<'append'>[]): Promise<void> {
    for (const [n, group] of Map.groupBy(steps, ({ to }) => to.n)) {
      const created: { message: number; intent: number; uid: number }[] = []
      for (const step of group) {
        const uid = await this.#append(step)
        if (uid !== null) created.push({ message: step.message, ...uid })
      }
      if (created.length > 0) await this.#noteAppended(n, created)
    }
  }

  /** @returns null when the server did not tell its UID: the next look finds it */
  async #append({ message, to, labels }: Step<'append'>): Promise<{ intent: number; uid: number } | null> {
    const session = this.#session
    const { store, intents } = session.deps
    const { n } = session.account
    if (intents.list(n).some((one) => one.message === message && one.folder === to.n)) return null
    const due = this.#mayAppend(message)
    if (!due.isDue) {
      await session.write((tx) =>
        intents.add(tx, n, { kind: 'later', message, folder: null, key: null, messageId: null, at: due.at }),
      )
      return null
    }
    const placement = store.mail.placements(session.mail, [message]).get(message)
    const content = store.mail.contents([message]).get(message)
    if (placement === undefined || content === undefined) return null
    const messageId = bareId(store.mail.internetIds([message]).get(message) ?? null)
    const saved = due.isSent && messageId !== null ? await this.#savedThere(to, messageId) : null
    const stored = await readFully(store.mail.bytes(content, 0, content.sizeBytes), content.sizeBytes)
    const bytes = withCrlf(stored)
    const { receivedAt } = placement
    const key = messageKey(
      { objectId: null, messageId, sizeBytes: bytes.length, receivedAt },
      session.facts.hasExactSizes,
    )
    const intent = await session.write((tx) =>
      intents.add(tx, n, { kind: 'append', message, folder: to.n, key: hexOf(key), messageId, at: null }),
    )
    if (saved !== null) return { intent, uid: saved }
    let uid: number | null = null
    await this.#tryIntents('append', { intents: [intent], messages: [message] }, async () => {
      const flags = keywordsIn(placement.keywords).filter((mark) => this.#takes(to.n, mark))
      uid = await session.server.append(to.path, bytes, flags.map(flagOf), receivedAt)
      if (labels.length > 0 && uid !== null) await this.#labelNew(to, uid, labels)
    })
    return uid === null ? null : { intent, uid }
  }

  /** The UID of a message that the server, or a mail program, has stored there already; null without one. */
  async #savedThere(to: RemoteFolder, messageId: string): Promise<number | null> {
    await this.#session.select(to.path)
    const uids = await this.#session.server.find(messageId)
    return uids.at(-1) ?? null
  }

  async #labelNew(to: RemoteFolder, uid: number, labels: readonly string[]): Promise<void> {
    await this.#session.select(to.path)
    await this.#session.server.label([[uid, uid]], { add: labels, remove: [] })
  }

  /** Base rows of messages that were stored there, as the server describes them. */
  async #noteAppended(n: number, created: readonly { message: number; intent: number; uid: number }[]): Promise<void> {
    const session = this.#session
    const { folders, intents } = session.deps
    const folder = folders.get(n)
    if (folder === undefined) return
    const opened = await session.select(folder.path)
    if (folder.uidValidity !== null && opened.uidValidity !== folder.uidValidity) return
    const spans: UidSpan[] = spansOf(created.map(({ uid }) => uid))
    const heads = new Map((await session.server.heads(spans)).map((head) => [head.uid, head]))
    await session.write((tx) => {
      for (const { message, intent, uid } of created) {
        const head = heads.get(uid)
        if (head === undefined) continue
        this.#add(tx, rowOf(n, message, head, session.facts.hasExactSizes))
        intents.remove(tx, [intent])
      }
    })
  }

  async #removals(steps: readonly Step<'remove'>[]): Promise<void> {
    const { server, deps } = this.#session
    for (const [folder, group] of Map.groupBy(steps, ({ row }) => row.folder)) {
      if ((await this.#open(folder)) === undefined) continue
      const rows = group.map(({ row }) => row)
      await this.#try(
        'expunge',
        rows.map(({ message }) => message),
        async () => {
          await server.expunge(rows.map(({ uid }) => uid))
          await this.#write(rows, (tx, batch) =>
            deps.messages.remove(
              tx,
              folder,
              batch.map(({ uid }) => uid),
            ),
          )
        },
      )
    }
  }
}

/** The mark that stands for a label follows it. */
function withLabels(marks: Marks, labels: readonly string[]): Marks {
  return [...new Set([...marks.filter((mark) => mark !== '$important'), ...seenMarks([], labels)])].sort()
}

function rowOf(folder: number, message: number, head: RemoteHead, hasExactSizes: boolean): RemoteMessage {
  return {
    ...{ folder, uid: head.uid, message, marks: [...seenMarks(head.flags, head.labels)] },
    ...{ labels: head.labels && [...head.labels], key: messageKey(head, hasExactSizes) },
    ...{ state: CONTENT.known, tries: 0, triedAt: null },
  }
}
