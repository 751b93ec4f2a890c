// Messages of one mailbox are copied into another one of the team, or moved there (decisions §10.15).

import { Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../db/db.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id } from '../../http/schema.ts'
import { gatherBytes } from '../../store/gather.ts'
import type { Imported, Into } from '../../store/imports.ts'
import type { Account, MessageDetail } from '../../store/records.ts'
import { record } from '../schemas/record.ts'
import { writableAccountOf, writableMailbox } from './account.ts'
import { MAILBOX_LIMITS } from './limits.ts'
import { intoOf } from './message-import.ts'
import { FolderIds, KEYWORDS_MAX, Keywords, lower } from './message-members.ts'
import { sourceAccountOf } from './source-mailbox.ts'

const COPIES_AT_ONCE = 2
const SOURCE = 'The source mailbox'
/** Bytes of mail that one request reads; a single mail is read whatever its size. */
export const COPY_BYTES_MAX = 209_715_200
const SourceId = { ...Id('message'), description: 'In the source mailbox.' }

const MessageCopy = record(
  'MessageCopy',
  'What is copied from where, and how it is to lie here.',
  {
    source_mailbox_id: { ...Id('mailbox'), description: 'The mailbox that holds them: another one.' },
    ids: Type.Array(Id('message'), {
      ...{ minItems: 1, maxItems: MAILBOX_LIMITS.batch_ids_max, uniqueItems: true },
      description: 'Messages of the source mailbox.',
    }),
    folder_ids: Type.Optional(FolderIds('All the folders they are to lie in here; the Inbox unless given.', 1)),
    keywords: Type.Optional(Keywords('All they are to have here; those they have there unless given.', KEYWORDS_MAX)),
    delete_source: Default(
      Type.Boolean({ description: 'Erases what was copied from the source mailbox, for good.' }),
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
  operation: 'copyMessages',
  tag: 'Messages',
  summary: 'Copies messages of another mailbox of the team into this one, or moves them.',
  description:
    'A credential is for one mailbox: that of the source comes in `X-Source-Authorization` and needs `mailbox.read`, and ' +
    '`mailbox.write` for `delete_source`. Copies keep their bytes, the time they were received, and what was found about their ' +
    'sender; no event tells of them. What does not fit, or is here already with the same bytes, is not copied (and not erased there). ' +
    'At most 200 MiB are copied at once, the rest is told in `not_copied`. One unit of work; 429 for more than 2 at a time.',
  as: 'mailbox',
  permission: 'mailbox.write',
  idempotent: true,
  fromMailbox: true,
  maxConcurrent: COPIES_AT_ONCE,
  body: MessageCopy,
  reply: record('CopiedMessages', 'What became of them.', {
    copied: Type.Array(
      record('CopiedMessage', 'A message and its copy.', {
        source_id: SourceId,
        id: { ...Id('message'), description: 'The copy.' },
      }),
    ),
    not_found: Type.Array({ ...Id('message'), description: 'The source mailbox holds no such message.' }),
    not_copied: Type.Array(
      record('MessageNotCopied', 'Why one was left where it is.', {
        source_id: SourceId,
        code: Type.String(),
        message: Type.String(),
      }),
    ),
  }),
  async handle({ body, principal, app, request }) {
    const account = await writableAccountOf(app, principal)
    const { source_mailbox_id: sourceId, ids, folder_ids: folderIds = null, delete_source: isMove } = body
    if (sourceId === account.mailboxId) {
      throw invalid('source_mailbox_id', 'forbidden_value', 'Inside one mailbox messages are moved by their folders.')
    }
    const permissions = ['mailbox.read', ...(isMove ? ['mailbox.write'] : [])]
    const source = await sourceAccountOf(app, principal, request.sourceSecret, sourceId, permissions)
    if (isMove) await writableMailbox(app.db.read, app, source, SOURCE)
    await app.store.imports.folders(account, folderIds)
    const prepared = new Map<string, Prepared | 'later'>()
    let bytes = 0
    for (const id of ids) {
      const message = await app.store.messages.get(source, id)
      if (message === undefined) continue
      const isLater = bytes > 0 && bytes + message.sizeBytes > COPY_BYTES_MAX
      prepared.set(id, isLater ? 'later' : await prepare(app, message, folderIds))
      if (!isLater) bytes += message.sizeBytes
    }
    return app.db.write(async (tx) => {
      if (isMove) await writableMailbox(tx, app, source, SOURCE)
      const into = await intoOf(tx, app, account)
      const keywords = body.keywords && lower(body.keywords)
      const data = await copyIn(tx, app, { source, into, ids, prepared, keywords })
      if (isMove) {
        const gone = data.copied.map(({ source_id }) => source_id)
        await app.store.edits.eraseIn(tx, source, gone)
      }
      await request.keep(tx, { data })
      return answer({ data })
    })
  },
})

/** What was read of a message; its keywords are those it has when it is copied. */
type Prepared = Omit<Imported, 'keywords'>

interface Copying {
  source: Account
  into: Into
  ids: readonly string[]
  prepared: ReadonlyMap<string, Prepared | 'later'>
  /** Undefined: those of the source. */
  keywords: readonly string[] | undefined
}

const REASONS = {
  held: 'The mailbox holds this mail already.',
  full: 'The mailbox is full.',
  later: 'One request copies at most 200 MiB: ask for this one again.',
}

async function copyIn(tx: Tx, app: Context, { source, into, ids, prepared, keywords }: Copying) {
  const { imports, messages } = app.store
  const copied: { source_id: string; id: string }[] = []
  const missing: string[] = []
  const refused: NotCopied[] = []
  for (const id of ids) {
    const read = prepared.get(id)
    // It may have gone there meanwhile, or have been edited.
    const there = read && (await messages.summary(source, id, tx))
    if (read === undefined || there === undefined) {
      missing.push(id)
      continue
    }
    const taken =
      read === 'later'
        ? ({ outcome: 'later' } as const)
        : await imports.take(tx, into, { ...read, keywords: keywords ?? there.keywords })
    if (taken.outcome === 'new') copied.push({ source_id: id, id: taken.id })
    else refused.push({ source_id: id, code: 'conflict', message: REASONS[taken.outcome] })
  }
  return { copied, not_found: missing, not_copied: refused }
}

/**
 * Reads a message for its copy. The index of the search keeps no texts, so that they are read from the mail again; everything else is
 * as it is there.
 */
async function prepare(app: Context, message: MessageDetail, folderIds: readonly string[] | null): Promise<Prepared> {
  const { blobHash: hash, sizeBytes, receivedAt, authentication, spam, envelope, bcc } = message
  const { blobs } = app.store
  const take = () => gatherBytes(blobs.read(hash, 0, sizeBytes), sizeBytes)
  const reading = await app.inspector.read(sizeBytes, take)
  // Marked as wanted: the source may be erased before the copy is written.
  await blobs.putAll([reading])
  return {
    // Whom a sent mail hid from its readers only its record knows.
    mail: { ...reading.message, bcc },
    ...{ hash, sizeBytes, receivedAt, authentication, spam, envelope, folderIds },
  }
}
