// Which of several messages a new one in a folder is, where their keys are equal: decided by content.

import { CONTENT } from '../ledger/content-state.ts'
import { type Intent, OpenIntents } from '../ledger/intents.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { hexOf, isNamed, messageKey } from '../model/message-key.ts'
import type { RemoteHead } from '../model/server.ts'
import { digestHere, digestOf, digestsThere } from '../session/content-digest.ts'
import type { SyncSession } from '../session/sync-session.ts'

/** What contents say of new messages whose keys do not decide. */
export class ContentEvidence {
  /** Digests at the server by UID; null: the server does not give the content. */
  readonly #heads = new Map<number, string | null>()
  /** Digests of messages as they were last seen, by folder and UID. */
  readonly #rows = new Map<string, string | null>()
  /** Digests of messages here that are about to appear, by number. */
  readonly #messages = new Map<number, string | null>()

  /** Reads what is needed to tell messages apart. Called again, it adds what is not known yet. */
  async read(session: SyncSession, folder: RemoteFolder, heads: readonly RemoteHead[]): Promise<void> {
    const keyOf = (head: RemoteHead) => hexOf(messageKey(head, session.facts.hasExactSizes))
    const groups = Map.groupBy(
      heads.filter(({ objectId }) => objectId === null),
      keyOf,
    )
    const keys = [...groups.keys()].map((key) => new Uint8Array(Buffer.from(key, 'hex')))
    const gone = session.deps.messages.withKeys(session.account.n, keys).filter(({ uid }) => uid < 0)
    const byKey = Map.groupBy(gone, ({ key }) => hexOf(key))
    const intents = this.#intentsOf(session, folder, heads)
    for (const [key, group] of groups) {
      const rows = byKey.get(key) ?? []
      // A server may have given what it was sent another time of receipt, and so another key.
      const announced = isNamed(group[0]!) ? [] : intents.filter(({ messageId }) => messageId === null)
      if (!isAmbiguous(group, rows, announced)) continue
      await this.#readHeads(session, folder, group)
      const [{ sizeBytes }] = group as [RemoteHead, ...RemoteHead[]]
      for (const row of rows) this.#rows.set(nameOf(row), await digestOf(session, row, sizeBytes))
      for (const { message } of announced) {
        const known = this.#messages.get(message) ?? (await digestHere(session, message, sizeBytes))
        this.#messages.set(message, known)
      }
    }
  }

  #intentsOf({ deps, account }: SyncSession, folder: RemoteFolder, heads: readonly RemoteHead[]): readonly Intent[] {
    return heads.every(isNamed) ? [] : new OpenIntents(deps.intents, account.n, folder.n).all()
  }

  async #readHeads(session: SyncSession, folder: RemoteFolder, heads: readonly RemoteHead[]): Promise<void> {
    const uids = heads.map(({ uid }) => uid).filter((uid) => !this.#heads.has(uid))
    if (uids.length === 0) return
    await session.ensure(folder.path)
    const digests = await digestsThere(session, folder.n, uids)
    for (const uid of uids) this.#heads.set(uid, digests.get(uid) ?? null)
  }

  /** Whether the key of a new message does not decide which one it is. */
  isUnsure({ uid }: RemoteHead): boolean {
    return this.#heads.has(uid)
  }

  /** Whether a new message may be one that is gone from a folder: an equal key is enough unless it does not decide. */
  mayBe({ uid }: RemoteHead, row: RemoteMessage): boolean {
    const digest = this.#heads.get(uid)
    return digest === undefined || (digest !== null && this.#rows.get(nameOf(row)) === digest)
  }

  /** Whether a new message has the content of one here that is about to appear; null: not known. */
  isOf({ uid }: RemoteHead, { message }: Intent): boolean | null {
    const [there, here] = [this.#heads.get(uid), this.#messages.get(message)]
    return there == null || here == null ? null : there === here
  }
}

/** A message without a name may have the key of another one; of messages with one name several may be gone, or new. */
function isAmbiguous(
  heads: readonly RemoteHead[],
  gone: readonly RemoteMessage[],
  announced: readonly Intent[],
): boolean {
  if (gone.length + announced.length === 0) return false
  if (!isNamed(heads[0]!)) return true
  const isUnread = ({ state }: RemoteMessage) => state === CONTENT.missing
  const messages = new Set(gone.filter((row) => !isUnread(row)).map((row) => row.message ?? nameOf(row)))
  if (messages.size < 2 && heads.length < 2) return false
  // Copies of one content: it does not matter which is which.
  const [first] = gone
  return !gone.every(({ digest }) => digest !== null && hexOf(digest) === hexOf(first!.digest ?? new Uint8Array()))
}

function nameOf({ folder, uid }: RemoteMessage): string {
  return `${folder} ${uid}`
}
