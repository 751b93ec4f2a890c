// Links messages that mail programs store in Sent with what they submitted: there is one message in Sent, theirs (docs/design/mail-programs.md §3).

import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { KEYWORDS_MAX } from '../entries/keywords.ts'
import { readDetail } from '../messages/detail.ts'
import type { MessageEdits } from '../messages/edits.ts'
import type { Folders } from '../rows/folders.ts'
import type { Account, MessageDetail } from '../rows/records.ts'
import type { Drafts } from './drafts.ts'
import type { ImportedMessage, ImportResult, Imports, ImportTarget } from './imports.ts'
import type { LinkableSubmission, Submissions } from './submissions.ts'

/** How long after a submission a message is linked to it, ms. */
export const LINKED_FOR_MS = DAY_MS

/** Submissions of one Message-ID that are looked at. */
const CANDIDATES_MAX = 10

interface Deps {
  clock: Clock
  folders: Folders
  imports: Imports
  edits: MessageEdits
  drafts: Drafts
  submissions: Submissions
}

export class SentLinks {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Stores a message that a mail program appends to Sent. If it has the Message-ID of a submission of the last day, it belongs to that
   * submission from now on, and replaces the copy that the appliance keeps in Sent: with its keywords and its Bcc recipients.
   */
  append(tx: Tx, target: ImportTarget, imported: ImportedMessage): ImportResult {
    const { imports, submissions } = this.#deps
    const submission = this.#submissionOf(tx, target.account, imported.parsed.messageId)
    if (submission === undefined) return imports.import(tx, target, imported)
    const copy = this.#copyOf(tx, target.account, submission)
    const stored = imports.import(tx, roomInsteadOf(target, copy), copy === null ? imported : merged(imported, copy))
    if (stored.outcome !== 'new') return stored
    const { threadId } = readDetail(tx, target.account, stored.id)!
    submissions.link(tx, submission, { id: stored.id, threadId })
    if (copy !== null) this.#replace(tx, target.account, copy.id, stored.id)
    return stored
  }

  /** Bytes that {@link append} of a message with this Message-ID frees: those of the copy that it replaces. */
  replacedBytes(reader: Reader, account: Account, internetMessageId: string | null): number {
    const submission = this.#submissionOf(reader, account, internetMessageId)
    return submission === undefined ? 0 : freedBytes(this.#copyOf(reader, account, submission))
  }

  #submissionOf(reader: Reader, account: Account, internetMessageId: string | null): LinkableSubmission | undefined {
    if (internetMessageId === null) return undefined
    const { clock, submissions } = this.#deps
    const since = clock.now() - LINKED_FOR_MS
    const found = submissions.withMessageId(reader, account, { internetMessageId, since, limit: CANDIDATES_MAX })
    // What a mail program has stored before stays: a message that is stored twice is there twice.
    return found.find(
      ({ messageId, keepsCopy }) =>
        messageId === null || keepsCopy || readDetail(reader, account, messageId) === undefined,
    )
  }

  /** The copy that the appliance keeps; null without one, and when it is no longer in Sent. */
  #copyOf(reader: Reader, account: Account, { messageId }: LinkableSubmission): MessageDetail | null {
    const copy = messageId === null ? undefined : readDetail(reader, account, messageId)
    const sent = this.#deps.folders.byRole(account.n, 'sent', reader)
    return copy?.folderIds.includes(sent.id) ? copy : null
  }

  #replace(tx: Tx, account: Account, copy: string, by: string): void {
    const { folders, edits, drafts } = this.#deps
    // A submission that is canceled later gives back its draft.
    drafts.moveTo(tx, account, copy, by)
    edits.removeFromFolder(tx, account, folders.byRole(account.n, 'sent', tx).id, [copy], false)
  }
}

/** The quota as it is without the copy. */
function roomInsteadOf(target: ImportTarget, copy: MessageDetail | null): ImportTarget {
  return { ...target, quotaBytes: target.quotaBytes + freedBytes(copy) }
}

/** A copy that is in another folder as well stays there. */
function freedBytes(copy: MessageDetail | null): number {
  return copy?.folderIds.length === 1 ? copy.sizeBytes : 0
}

function merged(imported: ImportedMessage, copy: MessageDetail): ImportedMessage {
  const { parsed, keywords } = imported
  const bcc = parsed.bcc.length > 0 ? parsed.bcc : copy.bcc
  return {
    ...imported,
    parsed: { ...parsed, bcc },
    keywords: [...new Set([...keywords, ...copy.keywords])].slice(0, KEYWORDS_MAX),
  }
}
