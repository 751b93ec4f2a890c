// Parses stored content that is not a message of the mailbox: uploads, and attached messages (docs/design/mailbox.md §15).

import { type Static, Type } from 'typebox'
import { route } from '../../../http/route.ts'
import { orDamaged } from '../../../store/content/damaged-content.ts'
import { readFully } from '../../../store/content/pack-content.ts'
import { accountOf } from '../../rules/account.ts'
import { BlobId } from '../../schemas/blob-id.ts'
import { MAILBOX_LIMITS } from '../../schemas/limits.ts'
import type { MessagePart } from '../../schemas/message.ts'
import { ParsedMessage, presentParsedMessage } from '../../schemas/parsed-message.ts'
import { record } from '../../schemas/record.ts'
import { bodyChars, includeList } from './message-content.ts'
import { MAIL_BYTES_MAX } from './message-import.ts'

const BLOBS_MAX = 10
const AT_ONCE = 2

export const parseMessages = route({
  method: 'POST',
  path: '/mailbox/messages/parse',
  docs: {
    operation: 'parseMessages',
    tag: 'Messages',
    summary: 'Parse stored content as messages, without importing it',
    description:
      'Content without a message header (RFC 5322), or with more than 52,428,800 bytes, is not parsable. The sender is not ' +
      'authenticated: `authentication` in `include` adds nothing. 429 for more than 2 at a time.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read', gate: 'message_parse' },
  limits: { maxConcurrent: AT_ONCE },
  body: {
    schema: record(
      'MessageParsing',
      'The blobs, and the members to return.',
      {
        blob_ids: Type.Array(BlobId('An upload, or a message attached to another one.'), {
          ...{ minItems: 1, maxItems: BLOBS_MAX, uniqueItems: true },
          description: 'Blob ids, each once.',
        }),
        body_chars: bodyChars(MAILBOX_LIMITS.message_body_chars_default),
        include: includeList,
      },
      { blob_ids: ['blob_a1b2c3d4e5f6g7h8i9j0k1l2'], body_chars: 4000, include: ['text_body', 'attachments'] },
    ),
  },
  reply: {
    schema: record('ParsedMessages', 'The parsed messages.', {
      parsed: Type.Record(Type.String(), ParsedMessage, { description: 'By blob id.' }),
      not_parsable: Type.Array(BlobId('Content that is not a message.')),
      not_found: Type.Array(BlobId('Ids the mailbox does not have.')),
      damaged: Type.Array(BlobId('Content whose stored bytes are damaged or missing.')),
    }),
  },
  async handle({ body, principal, app }) {
    const account = accountOf(app, principal)
    const include = new Set<MessagePart>(body.include)
    const wantsBody = include.has('text_body') || include.has('html_body')
    const showing = { chars: wantsBody ? body.body_chars : null, headers: include.has('headers') }
    const parsed: Record<string, Static<typeof ParsedMessage>> = {}
    const wrong: string[] = []
    const missing: string[] = []
    const damaged: string[] = []
    // Sequential: each may have the size of the largest message.
    for (const id of body.blob_ids) {
      const found = await app.store.read.contents.find(account, id)
      if (found === undefined) {
        missing.push(id)
        continue
      }
      const { range, sizeBytes } = found
      const take = () => readFully(app.store.read.contents.read(range, 0, sizeBytes), sizeBytes)
      const view = () => app.inspector.view(sizeBytes, take, showing)
      const parse = () => app.memory.during(sizeBytes, principal.mailboxId, view)
      const shown = sizeBytes > MAIL_BYTES_MAX ? null : await orDamaged(parse())
      if (shown === 'damaged') damaged.push(id)
      else if (shown?.isMessage) parsed[id] = presentParsedMessage(shown, include)
      else wrong.push(id)
    }
    return { parsed, not_parsable: wrong, not_found: missing, damaged }
  },
})
