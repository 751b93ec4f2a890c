// Files of a mailbox: upload, metadata, download with ranges, deletion.

import { Type } from 'typebox'
import { entryFile } from '../../../base/entry.ts'
import { conflict, notFound } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { strongEtag } from '../../../http/etag.ts'
import { answer, bytes, route } from '../../../http/route.ts'
import { Default, Id, Words } from '../../../http/schema.ts'
import type { StoredContent } from '../../../store/content/blobs.ts'
import { packContent } from '../../../store/content/pack-content.ts'
import type { Upload } from '../../../store/content/uploads.ts'
import type { StoredFile } from '../../../store/mailbox/contents.ts'
import { uploadedFile } from '../../../store/mailbox/contents.ts'
import type { Account } from '../../../store/rows/records.ts'
import { accountOf, writableAccountOf, writableMailbox } from '../../rules/account.ts'
import { AttachmentFile, presentFile } from '../../schemas/attachment-file.ts'
import { DeletedOf } from '../../schemas/deleted.ts'
import { contentDisposition, downloadType, SANDBOX } from './download.ts'
import { NewUpload, raw, reader, UPLOAD_BODY_LIMIT } from './upload-body.ts'

const params = Type.Object({ attachment_id: Id('attachment') })
const UPLOADS_AT_ONCE = 4

const uploadAttachment = route({
  method: 'POST',
  path: '/mailbox/attachments',
  docs: {
    operation: 'createAttachment',
    tag: 'Messages',
    summary: 'Upload a file, to send or import it by its `blob_id`',
    description:
      'As JSON, or as the bytes themselves under any other Content-Type with `?filename=`. An upload that no message uses is ' +
      'deleted after 24 hours. 413 above `attachment_upload_bytes_max` bytes; 409 when the mailbox is full, or more than 100 MiB ' +
      'or 1,000 uploads of the last hour are unused; 429 for more than 4 at a time.',
  },
  access: { as: 'mailbox', permission: ['mailbox.write', 'email.send'] },
  idempotent: true,
  limits: { maxConcurrent: UPLOADS_AT_ONCE },
  query: Type.Object({
    filename: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'File name when the body is the file itself.' }),
    ),
  }),
  body: {
    schema: NewUpload,
    limit: UPLOAD_BODY_LIMIT,
    reader: { ...reader, thread: entryFile(new URL('./upload-body-thread.ts', import.meta.url)).href },
    raw,
  },
  reply: { schema: AttachmentFile, status: 201 },
  async handle({ body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const { filename, contentType } = body
    const content = body.content instanceof Uint8Array ? await gather(app, body.content) : body.content
    const { hash: sha256, sizeBytes } = content
    requireRoom(app, account, sizeBytes)
    await app.store.blobs.putAll([content])
    return app.db.write((tx) => {
      writableMailbox(tx, app, account)
      const upload = app.store.edit.uploads.add(tx, account, { filename, contentType, sizeBytes, sha256 })
      const made = answer({
        data: show(app, account, uploadedFile(upload)),
        headers: { Location: `/api/v1/mailbox/attachments/${upload.id}` },
      })
      request.keep(tx, made)
      return made
    })
  },
})

const readAttachment = route({
  method: 'GET',
  path: '/mailbox/attachments/{attachment_id}',
  docs: {
    operation: 'getAttachment',
    tag: 'Messages',
    summary: 'Get the metadata of a file: a part of a message, or an upload',
    description: 'Name, type, size and SHA-256; `getAttachmentContent` has the bytes.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params,
  reply: { schema: AttachmentFile, etag: true },
  handle({ params: { attachment_id }, principal, app }) {
    const account = accountOf(app, principal)
    return show(app, account, fileOf(app, account, attachment_id))
  },
})

const downloadAttachment = route({
  method: 'GET',
  path: '/mailbox/attachments/{attachment_id}/content',
  docs: {
    operation: 'getAttachmentContent',
    tag: 'Messages',
    summary: 'Download a file',
    description:
      'Supports ranges and has a strong ETag. The type is that of the file, but `application/octet-stream` for types a browser ' +
      'would execute (HTML, SVG, XML, scripts). The bytes are decoded, unmodified and not scanned.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params,
  query: Type.Object({
    disposition: Default(Words(['attachment', 'inline'], 'Value of Content-Disposition.'), 'attachment'),
  }),
  reply: { types: ['*/*'], schema: Type.String({ description: 'The bytes.' }) },
  handle({ params: { attachment_id }, query, principal, app }) {
    const account = accountOf(app, principal)
    const { contents } = app.store.read
    const file = fileOf(app, account, attachment_id)
    return bytes({
      type: downloadType(file.contentType),
      sizeBytes: file.sizeBytes,
      etag: strongEtag(file.sha256),
      headers: { 'Content-Disposition': contentDisposition(query.disposition, file.filename), ...SANDBOX },
      read: (start, end) => contents.open(file.range, start, end),
    })
  },
})

const deleteAttachment = route({
  method: 'DELETE',
  path: '/mailbox/attachments/{attachment_id}',
  docs: {
    operation: 'deleteAttachment',
    tag: 'Messages',
    summary: 'Delete an upload',
    description:
      '409 for a part of a message, and for an upload whose content a message uses: both are deleted with the message.',
  },
  access: { as: 'mailbox', permission: ['mailbox.write', 'email.send'] },
  params,
  reply: { schema: DeletedOf('attachment'), etag: true },
  async handle({ params: { attachment_id: id }, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const file = fileOf(app, account, id)
    if (file.messageId !== null) throw conflict('This file is part of a message. Delete the message instead.')
    const matches = (current: Upload) => request.matches(show(app, account, uploadedFile(current)))
    await app.db.writeFreeing((tx) => app.store.edit.uploads.remove(tx, account, id, matches))
    return { deleted: true, id }
  },
})

/** @throws ProductError not_found */
export function fileOf(app: Context, account: Account, id: string): StoredFile {
  const file = app.store.read.contents.file(account, id)
  if (file === undefined) throw notFound('attachment')
  return file
}

/** Packs content that came in JSON; raw uploads were packed while they were received. */
function gather(app: Context, bytes: Uint8Array): Promise<StoredContent> {
  return packContent(app.virusScan?.watch([bytes], 'content') ?? [bytes])
}

function show(app: Context, account: Account, file: StoredFile): AttachmentFile {
  return presentFile(file, app.store.read.blobNames.of(account.mailboxId))
}

/** docs/design/mailbox.md §9: a full mailbox accepts no uploads. @throws ProductError conflict */
export function requireRoom(app: Context, account: Account, sizeBytes: number): void {
  const mailbox = app.directory.mailboxes.byId(account.mailboxId)
  if (mailbox === undefined) throw notFound('mailbox')
  if (account.usedBytes + sizeBytes > mailbox.quotaBytes)
    throw conflict('The mailbox is full. Delete messages or ask for a larger quota.')
}

export const attachments = [uploadAttachment, readAttachment, downloadAttachment, deleteAttachment]
