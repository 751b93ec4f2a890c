// Messages that are here and not at the server: stored there once, also when an answer is lost.

import { withCrlf } from '../mime/line-ends.ts'
import { readFully } from '../store/pack-content.ts'
import { seenMarks } from './folder-map.ts'
import type { RemoteFolder } from './ledger/remote-folders.ts'
import { CONTENT, type RemoteMessage } from './ledger/remote-messages.ts'
import { flagOf, keywordsIn } from './marks.ts'
import { bareId, hexOf, messageKey } from './message-key.ts'
import type { PushCommands } from './push-commands.ts'
import type { StepOf } from './push-plan.ts'
import type { AppendDue } from './sent-copy.ts'
import type { RemoteHead, UidSpan } from './server.ts'
import type { SyncSession } from './sync-session.ts'
import { spansOf } from './uid-spans.ts'

/** See `appendDue`. */
export type MayAppend = (message: number) => AppendDue

export class PushAppends {
  readonly #commands: PushCommands
  readonly #session: SyncSession
  readonly #mayAppend: MayAppend

  constructor(commands: PushCommands, mayAppend: MayAppend) {
    this.#commands = commands
    this.#session = commands.session
    this.#mayAppend = mayAppend
  }

  async run(steps: readonly StepOf<'append'>[]): Promise<void> {
    for (const [n, group] of Map.groupBy(steps, ({ to }) => to.n)) {
      const created: { message: number; intent: number; uid: number }[] = []
      for (const step of group) {
        const uid = await this.#append(step)
        if (uid !== null) created.push({ message: step.message, ...uid })
      }
      if (created.length > 0) await this.#noteAppended(n, created)
    }
  }

  /** @returns null when the server did not give its UID: the next look finds it */
  async #append({ message, to, labels }: StepOf<'append'>): Promise<{ intent: number; uid: number } | null> {
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
    await this.#commands.tryIntents('append', { intents: [intent], messages: [message] }, async () => {
      const flags = keywordsIn(placement.keywords).filter((mark) => this.#commands.takes(to.n, mark))
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
        this.#commands.add(tx, rowOf(n, message, head, session.facts.hasExactSizes))
        intents.remove(tx, [intent])
      }
    })
  }
}

function rowOf(folder: number, message: number, head: RemoteHead, hasExactSizes: boolean): RemoteMessage {
  return {
    ...{ folder, uid: head.uid, message, marks: [...seenMarks(head.flags, head.labels)] },
    ...{ labels: head.labels && [...head.labels], key: messageKey(head, hasExactSizes) },
    ...{ state: CONTENT.known, tries: 0, triedAt: null },
  }
}
