// Imports a message unchanged (docs/design/mailbox.md §15).

import { DAY_MS } from '../../../base/durations.ts'
import { entryFile } from '../../../base/entry.ts'
import { conflict, invalid } from '../../../base/errors.ts'
import { freeBytes } from '../../../base/free-bytes.ts'
import type { Context } from '../../../context.ts'
import type { Tx } from '../../../db/db.ts'
import { answer, route } from '../../../http/route.ts'
import { bytesOf } from '../../../mime/chunks.ts'
import { readFully } from '../../../store/content/pack-content.ts'
import type { ImportTarget } from '../../../store/mailbox/imports.ts'
import type { Account, MessageAuthentication } from '../../../store/rows/records.ts'
import type { MessageReading } from '../../../workers/inspection.ts'
import { writableAccountOf, writableMailbox } from '../../rules/account.ts'
import { MessageSummaryJson, presentSummary } from '../../schemas/message-summary.ts'
import { requireRoom } from '../contents/attachments.ts'
import { IMPORT_BODY_LIMIT, NewImport, type ReadImport, reader } from './import-body.ts'

/** docs/design/receiving.md §1: the limit for received messages too. Bytes. */
export const MAIL_BYTES_MAX = 52_428_800
const IMPORTS_AT_ONCE = 4
// Tolerance for a client whose clock is ahead: such a time means now.
const AHEAD_MS = DAY_MS

const UNCHECKED: MessageAuthentication = {
  spf: 'none',
  dkim: 'none',
  dmarc: 'none',
  arc: 'none',
  fromAligned: false,
  reasons: ['Imported by a client: no checks were made.'],
}

export const importMessage = route({
  method: 'POST',
  path: '/mailbox/messages/import',
  docs: {
    operation: 'importMessage',
    tag: 'Messages',
    summary: 'Import a message unchanged',
    description:
      'The message passes no filters and causes no event. A message whose bytes the mailbox already has is not stored again: the ' +
      'response is then 200 with the existing message, unchanged. 409 when the mailbox is full; 422 for content without a message ' +
      'header (RFC 5322) or with more than 52,428,800 bytes; 429 for more than 4 at a time.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'message_import' },
  idempotent: true,
  limits: { maxConcurrent: IMPORTS_AT_ONCE },
  body: {
    schema: NewImport,
    limit: IMPORT_BODY_LIMIT,
    reader: { ...reader, thread: entryFile(new URL('./import-body-thread.ts', import.meta.url)).href },
  },
  reply: {
    schema: MessageSummaryJson,
    status: 201,
    otherwise: 'The mailbox already has these bytes: the existing message.',
  },
  async handle({ body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const {
      edit: { imports },
      read: { messages },
      blobs,
    } = app.store
    const receivedAt = timeOf(body.receivedAt, app.clock.now())
    imports.folders(account, body.folderIds)
    const source = await contentOf(app, account, body)
    const reading = await app.memory.during(source.sizeBytes, account.mailboxId, async () => {
      const read = requireMessage(source.field, await app.inspector.read(source.sizeBytes, source.load))
      if (imports.messageWithContent(account, read.hash) === undefined) requireRoom(app, account, read.sizeBytes)
      await blobs.putAll([read])
      freeBytes(bytesOf(read))
      return read
    })
    const { hash, sizeBytes, message: parsed, arrivedAt } = reading
    return app.db.write((tx) => {
      const taken = imports.import(tx, intoOf(tx, app, account), {
        ...{ parsed, hash, sizeBytes, folderIds: body.folderIds, keywords: body.keywords },
        receivedAt: receivedAt ?? plausibleTime(arrivedAt, app.clock.now()),
        authentication: UNCHECKED,
        spam: { score: 0, isSpam: false, reasons: [] },
        envelope: { mailFrom: '', rcptTo: '' },
      })
      if (taken.outcome === 'full') throw conflict('The mailbox is full. Delete messages or ask for a larger quota.')
      const { id, outcome } = taken
      const made = answer({
        data: presentSummary(messages.summary(account, id, tx)!),
        status: outcome === 'new' ? 201 : 200,
        headers: { Location: `/api/v1/mailbox/messages/${id}` },
      })
      request.keep(tx, made)
      return made
    })
  },
})

/** The destination of an import with its remaining space. @throws ProductError conflict when it is now suspended or deleted */
export function intoOf(tx: Tx, app: Context, account: Account): ImportTarget {
  const mailbox = writableMailbox(tx, app, account)
  return { account, ownAddresses: [mailbox.email.toLowerCase()], quotaBytes: mailbox.quotaBytes }
}

/** The message to import. */
interface ImportSource {
  field: 'raw' | 'blob_id'
  sizeBytes: number
  load(): Promise<Uint8Array>
}

/** @throws ProductError validation_error on `blob_id` */
async function contentOf(app: Context, account: Account, { content }: ReadImport): Promise<ImportSource> {
  if (content instanceof Uint8Array) return { field: 'raw', sizeBytes: content.length, load: async () => content }
  const found = await app.store.read.contents.find(account, content.blobId)
  if (found === undefined)
    throw invalid('blob_id', 'not_found', 'The mailbox has no content with this id. Upload it first.')
  const { range, sizeBytes } = found
  if (sizeBytes > MAIL_BYTES_MAX)
    throw invalid('blob_id', 'too_big', `The message is too large. A message has at most ${MAIL_BYTES_MAX} bytes.`)
  const load = () => readFully(app.store.read.contents.read(range, 0, sizeBytes), sizeBytes)
  return { field: 'blob_id', sizeBytes, load }
}

function requireMessage(field: string, reading: MessageReading): MessageReading {
  if (!reading.isMessage)
    throw invalid(field, 'invalid_format', 'The content is not a message: it has no header (RFC 5322).')
  return reading
}

/** @throws ProductError validation_error on `received_at` */
function timeOf(given: number | null, now: number): number | null {
  if (given === null) return null
  if (given < 0) throw invalid('received_at', 'too_small', 'The time is before 1970. Send the time of receipt.')
  if (given > now + AHEAD_MS)
    throw invalid('received_at', 'too_big', 'The time is in the future. Send the time of receipt.')
  return Math.min(given, now)
}

/** Times in the header are not trusted: a time in the future counts as now. */
function plausibleTime(arrivedAt: number | null, now: number): number {
  return arrivedAt === null || arrivedAt < 0 || arrivedAt > now ? now : arrivedAt
}
