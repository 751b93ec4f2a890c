// The parsed content of a file, for clients that cannot open it.

import { Type } from 'typebox'
import { PROGRAM_VERSION } from '../../../config/version.ts'
import type { FileToRead } from '../../../content/extract/extracted-content.ts'
import { answer, route } from '../../../http/route.ts'
import { Default, Id } from '../../../http/schema.ts'
import { readFully } from '../../../store/content/pack-content.ts'
import { accountOf, turnOwnerOf } from '../../rules/account.ts'
import { MAILBOX_LIMITS } from '../../schemas/limits.ts'
import { ParsedFile, presentParsed } from '../../schemas/parsed-file.ts'
import { fileOf } from './attachments.ts'

const AT_ONCE = 4

const parseAttachment = route({
  method: 'GET',
  path: '/mailbox/attachments/{attachment_id}/parsed',
  docs: {
    operation: 'getParsedAttachment',
    tag: 'Messages',
    summary: 'Get the text of a file, the entries of an archive, or the size of a picture',
    description:
      'Reads text files, CSV and TSV, JSON, XML, HTML (without hidden text), calendars, messages, ZIP and tar archives (listed, ' +
      'not unpacked), pictures, and the text of docx, xlsx, pptx and OpenDocument files; PDF where the operator has configured ' +
      'it. 429 for more than 4 at a time.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read', gate: 'attachment_parsing' },
  limits: { maxConcurrent: AT_ONCE },
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
  reply: { schema: ParsedFile, etag: true },
  async handle({ params: { attachment_id: id }, query, principal, app, request }) {
    const account = accountOf(app, principal)
    const { filename, contentType: type, sizeBytes, range } = fileOf(app, account, id)
    const read = async (): Promise<FileToRead> => {
      const bytes = await readFully(app.store.read.contents.read(range, 0, sizeBytes), sizeBytes)
      return { bytes, filename, type, charset: range.charset }
    }
    const extraction = await app.extractor.extract(sizeBytes, read, turnOwnerOf(app, account), request.signal)
    const data = presentParsed(id, extraction, query.body_chars)
    // `body_chars` does not change the version.
    const { status, kind, metadata, entries } = data
    return answer({ data, version: { attachment_id: id, status, kind, metadata, entries, program: PROGRAM_VERSION } })
  },
})

export const attachmentParsing = [parseAttachment]
