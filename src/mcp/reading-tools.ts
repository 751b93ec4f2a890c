// Tools that read: the account, search, threads, attachments, and the outcome of what was sent.

import { Type } from 'typebox'
import type { CallApi } from './api-caller.ts'
import { withFence } from './fence.ts'
import { READS, tool } from './tool.ts'

const SEARCH_MAX = 25
const SNIPPET_MAX = 200
/** Messages of a thread in one answer, and characters of each. */
const THREAD_PAGE = 10
const MESSAGE_CHARS = 6000
const ATTACHMENT_CHARS = 20_000
const FOLDERS_MAX = 100

export const Limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: SEARCH_MAX, description: 'Entries; 25 at most.' }),
)

const Id = (kind: string, description: string) => Type.String({ pattern: `^${kind}_[a-z0-9]{24}$`, description })
export const MessageId = Id('msg', 'Id of a message (msg_…).')
export const SubmissionId = Id('sub', 'Id of a submission (sub_…).')

interface Address {
  email: string
  name: string | null
}

interface Folder {
  id: string
  name: string
  role: string | null
  unread_messages: number
  total_messages: number
}

interface Session {
  mailbox: { email: string; status: string }
  capabilities: { submissions: { send: boolean }; messages: { batch_update: boolean } }
  states: { messages: string }
}

interface Summary {
  id: string
  thread_id: string
  folder_ids: string[]
  received_at: string
  has_attachments: boolean
  flags: { seen: boolean }
  from: Address
  subject: string
  preview: string
}

interface FullMessage extends Summary {
  to: Address[]
  spam: { is_spam: boolean }
  attachments: { id: string; size_bytes: number; filename: string }[]
}

interface CleanText {
  content: string
  truncated: boolean
  links: { url: string }[]
  warnings: string[]
  sender: { authenticated: boolean; first_seen: boolean }
}

interface ParsedText {
  status: string
  kind: string | null
  truncated: boolean
  text: string | null
  entries: { name?: string; path?: string }[] | null
}

function addressText({ email, name }: Address): string {
  return name === null || name === '' ? email : `${name} <${email}>`
}

export const account = tool({
  ...READS,
  name: 'account',
  title: 'My mailbox',
  description: 'The address of the mailbox, what this credential may do, its folders, and the state for `wait`.',
  input: Type.Object({}),
  rights: [],
  async run(_, { api }) {
    const [session, folders] = await Promise.all([
      api<Session>({ method: 'GET', path: '/mailbox/session' }),
      api<Folder[]>({ method: 'GET', path: '/mailbox/folders', query: { limit: FOLDERS_MAX } }),
    ])
    const { mailbox, capabilities, states } = session.data
    return {
      value: {
        email: mailbox.email,
        status: mailbox.status,
        may: { send: capabilities.submissions.send, organize: capabilities.messages.batch_update },
        folders: folders.data.map((one) => ({
          ...{ id: one.id, name: one.name, role: one.role, unread: one.unread_messages, total: one.total_messages },
        })),
        state: states.messages,
      },
    }
  },
})

export const search = tool({
  ...READS,
  name: 'search',
  title: 'Search messages',
  description:
    'Messages, newest first. `query` has words, "phrases" and fields such as from:, to:, subject:, is:unread, has:attachment, ' +
    'newer_than:7d, in:junk. Pass `cursor` of the last answer for the next page.',
  input: Type.Object({
    query: Type.Optional(Type.String({ maxLength: 512, description: 'What to search; everything without it.' })),
    cursor: Type.Optional(Type.String({ maxLength: 1024, description: 'Of the previous answer.' })),
    limit: Limit,
  }),
  rights: ['read'],
  async run({ query, cursor, limit = SEARCH_MAX }, { api }) {
    const { data, pagination } = await api<Summary[]>({
      method: 'GET',
      path: '/mailbox/messages',
      query: { q: query, cursor, limit },
    })
    const facts = data.map((one) => {
      const { id, thread_id, folder_ids, received_at, has_attachments, flags } = one
      return { id, thread_id, folder_ids, received_at, has_attachments, unread: !flags.seen }
    })
    const lines = data.map((one, at) => {
      return `${at + 1}. From: ${addressText(one.from)}\n   Subject: ${one.subject}\n   ${one.preview.slice(0, SNIPPET_MAX)}`
    })
    return { text: withFence({ messages: facts, next_cursor: pagination?.next_cursor ?? null }, lines.join('\n')) }
  },
})

/** One message of a thread: facts, and its text for the fence. */
async function readMessage(api: CallApi, id: string, options: { quoted: boolean; links: boolean }) {
  const query = { body_chars: MESSAGE_CHARS, include_quoted: options.quoted, links: 'list' }
  const [message, clean] = await Promise.all([
    api<FullMessage>({
      method: 'GET',
      path: `/mailbox/messages/${id}`,
      query: { include: 'attachments,authentication' },
    }),
    api<CleanText>({ method: 'GET', path: `/mailbox/messages/${id}/clean-content`, query }),
  ])
  const { data } = message
  const { content, truncated, links, warnings, sender } = clean.data
  const files = data.attachments.map(({ id: file, size_bytes }) => ({ id: file, size_bytes }))
  const names = data.attachments.map(({ filename }) => filename)
  const targets = links.map(({ url }, at) => {
    return `[${at + 1} ${options.links ? url : (URL.parse(url)?.host ?? 'no host')}]`
  })
  return {
    facts: {
      ...{ id, received_at: data.received_at, authenticated: sender.authenticated, first_seen: sender.first_seen },
      ...{ is_spam: data.spam.is_spam, cut: truncated, warnings, attachments: files },
    },
    text: [
      `--- message ${id}`,
      `From: ${addressText(data.from)}`,
      `To: ${data.to.map(addressText).join(', ')}`,
      `Subject: ${data.subject}`,
      ...(names.length > 0 ? [`Files: ${names.join(', ')}`] : []),
      '',
      content,
      ...(targets.length > 0 ? [`Links: ${targets.join(' ')}`] : []),
    ].join('\n'),
  }
}

/** A page of a thread, newest message first. */
export async function threadText(
  api: CallApi,
  input: { thread_id: string; skip?: number; quoted?: boolean; links?: boolean },
): Promise<string> {
  const { thread_id, skip = 0, quoted = false, links = false } = input
  const thread = await api<{ message_ids: string[] }>({ method: 'GET', path: `/mailbox/threads/${thread_id}` })
  const newestFirst = thread.data.message_ids.toReversed()
  const ids = newestFirst.slice(skip, skip + THREAD_PAGE)
  const messages = []
  for (const id of ids) messages.push(await readMessage(api, id, { quoted, links }))
  const next = skip + ids.length < newestFirst.length ? skip + ids.length : null
  const facts = { thread_id, message_count: newestFirst.length, next_skip: next }
  return withFence(
    { ...facts, messages: messages.map((one) => one.facts) },
    messages.map(({ text }) => text).join('\n\n'),
  )
}

export const readThread = tool({
  ...READS,
  name: 'read_thread',
  title: 'Read a thread',
  description:
    'The messages of a thread, newest first, without quoted history, signatures and hidden text. Pass `next_skip` as `skip` for the ' +
    'next page. Links are shown by their host; `links` shows whole URLs.',
  input: Type.Object({
    thread_id: Id('thr', 'Id of the thread (thr_…).'),
    skip: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, description: 'Newest messages to leave out.' })),
    quoted: Type.Optional(Type.Boolean({ description: 'Keep quoted history.' })),
    links: Type.Optional(Type.Boolean({ description: 'Show whole URLs.' })),
  }),
  rights: ['read'],
  run: async (input, { api }) => ({ text: await threadText(api, input) }),
})

export async function attachmentText(api: CallApi, id: string): Promise<string> {
  const query = { body_chars: ATTACHMENT_CHARS }
  const { data } = await api<ParsedText>({ method: 'GET', path: `/mailbox/attachments/${id}/parsed`, query })
  const { status, kind, truncated, text, entries } = data
  const names = entries?.map((entry) => entry.path ?? entry.name ?? '').join('\n')
  return withFence({ attachment_id: id, status, kind, cut: truncated }, text ?? names ?? '')
}

export const readAttachment = tool({
  ...READS,
  name: 'read_attachment',
  title: 'Read the text of a file',
  description: 'The text of an attached document, table or calendar, or the list of an archive.',
  input: Type.Object({ attachment_id: Id('att', 'Id of the attachment (att_…), from `read_thread`.') }),
  rights: ['read'],
  run: async ({ attachment_id }, { api }) => ({ text: await attachmentText(api, attachment_id) }),
})

interface Submission {
  id: string
  status: string
  undo_status: string
  send_at: string
  recipients: { email: string; delivered: string }[]
  /** Of a message that waited for a person. */
  approval: { state: string; reason: string; note: string | null; expires_at: string } | null
}

export const sentStatus = tool({
  ...READS,
  name: 'sent_status',
  title: 'Status of what was sent',
  description:
    'Status of a submission for each recipient, or the last 25 submissions, with what a person decided about one that was held. Without ' +
    'texts of others.',
  input: Type.Object({ submission_id: Type.Optional(SubmissionId), limit: Limit }),
  rights: ['read'],
  async run({ submission_id, limit = SEARCH_MAX }, { api }) {
    const path = submission_id === undefined ? '/mailbox/submissions' : `/mailbox/submissions/${submission_id}`
    const { data } = await api<Submission | Submission[]>({
      method: 'GET',
      path,
      query: submission_id === undefined ? { limit } : {},
    })
    const submissions = [data].flat().map(({ id, status, undo_status, send_at, recipients, approval }: Submission) => {
      const decision = approval && {
        ...{ state: approval.state, reason: approval.reason, note: approval.note, expires_at: approval.expires_at },
      }
      const outcome = recipients.map(({ email, delivered }) => ({ email, delivered }))
      return { id, status, may_undo: undo_status === 'pending', send_at, recipients: outcome, approval: decision }
    })
    return { value: { submissions } }
  },
})
