// Tools that change something: folders and flags, drafts, replies, messages, and taking back.

import { Type } from 'typebox'
import { type CallApi, ToolError } from './api-caller.ts'
import { MessageId, SubmissionId } from './reading-tools.ts'
import { SENDS, type ToolCall, type ToolResult, tool } from './tool.ts'

const IDS_MAX = 100
const RECIPIENTS_MAX = 50
const TEXT_MAX = 100_000
const FOLDERS_MAX = 100
/** A message waits so long before it leaves, so that `undo` can take it back. */
const UNDO_SECONDS = 10
const ROLES = ['inbox', 'archive', 'junk', 'trash'] as const

interface Updated {
  updated: string[]
  not_found: string[]
  not_updated: object[]
}

interface Draft {
  id: string
  revision: number
  problems: object[]
  to: object[]
  cc: object[]
  subject: string
}

interface Sent {
  submission_id: string
  status: string
  send_at: string
}

const Text = Type.String({ maxLength: TEXT_MAX, description: 'Plain text.' })
const Subject = Type.String({ maxLength: 998, pattern: '^[^\\r\\n]*$', description: 'One line.' })
const addresses = (description: string) =>
  Type.Array(Type.String({ minLength: 3, maxLength: 254 }), { maxItems: RECIPIENTS_MAX, description })
const people = (list: readonly string[]) => list.map((email) => ({ email }))

export const organize = tool({
  name: 'organize',
  title: 'File and mark messages',
  description:
    'Moves messages to a folder, or marks them. `move_to` is an id of a folder (fld_…), or inbox, archive, junk or trash. Nothing is ' +
    'deleted for ever.',
  input: Type.Object({
    message_ids: Type.Array(MessageId, { minItems: 1, maxItems: IDS_MAX, description: 'At most 100 messages.' }),
    move_to: Type.Optional(Type.String({ maxLength: 64, description: 'Folder, or inbox, archive, junk, trash.' })),
    read: Type.Optional(Type.Boolean({ description: 'Mark as read, or as unread.' })),
    flagged: Type.Optional(Type.Boolean({ description: 'Flag, or take the flag off.' })),
  }),
  rights: ['organize'],
  ...{ readOnly: false, destructive: false, idempotent: true },
  async run({ message_ids, move_to, read, flagged }, { api }) {
    const marks = [
      ['$seen', read],
      ['$flagged', flagged],
    ] as const
    const keywords = (value: boolean) => marks.flatMap(([keyword, on]) => (on === value ? [keyword] : []))
    const [added, removed] = [keywords(true), keywords(false)]
    const folder = move_to === undefined ? undefined : await folderOf(api, move_to)
    const body = {
      ids: message_ids,
      ...(added.length > 0 && { add_keywords: added }),
      ...(removed.length > 0 && { remove_keywords: removed }),
      ...(folder !== undefined && { set_folder_ids: [folder] }),
    }
    const { data } = await api<Updated>({ method: 'POST', path: '/mailbox/messages/batch-update', body })
    const { updated, not_found, not_updated } = data
    return { value: { updated, not_found, not_updated } }
  },
})

async function folderOf(api: CallApi, name: string): Promise<string> {
  if (name.startsWith('fld_')) return name
  const { data } = await api<{ id: string; role: string | null }[]>({
    method: 'GET',
    path: '/mailbox/folders',
    query: { limit: FOLDERS_MAX },
  })
  const folder = data.find(({ role }) => role === name)
  if (folder !== undefined) return folder.id
  throw new ToolError(
    'invalid_parameter',
    `There is no folder "${name}". Use an id of \`account\`, or ${ROLES.join(', ')}.`,
  )
}

export const draft = tool({
  name: 'draft',
  title: 'Write or discard a draft',
  description: 'Writes a draft for a person to look at, or discards one. Nothing is sent.',
  input: Type.Object({
    to: Type.Optional(addresses('Recipients.')),
    cc: Type.Optional(addresses('Visible recipients.')),
    subject: Type.Optional(Subject),
    text: Type.Optional(Text),
    reply_to_message_id: Type.Optional({ ...MessageId, description: 'The message it answers.' }),
    discard_draft_id: Type.Optional(Type.String({ maxLength: 64, description: 'Discards this draft instead.' })),
  }),
  rights: ['write', 'send'],
  ...SENDS,
  async run({ to = [], cc = [], subject, text, reply_to_message_id, discard_draft_id }, { api, idempotencyKey }) {
    if (discard_draft_id !== undefined) {
      await api({ method: 'DELETE', path: `/mailbox/drafts/${encodeURIComponent(discard_draft_id)}` })
      return { value: { discarded: discard_draft_id } }
    }
    const content = { to: people(to), cc: people(cc), subject, text_body: text }
    const body = { ...content, in_reply_to_message_id: reply_to_message_id }
    const { data } = await api<Draft>({ method: 'POST', path: '/mailbox/drafts', body, idempotencyKey })
    return { value: { draft_id: data.id, revision: data.revision, problems: data.problems } }
  },
})

export const reply = tool({
  name: 'reply',
  title: 'Reply in a thread',
  description:
    'Answers a message. The server sets the recipients: the author, or with `all` everybody in the thread. The message waits ten seconds, ' +
    'so that `undo` can take it back.',
  input: Type.Object({
    message_id: MessageId,
    text: Text,
    all: Type.Optional(Type.Boolean({ description: 'Answer all recipients.' })),
  }),
  rights: ['send'],
  ...SENDS,
  async run({ message_id, text, all = false }, call) {
    const { api, idempotencyKey } = call
    const path = `/mailbox/messages/${message_id}/reply`
    const body = { recipients: all ? 'all' : 'sender', quote: 'none' }
    const { data: made } = await api<Draft>({ method: 'POST', path, body, idempotencyKey: `${idempotencyKey}-draft` })
    const { to, cc, subject } = made
    try {
      return await submit(call, { to, cc, subject, text_body: text, in_reply_to_message_id: message_id })
    } finally {
      // It only carried what the server chose; a repeated call finds it gone.
      await api({ method: 'DELETE', path: `/mailbox/drafts/${made.id}` }).catch(() => undefined)
    }
  },
})

export const send = tool({
  name: 'send',
  title: 'Send a message',
  description:
    'Sends a message, or a draft by `draft_id`. A message waits ten seconds, so that `undo` can take it back; a draft leaves when its ' +
    'own time says.',
  input: Type.Object({
    to: Type.Optional(addresses('Recipients.')),
    cc: Type.Optional(addresses('Visible recipients.')),
    bcc: Type.Optional(addresses('Hidden recipients.')),
    subject: Type.Optional(Subject),
    text: Type.Optional(Text),
    draft_id: Type.Optional(Type.String({ maxLength: 64, description: 'Send this draft; alone.' })),
    send_at: Type.Optional(Type.String({ maxLength: 40, description: 'When, RFC 3339.' })),
  }),
  rights: ['send'],
  ...SENDS,
  async run({ to = [], cc = [], bcc = [], subject, text, draft_id, send_at }, call) {
    if (draft_id !== undefined) {
      const path = `/mailbox/drafts/${encodeURIComponent(draft_id)}/send`
      return sentResult((await call.api<Sent>({ method: 'POST', path, idempotencyKey: call.idempotencyKey })).data)
    }
    const recipients = { to: people(to), cc: people(cc), bcc: people(bcc) }
    return submit(call, { ...recipients, subject, text_body: text, send_at })
  },
})

/** @param body of `POST /mailbox/messages/send` */
async function submit({ api, idempotencyKey }: ToolCall, body: Record<string, unknown>): Promise<ToolResult> {
  const filled = Object.entries(body).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  )
  const message = Object.fromEntries(filled)
  const timed = message.send_at === undefined ? { ...message, undo_seconds: UNDO_SECONDS } : message
  return sentResult(
    (await api<Sent>({ method: 'POST', path: '/mailbox/messages/send', body: timed, idempotencyKey })).data,
  )
}

function sentResult(data: Sent): ToolResult {
  return { value: { submission_id: data.submission_id, status: data.status, send_at: data.send_at } }
}

export const undo = tool({
  name: 'undo',
  title: 'Take back what was sent',
  description: 'Cancels a submission that has not left yet.',
  input: Type.Object({ submission_id: SubmissionId }),
  rights: ['send'],
  ...{ readOnly: false, destructive: false, idempotent: true },
  async run({ submission_id }, { api }) {
    const { data } = await api<{ status: string }>({
      method: 'POST',
      path: `/mailbox/submissions/${submission_id}/cancel`,
    })
    return { value: { submission_id, status: data.status } }
  },
})
