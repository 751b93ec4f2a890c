// Mail a client brings along is kept as it is (decisions §10.15).

import { conflict, invalid } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../db/db.ts'
import { answer, route } from '../../http/route.ts'
import { gatherBytes } from '../../store/gather.ts'
import type { Into } from '../../store/imports.ts'
import type { Account, MessageAuthentication } from '../../store/records.ts'
import type { MessageReading } from '../../workers/inspection.ts'
import { MessageSummary, presentSummary } from '../schemas/message-summary.ts'
import { writableAccountOf, writableMailbox } from './account.ts'
import { requireRoom } from './attachments.ts'
import { IMPORT_BODY_LIMIT, NewImport, type ReadImport, reader } from './import-body.ts'

/** Decisions §10.16: no mail that arrives is larger either. Bytes. */
export const MAIL_BYTES_MAX = 52_428_800
const IMPORTS_AT_ONCE = 4
// A client whose clock is fast means now.
const AHEAD_MS = 86_400_000

const UNCHECKED: MessageAuthentication = {
  spf: 'none',
  dkim: 'none',
  dmarc: 'none',
  arc: 'none',
  fromAligned: false,
  reasons: ['Imported by a client: nothing was checked.'],
}

export const importMessage = route({
  method: 'POST',
  path: '/mailbox/messages/import',
  operation: 'importMessage',
  tag: 'Messages',
  summary: 'Keeps a mail as it is, to the byte.',
  description:
    'Nothing is filtered, and no event tells of it. A mail whose bytes the mailbox holds already is not kept again: the answer is ' +
    'then 200 with the message that holds it, left as it is. 409 when the mailbox is full; 422 for what has no header as a mail has ' +
    'one (RFC 5322), or more than 52,428,800 bytes; 429 for more than 4 at a time.',
  as: 'mailbox',
  permission: 'mailbox.write',
  idempotent: true,
  maxConcurrent: IMPORTS_AT_ONCE,
  body: NewImport,
  bodyLimit: IMPORT_BODY_LIMIT,
  reader: { ...reader, thread: new URL('./import-body-thread.ts', import.meta.url).href },
  reply: MessageSummary,
  status: 201,
  otherwise: 'The mailbox holds these bytes already: the message that does.',
  async handle({ body, principal, app, request }) {
    const account = await writableAccountOf(app, principal)
    const { imports, messages, blobs } = app.store
    const receivedAt = timeOf(body.receivedAt, app.clock.now())
    await imports.folders(account, body.folderIds)
    const reading = await read(app, account, body)
    const { hash, sizeBytes, message: mail, arrivedAt } = reading
    if ((await imports.holding(account, hash)) === undefined) await requireRoom(app, account, sizeBytes)
    await blobs.putAll([reading])
    return app.db.write(async (tx) => {
      const taken = await imports.take(tx, await intoOf(tx, app, account), {
        ...{ mail, hash, sizeBytes, folderIds: body.folderIds, keywords: body.keywords },
        receivedAt: receivedAt ?? past(arrivedAt, app.clock.now()),
        authentication: UNCHECKED,
        spam: { score: 0, isSpam: false, reasons: [] },
        envelope: { mailFrom: '', rcptTo: '' },
      })
      if (taken.outcome === 'full') throw conflict('The mailbox is full.')
      const { id, outcome } = taken
      const made = answer({
        data: presentSummary((await messages.summary(account, id, tx))!),
        status: outcome === 'new' ? 201 : 200,
        headers: { Location: `/api/v1/mailbox/messages/${id}` },
      })
      await request.keep(tx, made)
      return made
    })
  },
})

/** The mailbox as mail comes into it, and the room it has now. @throws ProductError conflict when it is suspended or deleted by now */
export async function intoOf(tx: Tx, app: Context, account: Account): Promise<Into> {
  const mailbox = await writableMailbox(tx, app, account)
  return { account, own: [mailbox.email.toLowerCase()], quotaBytes: mailbox.quotaBytes }
}

/** @throws ProductError validation_error on `blob_id` or `raw` */
async function read(app: Context, account: Account, { content }: ReadImport): Promise<MessageReading> {
  if (content instanceof Uint8Array) return sound('raw', await app.inspector.read(content.length, async () => content))
  const held = await app.store.contents.find(account, content.blobId)
  if (held === undefined) throw invalid('blob_id', 'not_found', 'The mailbox holds no such content.')
  const { place, sizeBytes } = held
  if (sizeBytes > MAIL_BYTES_MAX) throw invalid('blob_id', 'too_big', `A mail has at most ${MAIL_BYTES_MAX} bytes.`)
  const take = () => gatherBytes(app.store.contents.read(place, 0, sizeBytes), sizeBytes)
  return sound('blob_id', await app.inspector.read(sizeBytes, take))
}

function sound(field: string, reading: MessageReading): MessageReading {
  if (!reading.isMessage) throw invalid(field, 'invalid_format', 'This is no mail: it has no header (RFC 5322).')
  return reading
}

/** @throws ProductError validation_error on `received_at` */
function timeOf(given: number | null, now: number): number | null {
  if (given === null) return null
  if (given < 0) throw invalid('received_at', 'too_small', 'No mail was received before 1970.')
  if (given > now + AHEAD_MS) throw invalid('received_at', 'too_big', 'A mail was received in the past.')
  return Math.min(given, now)
}

/** What strangers say of the time is believed as far as it can be true. */
function past(arrivedAt: number | null, now: number): number {
  return arrivedAt === null || arrivedAt < 0 || arrivedAt > now ? now : arrivedAt
}
