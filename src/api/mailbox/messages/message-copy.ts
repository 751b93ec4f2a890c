// Copies or moves messages of one mailbox into another one of the team (docs/design/mailbox.md §15).

import { Type } from 'typebox'
import { invalid } from '../../../base/errors.ts'
import { freeBytes } from '../../../base/free-bytes.ts'
import type { Context } from '../../../context.ts'
import type { Tx } from '../../../db/db.ts'
import { answer, route } from '../../../http/route.ts'
import { Default, Id } from '../../../http/schema.ts'
import { bytesOf } from '../../../mime/chunks.ts'
import { orDamaged } from '../../../store/content/damaged-content.ts'
import { readFully } from '../../../store/content/pack-content.ts'
import type { ImportedMessage, ImportTarget } from '../../../store/mailbox/imports.ts'
import type { Account, MessageDetail } from '../../../store/rows/records.ts'
import { writableAccountOf, writableMailbox } from '../../rules/account.ts'
import { BatchIds, FolderIds, KEYWORDS_MAX, Keywords, lower } from '../../rules/message-members.ts'
import { sourceAccountOf } from '../../rules/source-mailbox.ts'
import { record } from '../../schemas/record.ts'
import { intoOf } from './message-import.ts'

const COPIES_AT_ONCE = 2
const SOURCE = 'The source mailbox'
/** Bytes of messages one request reads; a single message is read whatever its size. */
export const COPY_BYTES_MAX = 209_715_200
const SourceId = { ...Id('message'), description: 'Message ids of the source mailbox.' }

const MessageCopy = record(
  'MessageCopy',
  'The messages to copy, their mailbox, and the properties of the copies.',
  {
    source_mailbox_id: { ...Id('mailbox'), description: 'The source mailbox; not this one.' },
    ids: BatchIds('message', 'Messages of the source mailbox.'),
    folder_ids: Type.Optional(FolderIds('All folders of the copies; the Inbox by default.', 1)),
    keywords: Type.Optional(Keywords('All keywords of the copies; those of the source by default.', KEYWORDS_MAX)),
    delete_source: Default(
      Type.Boolean({ description: 'Permanently delete the copied messages from the source mailbox.' }),
      false,
    ),
  },
  {
    source_mailbox_id: 'mbx_a1b2c3d4e5f6g7h8i9j0k1l2',
    ids: ['msg_a1b2c3d4e5f6g7h8i9j0k1l2'],
    keywords: ['$seen'],
    delete_source: false,
  },
)

interface NotCopied {
  source_id: string
  code: 'conflict'
  message: string
}

export const copyMessages = route({
  method: 'POST',
  path: '/mailbox/messages/copy',
  docs: {
    operation: 'copyMessages',
    tag: 'Messages',
    summary: 'Copy or move messages of another mailbox of the team into this one',
    description:
      'A credential belongs to one mailbox: the credential of the source mailbox is sent in `X-Source-Authorization` and needs ' +
      '`mailbox.read`, and `mailbox.write` for `delete_source`. Copies have the same bytes, time of receipt and sender ' +
      'authentication results; they cause no `message.received` event. A message that does not fit, or whose bytes are already in ' +
      'this mailbox, is not copied (and not deleted from the source). At most 200 MiB are copied at once; the rest is listed in ' +
      '`not_copied`. All changes are one transaction; 429 for more than 2 at a time.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', fromMailbox: true, gate: 'message_copy' },
  idempotent: true,
  limits: { maxConcurrent: COPIES_AT_ONCE },
  body: { schema: MessageCopy },
  reply: {
    schema: record('CopiedMessages', 'The result of the copy.', {
      copied: Type.Array(
        record('CopiedMessage', 'A source message and its copy.', {
          source_id: SourceId,
          id: { ...Id('message'), description: 'The copy.' },
        }),
      ),
      not_found: Type.Array({ ...Id('message'), description: 'Ids the source mailbox does not have.' }),
      not_copied: Type.Array(
        record('MessageNotCopied', 'Why a message was not copied.', {
          source_id: SourceId,
          code: Type.String(),
          message: Type.String(),
        }),
      ),
    }),
  },
  async handle({ body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const { source_mailbox_id: sourceId, ids, folder_ids: folderIds = null, delete_source: isMove } = body
    if (sourceId === account.mailboxId) {
      throw invalid(
        'source_mailbox_id',
        'forbidden_value',
        'The source is this mailbox. To move messages inside a mailbox, change their folders.',
      )
    }
    const permissions = ['mailbox.read', ...(isMove ? ['mailbox.write'] : [])]
    const source = sourceAccountOf(app, principal, request.sourceSecret, sourceId, permissions)
    if (isMove) writableMailbox(app.db.read, app, source, SOURCE)
    app.store.edit.imports.folders(account, folderIds)
    const prepared = new Map<string, Prepared | 'later' | 'damaged'>()
    let bytes = 0
    for (const id of ids) {
      const message = app.store.read.messages.get(source, id)
      if (message === undefined) continue
      const isLater = bytes > 0 && bytes + message.sizeBytes > COPY_BYTES_MAX
      const into = { folderIds, mailboxId: principal.mailboxId }
      prepared.set(id, isLater ? 'later' : await orDamaged(prepare(app, message, into)))
      if (!isLater) bytes += message.sizeBytes
    }
    return app.db.write((tx) => {
      if (isMove) writableMailbox(tx, app, source, SOURCE)
      const into = intoOf(tx, app, account)
      const keywords = body.keywords && lower(body.keywords)
      const data = copyIn(tx, app, { source, into, ids, prepared, keywords })
      if (isMove) {
        const gone = data.copied.map(({ source_id }) => source_id)
        app.store.edit.messages.deleteIn(tx, source, gone)
      }
      request.keep(tx, { data })
      return answer({ data })
    })
  },
})

/** A message read for its copy; its keywords are those it has at the time of the copy. */
type Prepared = Omit<ImportedMessage, 'keywords'>

interface Copying {
  source: Account
  into: ImportTarget
  ids: readonly string[]
  prepared: ReadonlyMap<string, Prepared | 'later' | 'damaged'>
  /** Undefined: those of the source. */
  keywords: readonly string[] | undefined
}

const REASONS = {
  exists: 'The mailbox already holds this message.',
  full: 'The mailbox is full.',
  damaged: 'The content of the message is damaged. The operator has to restore a backup.',
  later: 'One request copies at most 200 MiB. Request this message again.',
}

function copyIn(tx: Tx, app: Context, { source, into, ids, prepared, keywords }: Copying) {
  const {
    edit: { imports },
    read: { messages },
  } = app.store
  const copied: { source_id: string; id: string }[] = []
  const missing: string[] = []
  const refused: NotCopied[] = []
  for (const id of ids) {
    const read = prepared.get(id)
    // The message may have been deleted or edited meanwhile.
    const there = read && messages.summary(source, id, tx)
    if (read === undefined || there === undefined) {
      missing.push(id)
      continue
    }
    const taken =
      typeof read === 'string'
        ? ({ outcome: read } as const)
        : imports.import(tx, into, { ...read, keywords: keywords ?? there.keywords })
    if (taken.outcome === 'new') copied.push({ source_id: id, id: taken.id })
    else refused.push({ source_id: id, code: 'conflict', message: REASONS[taken.outcome] })
  }
  return { copied, not_found: missing, not_copied: refused }
}

/** Where the copies go. */
interface CopyTarget {
  folderIds: readonly string[] | null
  mailboxId: string
}

/**
 * Reads a message for its copy. The search index stores no texts, so they are parsed from the message again; everything else is
 * taken from the source record.
 */
async function prepare(app: Context, message: MessageDetail, { folderIds, mailboxId }: CopyTarget): Promise<Prepared> {
  const { blobHash: hash, sizeBytes, receivedAt, authentication, spam, envelope, bcc } = message
  const { blobs } = app.store
  const take = () => readFully(blobs.read(hash, 0, sizeBytes), sizeBytes)
  const reading = await app.memory.during(sizeBytes, mailboxId, async () => {
    const read = await app.inspector.read(sizeBytes, take)
    // Marked as used: the source may be erased before the copy is written.
    await blobs.putAll([read])
    freeBytes(bytesOf(read))
    return read
  })
  return {
    // Bcc recipients of a sent message are only in its record.
    parsed: { ...reading.message, bcc },
    ...{ hash, sizeBytes, receivedAt, authentication, spam, envelope, folderIds },
  }
}
