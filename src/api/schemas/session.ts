// Schemas of the session document, derived from the routes.

import { type Static, type TBoolean, Type } from 'typebox'
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../config/client-protocols.ts'
import type { MailboxGate } from '../../config/config.ts'
import { MAILBOX_LIMITS } from './limits.ts'
import { MailboxJson } from './mailbox.ts'
import { record } from './record.ts'

/** The endpoint of each capability: the capability is true while the credential can call it. */
export const CAPABILITY_ENDPOINTS = {
  messages: {
    list: 'GET /mailbox/messages',
    detail: 'GET /mailbox/messages/{message_id}',
    raw_body: 'GET /mailbox/messages/{message_id}/raw',
    clean_content: 'GET /mailbox/messages/{message_id}/clean-content',
    batch_get: 'POST /mailbox/messages/batch-get',
    count: 'GET /mailbox/messages/count',
    search_snippets: 'GET /mailbox/messages/search-snippets',
    changes: 'GET /mailbox/messages/changes',
    query_changes: 'GET /mailbox/messages/query-changes',
    keywords: 'PATCH /mailbox/messages/{message_id}/keywords',
    batch_update: 'POST /mailbox/messages/batch-update',
    delete: 'DELETE /mailbox/messages/{message_id}',
    permanent_delete: 'DELETE /mailbox/messages/{message_id}?permanent=true',
  },
  threads: {
    list: 'GET /mailbox/threads',
    detail: 'GET /mailbox/threads/{thread_id}',
    messages: 'GET /mailbox/threads/{thread_id}/messages',
    clean_content: 'GET /mailbox/threads/{thread_id}/clean-content',
    batch_get: 'POST /mailbox/threads/batch-get',
    changes: 'GET /mailbox/threads/changes',
    query_changes: 'GET /mailbox/threads/query-changes',
    update: 'PATCH /mailbox/threads/{thread_id}',
    batch_update: 'POST /mailbox/threads/batch-update',
  },
  drafts: {
    list: 'GET /mailbox/drafts',
    detail: 'GET /mailbox/drafts/{draft_id}',
    create: 'POST /mailbox/drafts',
    update: 'PUT /mailbox/drafts/{draft_id}',
    delete: 'DELETE /mailbox/drafts/{draft_id}',
    send: 'POST /mailbox/drafts/{draft_id}/send',
    reply: 'POST /mailbox/messages/{message_id}/reply',
    forward: 'POST /mailbox/messages/{message_id}/forward',
  },
  folders: {
    list: 'GET /mailbox/folders',
    detail: 'GET /mailbox/folders/{folder_id}',
    create: 'POST /mailbox/folders',
    update: 'PATCH /mailbox/folders/{folder_id}',
    delete: 'DELETE /mailbox/folders/{folder_id}',
    changes: 'GET /mailbox/folders/changes',
    query_changes: 'GET /mailbox/folders/query-changes',
  },
  submissions: {
    list: 'GET /mailbox/submissions',
    detail: 'GET /mailbox/submissions/{submission_id}',
    changes: 'GET /mailbox/submissions/changes',
    send: 'POST /mailbox/messages/send',
  },
  identities: {
    list: 'GET /mailbox/identities',
    changes: 'GET /mailbox/identities/changes',
    create: 'POST /mailbox/identities',
    update: 'PATCH /mailbox/identities/{identity_id}',
    delete: 'DELETE /mailbox/identities/{identity_id}',
  },
  quotas: {
    list: 'GET /mailbox/quotas',
    usage: 'GET /mailbox/usage',
    changes: 'GET /mailbox/quotas/changes',
    update: 'PATCH /mailbox/quotas/{quota_id}',
  },
  attachments: {
    upload: 'POST /mailbox/attachments',
    download: 'GET /mailbox/attachments/{attachment_id}/content',
    range_download: 'GET /mailbox/attachments/{attachment_id}/content',
    metadata: 'GET /mailbox/attachments/{attachment_id}',
    parsing: 'GET /mailbox/attachments/{attachment_id}/parsed',
    send_with_uploaded_blob: 'POST /mailbox/messages/send',
  },
} as const

/** The endpoint of each gate: the gate is true while the credential cannot call it. */
export const GATED_ENDPOINTS = {
  identity_mutation: 'POST /mailbox/identities',
  quota_mutation: 'PATCH /mailbox/quotas/{quota_id}',
  vacation_response: 'PUT /mailbox/vacation-response',
  filter_script_writes: 'POST /mailbox/sieve-scripts',
  events: 'GET /mailbox/events',
  raw_protocol: 'POST /mailbox/jmap',
  attachment_parsing: 'GET /mailbox/attachments/{attachment_id}/parsed',
  message_copy: 'POST /mailbox/messages/copy',
  message_import: 'POST /mailbox/messages/import',
  message_parse: 'POST /mailbox/messages/parse',
  blob_lookup: 'POST /mailbox/blobs/lookup',
  blob_copy: 'POST /mailbox/blobs/copy',
  app_passwords: 'POST /mailbox/app-passwords',
  forwarding: 'POST /mailbox/forwards',
} as const satisfies Record<Exclude<MailboxGate, ClientProtocol>, string>

/** The groups of `endpoints`; a route belongs to the one its tag names. */
export const ENDPOINT_GROUPS = [
  'mailbox',
  'messages',
  'threads',
  'drafts',
  'folders',
  'submissions',
  'usage',
  'sync',
] as const

const { messages, threads, drafts, folders, submissions, identities, quotas, attachments } = CAPABILITY_ENDPOINTS

const Capabilities = record('MailboxCapabilities', 'True for what this credential can do now.', {
  messages: record('MessageCapabilities', 'Messages.', {
    ...booleans(messages),
    update_fields: Type.Array(Type.String(), { description: 'Members of a message that can be updated.' }),
  }),
  threads: record('ThreadCapabilities', 'Threads.', booleans(threads)),
  drafts: record('DraftCapabilities', 'Drafts.', booleans(drafts)),
  folders: record('FolderCapabilities', 'Folders.', booleans(folders)),
  submissions: record('SubmissionCapabilities', 'Sending.', booleans(submissions)),
  identities: record('IdentityCapabilities', 'Identities.', booleans(identities)),
  quotas: record('QuotaCapabilities', 'Quotas and usage.', booleans(quotas)),
  attachments: record('AttachmentCapabilities', 'Attachments.', booleans(attachments)),
  sync: record('SyncCapabilities', 'Following changes.', {
    typed_changes: Type.Boolean(),
    types: Type.Array(Type.String()),
    query_changes: Type.Array(Type.String()),
  }),
})

const States = record(
  'MailboxStates',
  'Opaque states: a state differs from an earlier one when an object of its type changed.',
  {
    messages: Type.String(),
    folders: Type.String(),
    threads: Type.String(),
    submissions: Type.String(),
    identities: Type.String(),
    quotas: Type.String(),
  },
)

export const Session = record('MailboxSession', 'Capabilities and limits of this credential in its mailbox.', {
  mailbox: record('SessionMailbox', 'The mailbox in short.', {
    id: MailboxJson.properties.id,
    email: MailboxJson.properties.email,
    display_name: MailboxJson.properties.display_name,
  }),
  states: States,
  capabilities: Capabilities,
  limits: record(
    'MailboxLimits',
    'Limits of the Mailbox API: counts, `chars` in Unicode code points, `bytes` in bytes.',
    Object.fromEntries(Object.keys(MAILBOX_LIMITS).map((name) => [name, Type.Integer()])),
  ),
  gated: record('MailboxGates', 'True for features disabled for this credential.', {
    ...booleans(GATED_ENDPOINTS),
    ...(Object.fromEntries(CLIENT_PROTOCOLS.map((name) => [name, Type.Boolean()])) as Record<ClientProtocol, TBoolean>),
  }),
  endpoints: record(
    'MailboxEndpoints',
    'Operations this credential can call, as `METHOD /path` below the base address.',
    Object.fromEntries(ENDPOINT_GROUPS.map((group) => [group, Type.Array(Type.String())])),
  ),
})
export type Session = Static<typeof Session>

function booleans<T extends object>(names: T): { [K in keyof T]: TBoolean } {
  return Object.fromEntries(Object.keys(names).map((name) => [name, Type.Boolean()])) as { [K in keyof T]: TBoolean }
}
