// Mail that is not a message of the mailbox, read as if it were: uploads, and mails that are files in others (decisions §10.15).

import { type Static, Type } from 'typebox'
import { route } from '../../http/route.ts'
import { gatherBytes } from '../../store/gather.ts'
import { BlobId } from '../schemas/blob-id.ts'
import type { MessagePart } from '../schemas/message.ts'
import { ParsedMessage, presentParsedMessage } from '../schemas/parsed-message.ts'
import { record } from '../schemas/record.ts'
import { accountOf } from './account.ts'
import { MAILBOX_LIMITS } from './limits.ts'
import { bodyChars, includeList } from './message-content.ts'
import { MAIL_BYTES_MAX } from './message-import.ts'

const BLOBS_MAX = 10
const AT_ONCE = 2

export const parseMessages = route({
  method: 'POST',
  path: '/mailbox/messages/parse',
  operation: 'parseMessages',
  tag: 'Messages',
  summary: 'Shows mails the mailbox holds as content, without keeping them as messages.',
  description:
    'What has no header as a mail has one (RFC 5322), or more than 52,428,800 bytes, is not parsable. Nothing is known of the sender: ' +
    '`authentication` in `include` adds nothing. 429 for more than 2 at a time.',
  as: 'mailbox',
  permission: 'mailbox.read',
  maxConcurrent: AT_ONCE,
  body: record(
    'MessageParsing',
    'Which, and what of them.',
    {
      blob_ids: Type.Array(BlobId('An upload, or a mail that is a file in another one.'), {
        ...{ minItems: 1, maxItems: BLOBS_MAX, uniqueItems: true },
        description: 'Names of contents, each once.',
      }),
      body_chars: bodyChars(MAILBOX_LIMITS.message_body_chars_default),
      include: includeList,
    },
    { blob_ids: ['blob_a1b2c3d4e5f6g7h8i9j0k1l2'], body_chars: 4000, include: ['text_body', 'attachments'] },
  ),
  reply: record('ParsedMessages', 'What they hold.', {
    parsed: Type.Record(Type.String(), ParsedMessage, { description: 'By the name of the content.' }),
    not_parsable: Type.Array(BlobId('It is no mail.')),
    not_found: Type.Array(BlobId('The mailbox holds no such content.')),
  }),
  async handle({ body, principal, app }) {
    const account = await accountOf(app, principal)
    const include = new Set<MessagePart>(body.include)
    const wantsBody = include.has('text_body') || include.has('html_body')
    const showing = { chars: wantsBody ? body.body_chars : null, headers: include.has('headers') }
    const parsed: Record<string, Static<typeof ParsedMessage>> = {}
    const wrong: string[] = []
    const missing: string[] = []
    // One after another: each may be as large as a mail can be.
    for (const id of body.blob_ids) {
      const held = await app.store.contents.find(account, id)
      if (held === undefined) {
        missing.push(id)
        continue
      }
      const { place, sizeBytes } = held
      const take = () => gatherBytes(app.store.contents.read(place, 0, sizeBytes), sizeBytes)
      const shown = sizeBytes > MAIL_BYTES_MAX ? null : await app.inspector.view(sizeBytes, take, showing)
      if (shown?.isMessage) parsed[id] = presentParsedMessage(shown, include)
      else wrong.push(id)
    }
    return { parsed, not_parsable: wrong, not_found: missing }
  },
})
