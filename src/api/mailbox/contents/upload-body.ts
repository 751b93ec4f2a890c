// Reads an uploaded file, from JSON or from the body itself (docs/design/mailbox.md §10).

import { createHash } from 'node:crypto'
import libmime from 'libmime'
import { Type } from 'typebox'
import { ProductError } from '../../../base/errors.ts'
import type { BodyReader } from '../../../http/body-plan.ts'
import type { RawBody } from '../../../http/route.ts'
import { checkPlainName, checkType, decodeContent } from '../../../mime/compose/attachment-rules.ts'
import type { StoredContent } from '../../../store/content/blobs.ts'
import { packContent } from '../../../store/content/pack-content.ts'
import { MAILBOX_LIMITS } from '../../schemas/limits.ts'
import { record } from '../../schemas/record.ts'

const LIMIT = MAILBOX_LIMITS.attachment_upload_bytes_max
const NAME_MAX = 255

/** Largest JSON body: the largest file in base64, and its name. Bytes. */
export const UPLOAD_BODY_LIMIT = Math.ceil(LIMIT / 3) * 4 + 65_536

/** A file with a valid name and type. */
export interface GivenFile {
  filename: string
  contentType: string
  /** Its bytes, or the packed form they are stored in. */
  content: Uint8Array | StoredContent
}

export const NewUpload = record(
  'AttachmentUpload',
  'A file to send or import later.',
  {
    filename: Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'File name without a path.' }),
    content: Type.String({
      minLength: 1,
      contentEncoding: 'base64',
      description: 'Base64 with padding, on one line; at most `attachment_upload_bytes_max` bytes when decoded.',
      examples: ['SGVsbG8='],
    }),
    type: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: NAME_MAX,
        description: 'Media type; derived from the extension by default.',
      }),
    ),
  },
  { filename: 'report.txt', content: 'SGVsbG8=', type: 'text/plain' },
)

export const reader: BodyReader<GivenFile> = {
  schema: NewUpload,
  read(body) {
    const { filename, content, type } = body as { filename: string; content: string; type?: string }
    const named = describe(filename, type)
    const decoded = decodeContent('content', content)
    if (decoded.length > LIMIT)
      throw new ProductError('payload_too_large', `The file is too large. A file has at most ${LIMIT} bytes.`)
    // Node cuts small buffers from a pool, and posting one to another thread would copy the whole pool.
    return {
      ...named,
      content: decoded.length === decoded.buffer.byteLength ? decoded : new Uint8Array(decoded),
    }
  },
}

/** The file as the body itself: packed while it is received, so that no more of it is in memory. */
export const raw: RawBody<GivenFile> = {
  limit: LIMIT,
  async take({ type, query, bytes, app }) {
    const { filename } = query as { filename?: string }
    if (filename === undefined) {
      const message = 'filename is missing. When the body is the file itself, send its name in the query.'
      throw new ProductError('missing_parameter', message, { param: 'filename' })
    }
    // The default Content-Type of curl says nothing about the file.
    const isSilent = /^application\/(?:x-www-form-urlencoded|octet-stream)\b/i.test(type)
    const named = describe(filename, isSilent ? undefined : type.split(';', 1)[0]!.trim())
    const content = await packContent(app.virusScan?.watch(bytes, 'body') ?? bytes)
    if (content.sizeBytes === 0)
      throw new ProductError('missing_parameter', 'The body is empty. Send the bytes of the file.', { param: 'body' })
    const digest = createHash('sha256').update(JSON.stringify(named)).update(content.hash).digest()
    return { value: { ...named, content }, digest }
  },
}

/** @throws ProductError validation_error on `filename` or `type` */
function describe(filename: string, type: string | undefined): { filename: string; contentType: string } {
  const name = checkPlainName('filename', filename)
  return { filename: name, contentType: type === undefined ? libmime.detectMimeType(name) : checkType('type', type) }
}
