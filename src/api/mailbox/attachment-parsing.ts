// What is in a file, for whoever cannot open it.

import { Type } from 'typebox'
import { PROGRAM_VERSION } from '../../config/version.ts'
import type { FileToRead } from '../../content/extract/extracted-content.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id } from '../../http/schema.ts'
import { gatherBytes } from '../../store/gather.ts'
import { ParsedFile, presentParsed } from '../schemas/parsed-file.ts'
import { accountOf } from './account.ts'
import { fileOf } from './attachments.ts'
import { MAILBOX_LIMITS } from './limits.ts'

const AT_ONCE = 4

const parseAttachment = route({
  method: 'GET',
  path: '/mailbox/attachments/{attachment_id}/parsed',
  operation: 'getParsedAttachment',
  tag: 'Messages',
  summary: 'Gives the text of a file, what an archive lists, or the size of a picture.',
  description:
    'Text files, CSV and TSV, JSON, XML, HTML (without hidden words), calendars, mails, ZIP and tar archives (listed, not unpacked), ' +
    'pictures, and the text of docx, xlsx, pptx and OpenDocument files; PDF where the operator has set it up. 429 for more than 4 ' +
    'at a time.',
  as: 'mailbox',
  permission: 'mailbox.read',
  maxConcurrent: AT_ONCE,
  params: Type.Object({ attachment_id: Id('attachment') }),
  query: Type.Object({
    body_chars: Default(
      Type.Integer({
        minimum: 0,
        maximum: MAILBOX_LIMITS.body_chars_max,
        description: 'Characters (Unicode code points) of the text; the rest is cut.',
      }),
      MAILBOX_LIMITS.message_body_chars_default,
    ),
  }),
  reply: ParsedFile,
  etag: true,
  async handle({ params: { attachment_id: id }, query, principal, app, request }) {
    const account = await accountOf(app, principal)
    const { filename, contentType: type, sizeBytes, place } = await fileOf(app, account, id)
    const read = async (): Promise<FileToRead> => {
      const bytes = await gatherBytes(app.store.contents.read(place, 0, sizeBytes), sizeBytes)
      return { bytes, filename, type, charset: place.charset }
    }
    const data = presentParsed(id, await app.extractor.extract(sizeBytes, read, request.signal), query.body_chars)
    // What `body_chars` cuts is no part of the version.
    const { status, kind, metadata, entries } = data
    return answer({ data, version: { attachment_id: id, status, kind, metadata, entries, program: PROGRAM_VERSION } })
  },
})

export const attachmentParsing = [parseAttachment]
