// A file given beforehand, in JSON or as its own bytes, and what becomes of it (decisions §10.10).

import { createHash } from 'node:crypto'
import libmime from 'libmime'
import { Type } from 'typebox'
import { ProductError } from '../../base/errors.ts'
import type { BodyReader } from '../../http/body-plan.ts'
import type { RawBody } from '../../http/route.ts'
import { checkPlainName, checkType, decodeContent } from '../../mime/compose/attachment-rules.ts'
import type { StoredContent } from '../../store/blobs.ts'
import { gatherContent } from '../../store/gather.ts'
import { record } from '../schemas/record.ts'
import { MAILBOX_LIMITS } from './limits.ts'

const LIMIT = MAILBOX_LIMITS.attachment_upload_bytes_max
const NAME_MAX = 255

/** Largest JSON body: the largest file in base64, and room for its name. Bytes. */
export const UPLOAD_BODY_LIMIT = Math.ceil(LIMIT / 3) * 4 + 65_536

/** A file whose name and type are checked. */
export interface GivenFile {
  filename: string
  contentType: string
  /** Its bytes, or the form they are kept in. */
  content: Uint8Array | StoredContent
}

export const NewUpload = record(
  'AttachmentUpload',
  'A file that is to be sent or imported later.',
  {
    filename: Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'Without a path.' }),
    content: Type.String({
      minLength: 1,
      contentEncoding: 'base64',
      description: 'Base64 with padding, on one line; at most `attachment_upload_bytes_max` bytes when decoded.',
      examples: ['SGVsbG8='],
    }),
    type: Type.Optional(
      Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'Media type; by the extension unless given.' }),
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
    if (decoded.length > LIMIT) throw new ProductError('payload_too_large', `A file has at most ${LIMIT} bytes.`)
    // Node cuts small ones from a pool, all of which would travel along between threads.
    return {
      ...named,
      content: decoded.length === decoded.buffer.byteLength ? decoded : new Uint8Array(decoded),
    }
  },
}

/** The file as the body itself: packed as it comes, so that no more of it is held than that. */
export const raw: RawBody<GivenFile> = {
  limit: LIMIT,
  async take({ type, query, bytes, app }) {
    const { filename } = query as { filename?: string }
    if (filename === undefined) {
      const message = 'A file that is the body itself needs the parameter filename.'
      throw new ProductError('missing_parameter', message, { param: 'filename' })
    }
    // What curl calls any body that is not told otherwise says nothing of it.
    const isSilent = /^application\/(?:x-www-form-urlencoded|octet-stream)\b/i.test(type)
    const named = describe(filename, isSilent ? undefined : type.split(';', 1)[0]!.trim())
    const content = await gatherContent(app.virusScan?.watch(bytes, 'body') ?? bytes)
    if (content.sizeBytes === 0) throw new ProductError('missing_parameter', 'The body is empty.', { param: 'body' })
    const digest = createHash('sha256').update(JSON.stringify(named)).update(content.hash).digest()
    return { value: { ...named, content }, digest }
  },
}

/** @throws ProductError validation_error on `filename` or `type` */
function describe(filename: string, type: string | undefined): { filename: string; contentType: string } {
  const name = checkPlainName('filename', filename)
  return { filename: name, contentType: type === undefined ? libmime.detectMimeType(name) : checkType('type', type) }
}
