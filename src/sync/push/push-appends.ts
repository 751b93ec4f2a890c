// Messages that are here and not at the server: stored there once, also when an answer is lost.

import { withCrlf } from '../../mime/line-ends.ts'
import { DamagedContent } from '../../store/content/damaged-content.ts'
import { readFully } from '../../store/content/pack-content.ts'
import type { MailContent } from '../../store/messages/mail-reads.ts'
import { CONTENT } from '../ledger/content-state.ts'
import { FolderMap, seenMarks } from '../ledger/folder-map.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { flagOf, keywordsIn } from '../model/marks.ts'
import { bareId, hexOf, messageKey } from '../model/message-key.ts'
import { isRefusal, type OpenedFolder, type RemoteHead, type UidSpan } from '../model/server.ts'
import { spansOf, uidsOf } from '../model/uid-spans.ts'
import { contentDigest } from '../session/content-digest.ts'
import { compareAgain } from '../session/local-changes.ts'
import type { AppendDue } from '../session/sent-copy.ts'
import type { SyncSession } from '../session/sync-session.ts'
import type { PushCommands } from './push-commands.ts'
import type { StepOf } from './push-plan.ts'

/** Messages of one Message-ID in a folder that are looked at. */
const PUT_BACK_MAX = 100

/** What a message that is here again has in common with the one that was deleted. */
interface PutBackHead {
  messageId: string | null
  sizeBytes: number
  key: Uint8Array
  digest: Uint8Array
}

/** See `appendDue`. */
export type MayAppend = (message: number) => AppendDue

interface AppendedMessage {
  message: number
  intent: number
  uid: number
  /** It was not there already. */
  isNew: boolean
}

export class PushAppends {
  readonly #commands: PushCommands
  readonly #session: SyncSession
  readonly #mayAppend: MayAppend
  /** By number of a remote folder: the size of the smallest message for which the server had no room, as of this run, bytes. */
  readonly #fullFrom = new Map<number, number>()

  /** What the server answered then. */
  #fullReason = ''

  constructor(commands: PushCommands, mayAppend: MayAppend) {
    this.#commands = commands
    this.#session = commands.session
    this.#mayAppend = mayAppend
  }

  /** A new run begins: the server may have room again. */
  begin(): void {
    this.#fullFrom.clear()
  }

  async run(steps: readonly StepOf<'append'>[]): Promise<void> {
    const { intents, messages } = this.#session.deps
    for (const [n, group] of Map.groupBy(steps, ({ to }) => to.n)) {
      const created: AppendedMessage[] = []
      const without: number[] = []
      const given = group.map(({ message }) => message)
      const announced = intents.of(this.#session.account.n, given).filter(({ folder }) => folder === n)
      const open = new Set(announced.map(({ message }) => message))
      const sizes = this.#session.deps.store.programs.mail.contents(given)
      // What was deleted here and is put back needs no room there.
      const mayBeThere = messages.erased.isIn(n)
      for (const step of group) {
        if (open.has(step.message)) continue
        const sizeBytes = sizes.get(step.message)?.sizeBytes ?? 0
        if (!mayBeThere && sizeBytes >= (this.#fullFrom.get(n) ?? Number.POSITIVE_INFINITY)) {
          without.push(step.message)
          continue
        }
        const appended = await this.#append(step)
        if (appended !== null) created.push({ message: step.message, ...appended })
      }
      if (created.length > 0) await this.#noteAppended(n, created)
      await this.#commands.whenRoom(without, this.#fullReason)
    }
  }

  /** @returns null when the server did not give its UID: the next look finds it */
  async #append({ message, to, labels }: StepOf<'append'>): Promise<Omit<AppendedMessage, 'message'> | null> {
    const session = this.#session
    const { store, intents, messages } = session.deps
    const { n } = session.account
    const due = this.#mayAppend(message)
    if (!due.isDue) {
      await session.write((tx) =>
        intents.add(tx, n, { kind: 'later', message, folder: null, key: null, messageId: null, at: due.at }),
      )
      return null
    }
    const placement = store.programs.mail.placements(session.mail, [message]).get(message)
    const content = store.programs.mail.contents([message]).get(message)
    if (placement === undefined || content === undefined) return null
    const messageId = bareId(store.programs.mail.internetIds([message]).get(message) ?? null)
    const stored = await this.#stored(message, content)
    if (stored === null) return null
    const bytes = withCrlf(stored)
    const { receivedAt } = placement
    const head = { objectId: null, messageId, sizeBytes: bytes.length, receivedAt }
    const key = messageKey(head, session.facts.hasExactSizes)
    const mayBeThere = (due.isSent && messageId !== null) || messages.erased.isIn(to.n)
    if (mayBeThere && (await this.#commands.open(to.n, [message], true)) === undefined) {
      await this.#commands.later([message])
      return null
    }
    if (mayBeThere && (await this.#isPutBack(to, message, { ...head, key, digest: contentDigest(bytes) }))) return null
    const saved = due.isSent && messageId !== null ? ((await session.server.find(messageId)).at(-1) ?? null) : null
    const tries = this.#commands.triesOf(message)
    const intent = await session.write((tx) =>
      intents.add(tx, n, { kind: 'append', message, folder: to.n, key: hexOf(key), messageId, at: null, tries }),
    )
    if (saved !== null) return { intent, uid: saved, isNew: false }
    let uid: number | null = null
    await this.#commands.tryIntents('append', { intents: [intent], messages: [message] }, async () => {
      const flags = keywordsIn(placement.keywords).filter((mark) => this.#commands.takes(to.n, mark))
      const append = () => session.server.append(to.path, bytes, flags.map(flagOf), receivedAt)
      uid = await this.#storeThere(to, content.sizeBytes, () =>
        messageId === null && !session.facts.hasUidPlus ? this.#newUid(to, append) : append(),
      )
      if (uid === null) await session.write((tx) => intents.answered(tx, [intent]))
      if (labels.length > 0 && uid !== null) await this.#labelNew(to, uid, labels)
    })
    return uid === null ? null : { intent, uid, isNew: true }
  }

  /**
   * Stores a message that nothing finds where the server gives it another time of receipt or other bytes, and names no UID: it is the one
   * that is new in the folder. @returns null when several are
   */
  async #newUid({ path }: RemoteFolder, append: () => Promise<number | null>): Promise<number | null> {
    const session = this.#session
    const before = await session.select(path)
    await append()
    const { uidNext } = await session.select(path)
    if (uidNext <= before.uidNext) return null
    const [uid, ...others] = uidsOf(await session.server.uids([[before.uidNext, uidNext - 1]]))
    return uid === undefined || others.length > 0 ? null : uid
  }

  /** Null for a message whose content is damaged: it is left for later, and the others are sent. */
  async #stored(message: number, content: MailContent): Promise<Uint8Array | null> {
    try {
      const { mail } = this.#session.deps.store.programs
      return await readFully(mail.bytes(content, 0, content.sizeBytes), content.sizeBytes)
    } catch (error) {
      if (!(error instanceof DamagedContent)) throw error
      this.#commands.reason = error.message
      await this.#commands.later([message], error.message)
      return null
    }
  }

  /** Notes when there is no room for a message: larger ones are not sent in this run. */
  async #storeThere<T>(to: RemoteFolder, sizeBytes: number, append: () => Promise<T>): Promise<T> {
    try {
      return await append()
    } catch (error) {
      const before = this.#fullFrom.get(to.n) ?? Number.POSITIVE_INFINITY
      if (isRefusal(error) && error.kind === 'quota') {
        this.#fullFrom.set(to.n, Math.min(before, sizeBytes))
        this.#fullReason = error.message
      }
      throw error
    }
  }

  /** Whether a message was deleted here, is still in the folder there, and is here again: it is the same one then. */
  async #isPutBack(to: RemoteFolder, message: number, head: PutBackHead): Promise<boolean> {
    const session = this.#session
    const { messages, folders } = session.deps
    const { n } = session.account
    const isErased = ({ folder, uid, state }: RemoteMessage) => folder === to.n && uid > 0 && state === CONTENT.erased
    const erased = messages.withKeys(n, [head.key]).filter(isErased)
    // Without a name the key may be the key of another message.
    const isSame = ({ digest }: RemoteMessage) =>
      head.messageId !== null || (digest !== null && hexOf(digest) === hexOf(head.digest))
    const row = erased.find(isSame) ?? (await this.#erasedWithId(to, head))
    if (row === undefined) return false
    await session.write((tx) => {
      const known = { message, state: CONTENT.known, tries: 0, triedAt: null, skipReason: null }
      messages.setContent(tx, row.folder, row.uid, known)
      compareAgain(tx, session, new FolderMap(folders.list(n, tx), session.areLabels), [message])
    })
    return true
  }

  async #erasedWithId(to: RemoteFolder, { messageId, sizeBytes }: PutBackHead): Promise<RemoteMessage | undefined> {
    const { server, facts, deps } = this.#session
    if (messageId === null || !deps.messages.erased.isIn(to.n)) return undefined
    const spans = spansOf(await server.find(messageId))
    const erased = deps.messages.in(to.n, spans, PUT_BACK_MAX).filter(({ state }) => state === CONTENT.erased)
    if (erased.length === 0) return undefined
    const heads = await server.heads(spansOf(erased.map(({ uid }) => uid)))
    const isSame = (uid: number) =>
      heads.some((one) => one.uid === uid && (!facts.hasExactSizes || one.sizeBytes === sizeBytes))
    return erased.find(({ uid }) => isSame(uid))
  }

  async #labelNew(to: RemoteFolder, uid: number, labels: readonly string[]): Promise<void> {
    await this.#session.select(to.path)
    await this.#session.server.label([[uid, uid]], { add: labels, remove: [] })
  }

  /** Base rows of messages that were stored there, as the server describes them. */
  async #noteAppended(n: number, created: readonly AppendedMessage[]): Promise<void> {
    const session = this.#session
    const { folders, intents, states } = session.deps
    const folder = folders.get(n)
    if (folder === undefined) return
    let opened: OpenedFolder
    try {
      opened = await session.select(folder.path)
    } catch (error) {
      // The look at the folder finds them by their intents.
      if (!isRefusal(error)) throw error
      return this.#commands.noteRefusal('select', error)
    }
    const isBack = opened.uidNext < (folder.uidNext ?? 0)
    if (folder.uidValidity !== null && (opened.uidValidity !== folder.uidValidity || isBack)) return
    const spans: UidSpan[] = spansOf(created.map(({ uid }) => uid))
    const heads = new Map((await session.server.heads(spans)).map((head) => [head.uid, head]))
    await session.write((tx) => {
      for (const { message, intent, uid, isNew } of created) {
        const head = heads.get(uid)
        if (head === undefined) continue
        this.#commands.add(tx, rowOf(n, message, head, session.facts.hasExactSizes))
        intents.remove(tx, [intent])
        if (isNew) states.carried(tx, 'out', 1)
      }
    })
  }
}

function rowOf(folder: number, message: number, head: RemoteHead, hasExactSizes: boolean): RemoteMessage {
  return {
    ...{ folder, uid: head.uid, message, marks: [...seenMarks(head.flags, head.labels)] },
    ...{ labels: head.labels && [...head.labels], key: messageKey(head, hasExactSizes) },
    ...{ state: CONTENT.known, tries: 0, triedAt: null, skipReason: null, digest: null },
  }
}
