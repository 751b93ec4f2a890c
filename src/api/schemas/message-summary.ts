// A message as in lists.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { Id } from '../../http/schema.ts'
import type { Flags as StoredFlags, MessageSummary as StoredSummary } from '../../store/rows/records.ts'
import { AddressJson, presentAddress } from './address.ts'
import { record } from './record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from './time.ts'

const Flags = record('Flags', 'The four most used system keywords, as booleans.', {
  seen: Type.Boolean({ description: 'Keyword `$seen`.' }),
  flagged: Type.Boolean({ description: 'Keyword `$flagged`.' }),
  draft: Type.Boolean({ description: 'Keyword `$draft`.' }),
  answered: Type.Boolean({ description: 'Keyword `$answered`.' }),
})

export const MessageSummaryJson = record(
  'MessageSummary',
  'A message as in lists. The sender wrote everything in it but ids, times and sizes.',
  {
    id: Id('message'),
    thread_id: Id('thread'),
    folder_ids: Type.Array(Id('folder'), {
      description: 'Folders of the message, in the order of the folder list.',
    }),
    subject: Type.String({ description: 'Decoded; "" when there is none.' }),
    preview: Type.String({
      maxLength: 256,
      description: 'Start of the text with white space folded and without quotations.',
    }),
    from: AddressJson,
    to: Type.Array(AddressJson),
    cc: Type.Array(AddressJson),
    bcc: Type.Array(AddressJson),
    received_at: TimeOf('When the appliance received the message.'),
    sent_at: TimeOrNull('The Date header; null when missing or unreadable.'),
    size_bytes: Type.Integer({ minimum: 0, description: 'Bytes of the whole message as stored.' }),
    has_attachments: Type.Boolean({ description: 'At least one part that is not shown inside the HTML body.' }),
    keywords: Type.Array(Type.String(), { description: 'System keywords (`$seen`, `$flagged`…) and labels, sorted.' }),
    flags: Flags,
  },
  {
    id: 'msg_0a1b2c3d4e5f6g7h8i9j0k1l',
    thread_id: 'thr_0a1b2c3d4e5f6g7h8i9j0k1l',
    folder_ids: ['fld_0a1b2c3d4e5f6g7h8i9j0k1l'],
    subject: 'Invoice 2030-117',
    preview: 'Hello Ana, the invoice for January is attached.',
    from: { email: 'billing@supplier.example', name: 'Supplier' },
    to: [{ email: 'ana@shop.example', name: 'Ana' }],
    cc: [],
    bcc: [],
    received_at: '2030-01-02T03:04:05.000Z',
    sent_at: '2030-01-02T03:04:01.000Z',
    size_bytes: 48213,
    has_attachments: true,
    keywords: ['$seen'],
    flags: { seen: true, flagged: false, draft: false, answered: false },
  },
)
export type MessageSummaryJson = Static<typeof MessageSummaryJson>

export function presentSummary(message: StoredSummary): MessageSummaryJson {
  return {
    id: message.id,
    thread_id: message.threadId,
    folder_ids: message.folderIds,
    subject: message.subject,
    preview: message.preview,
    from: presentAddress(message.from),
    to: message.to.map(presentAddress),
    cc: message.cc.map(presentAddress),
    bcc: message.bcc.map(presentAddress),
    received_at: isoTime(message.receivedAt),
    sent_at: isoTimeOrNull(message.sentAt),
    size_bytes: message.sizeBytes,
    has_attachments: message.hasAttachments,
    keywords: message.keywords,
    flags: presentFlags(message.flags),
  }
}

function presentFlags({ seen, flagged, draft, answered }: StoredFlags): Static<typeof Flags> {
  return { seen, flagged, draft, answered }
}
