// JSON representations of records of the store and the directory, validated against their schemas.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { TSchema } from 'typebox'
import { ApiKeyJson, NewApiKey, presentKey, presentNewKey } from '../../src/api/schemas/api-key.ts'
import { DomainJson, presentDomain } from '../../src/api/schemas/domain.ts'
import { FilterStateJson } from '../../src/api/schemas/filter-state.ts'
import { FolderJson, presentFolder } from '../../src/api/schemas/folder.ts'
import { MailboxAdmin, MailboxJson, presentMailbox, presentMailboxAdmin } from '../../src/api/schemas/mailbox.ts'
import { MESSAGE_PARTS, Message, presentMessage } from '../../src/api/schemas/message.ts'
import { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { readSendScope, SendScopeJson } from '../../src/api/schemas/send-scope.ts'
import { presentThreadDetail, ThreadDetail, ThreadJson } from '../../src/api/schemas/thread.ts'
import { newId } from '../../src/base/ids.ts'
import { Vault } from '../../src/base/secrets.ts'
import { compileCheck } from '../../src/http/validate.ts'
import { BlobNames } from '../../src/store/content/blob-names.ts'
import type {
  MessageDetail,
  MessageSummary as StoredSummary,
  Thread as StoredThread,
} from '../../src/store/rows/records.ts'

const TIME = Date.UTC(2030, 0, 2, 3, 4, 5)

function fits(schema: TSchema, value: unknown): void {
  assert.deepEqual(compileCheck(schema).issues(value), [])
}

const summary: StoredSummary = {
  id: newId('message'),
  threadId: newId('thread'),
  folderIds: [newId('folder')],
  subject: 'Hello',
  preview: 'Hello Ana',
  from: { email: 'bob@else.example', name: 'Bob' },
  to: [{ email: 'ana@shop.example', name: '' }],
  cc: [],
  bcc: [],
  receivedAt: TIME,
  sentAt: null,
  sizeBytes: 100,
  hasAttachments: false,
  keywords: ['$seen', 'bills'],
  flags: { seen: true, flagged: false, draft: false, answered: false },
}

const message: MessageDetail = {
  ...summary,
  blobHash: randomBytes(32),
  internetMessageId: 'a@else.example',
  inReplyTo: [],
  references: [],
  replyTo: [],
  sender: null,
  parsed: true,
  attachments: [
    {
      id: newId('attachment'),
      messageId: summary.id,
      partId: '2',
      filename: 'bill.pdf',
      contentType: 'application/pdf',
      sizeBytes: 10,
      sha256: randomBytes(32),
      disposition: 'attachment',
      contentId: null,
      inline: false,
    },
  ],
  authentication: {
    spf: 'pass',
    dkim: 'none',
    dmarc: 'permerror',
    arc: 'none',
    fromAligned: false,
    reasons: ['two From addresses'],
  },
  spam: { score: 1.5, isSpam: false, reasons: [] },
  envelope: { mailFrom: 'bob@else.example', rcptTo: 'ana@shop.example' },
}

const states = { messages: 'm1', folders: 'f1', threads: 't1', submissions: 's0', identities: 'i0', quotas: 'q1' }

const mailbox = {
  id: newId('mailbox'),
  teamId: newId('team'),
  domainId: newId('domain'),
  email: 'ana@shop.example',
  displayName: null,
  quotaBytes: 1000,
  sendScope: { type: 'all' } as const,
  scriptKey: null,
  status: 'active' as const,
  statusReason: null,
  isAgent: false,
  agentRegistrationId: null,
  createdAt: TIME,
  updatedAt: TIME,
  suspendedAt: null,
  deletedAt: null,
}

const key = {
  id: newId('key'),
  teamId: newId('team'),
  name: 'Reader',
  kind: 'mailbox' as const,
  role: null,
  permissions: ['mailbox.read'],
  mailboxId: mailbox.id,
  prefix: 'smk_abcdef',
  last4: 'wxyz',
  status: 'active' as const,
  createdBy: 'operator',
  createdAt: TIME,
  expiresAt: null,
  lastUsedAt: TIME,
  revokedAt: null,
}

test('every example on a schema passes that schema', () => {
  for (const schema of [
    ApiKeyJson,
    DomainJson,
    FilterStateJson,
    FolderJson,
    MailboxJson,
    MailboxAdmin,
    MessageSummaryJson,
    SendScopeJson,
  ]) {
    const { examples, title } = schema as { examples?: unknown[]; title?: string }
    assert.ok(examples !== undefined && examples.length > 0, `${title} has an example`)
    for (const example of examples) fits(schema, example)
  }
})

test('a message shows the members in include and leaves the rest out', () => {
  const content = {
    headers: [{ name: 'Subject', value: 'Hello' }],
    bodies: { text: 'Hello', html: null, textSource: 'text' as const, truncated: { text: false, html: false } },
  }
  const name = (hash: Uint8Array) => new BlobNames(new Vault(Buffer.alloc(32))).of(mailbox.id)(hash)
  const context = { state: 'm1', blobId: name, sent: null }
  const full = presentMessage(message, new Set(MESSAGE_PARTS), content, context)
  fits(Message, full)
  assert.equal(full.text_body, 'Hello')
  assert.equal(full.html_body, null)
  assert.equal(full.attachments?.[0]?.filename, 'bill.pdf')

  const bare = presentMessage(message, new Set(), {}, context)
  fits(Message, bare)
  for (const member of [...MESSAGE_PARTS, 'text_body_source', 'body_truncated']) assert.ok(!(member in bare), member)
  assert.deepEqual([bare.untrusted_content, bare.delivery], [true, null])
})

test('a sent message shows its delivery status, and is not marked as untrusted', () => {
  const [emailId, submissionId] = [newId('email'), newId('submission')]
  const present = (status: 'sent' | null) =>
    presentMessage(
      message,
      new Set(),
      {},
      { state: 'm1', blobId: () => `blob_${'a'.repeat(24)}`, sent: { emailId, submissionId, status } },
    )
  const shown = present('sent')
  fits(Message, shown)
  assert.deepEqual(shown.delivery, { message_id: emailId, submission_id: submissionId, status: 'sent' })
  assert.equal(shown.untrusted_content, false)
  assert.deepEqual([present(null).delivery, present(null).untrusted_content], [null, false])
})

test('a thread has the states of the mailbox, and only in full the ids of its messages', () => {
  const thread: StoredThread = {
    id: summary.threadId,
    subject: 'Hello',
    messageCount: 1,
    unreadCount: 0,
    hasAttachments: false,
    folderIds: summary.folderIds,
    keywords: [],
    snoozedUntil: null,
    participants: [summary.from],
    lastMessage: summary,
  }
  const shown = presentThreadDetail({ ...thread, messageIds: [summary.id] }, states)
  fits(ThreadDetail, shown)
  assert.deepEqual(shown.states, { thread_state: 't1', email_state: 'm1' })
  assert.ok(!compileCheck(ThreadJson).passes(shown), 'the schema of the list is closed')
})

test('usage is left out only when the store cannot be read', () => {
  const account = {
    n: 1,
    mailboxId: mailbox.id,
    usedBytes: 0,
    attachmentBytes: 0,
    isAway: false,
    messageCount: 0,
    fullSince: null,
    lastActivityAt: null,
    states,
  }
  const known = presentMailboxAdmin(mailbox, account, { keys: 2, appPasswords: 1 })
  fits(MailboxAdmin, known)
  assert.equal(known.quota_used_bytes, 0)
  assert.equal(known.message_count, 0)
  const unknown = presentMailboxAdmin(mailbox, undefined, { keys: 2, appPasswords: 1 })
  fits(MailboxAdmin, unknown)
  assert.ok(!('quota_used_bytes' in unknown) && !('message_count' in unknown))
})

test('display_name is left out when unset and shown when set', () => {
  const unnamed = presentMailbox(mailbox, undefined)
  fits(MailboxJson, unnamed)
  assert.ok(!('display_name' in unnamed))
  assert.equal(presentMailbox({ ...mailbox, displayName: 'Ana' }, undefined).display_name, 'Ana')
})

test('a send scope has its ids in the member of its type, in both directions', () => {
  const providerId = 'dprov_0a1b2c3d4e5f6g7h8i9j0k1l'
  const scoped = { ...mailbox, sendScope: { type: 'providers' as const, providerIds: [providerId] } }
  assert.deepEqual(presentMailbox(scoped, undefined).send_scope, {
    type: 'providers',
    provider_public_ids: [providerId],
  })
  assert.deepEqual(readSendScope({ type: 'providers', provider_public_ids: [providerId] }), scoped.sendScope)
  const wrong = [
    { scope: { type: 'providers' as const }, field: 'send_scope.provider_public_ids', code: 'required' },
    { scope: { type: 'group' as const }, field: 'send_scope.group_public_ids', code: 'required' },
    {
      scope: { type: 'all' as const, provider_public_ids: [providerId] },
      field: 'send_scope.provider_public_ids',
      code: 'forbidden_value',
    },
  ]
  for (const { scope, field, code } of wrong) {
    assert.throws(
      () => readSendScope(scope),
      (error: { code: string; issues: { field: string; code: string }[] }) => {
        assert.equal(error.code, 'validation_error')
        assert.deepEqual([error.issues[0]?.field, error.issues[0]?.code], [field, code])
        return true
      },
    )
  }
})

test('an API key shows its secret only when it is created', () => {
  const shown = presentKey(key)
  fits(ApiKeyJson, shown)
  assert.ok(!('key' in shown))
  const made = presentNewKey({ record: key, secret: 'smk_secret' })
  fits(NewApiKey, made)
  assert.equal(made.key, 'smk_secret')
})

test('folders with a role cannot be renamed or deleted; a folder at the tenth level has no children', () => {
  const folder = {
    id: newId('folder'),
    name: 'Inbox',
    parentId: null,
    path: 'Inbox',
    role: 'inbox' as const,
    sortOrder: 10,
    totalMessages: 0,
    unreadMessages: 0,
    totalThreads: 0,
    unreadThreads: 0,
    isSubscribed: true,
    createdAt: TIME,
    updatedAt: TIME,
  }
  const inbox = presentFolder(folder)
  fits(FolderJson, inbox)
  assert.equal(inbox.permissions.may_rename, false)
  assert.equal(inbox.permissions.may_create_child, true)
  const deep = presentFolder({ ...folder, role: null, path: Array(10).fill('a').join('/') })
  assert.equal(deep.permissions.may_delete, true)
  assert.equal(deep.permissions.may_create_child, false)
})

test('a domain shows its records', () => {
  const record = { name: 'shop.example', value: 'v=spf1 ~all' }
  const shown = presentDomain({
    id: newId('domain'),
    teamId: newId('team'),
    name: 'shop.example',
    verificationStatus: 'pending',
    sesDkimStatus: 'not_started',
    verifiedAt: null,
    createdAt: TIME,
    checkedAt: null,
    areChecksOk: null,
    mtaStsMode: 'testing',
    records: {
      mx: [{ priority: 10, target: 'mx.example' }],
      spf: record,
      dmarc: record,
      dkim: [record],
      verification: record,
      client: [{ name: '_imap._tcp.shop.example', type: 'SRV', value: '0 0 0 .' }],
      tls: [{ name: 'mta-sts.shop.example', type: 'CNAME', value: 'mail.example' }],
    },
    removable: [record],
  })
  fits(DomainJson, shown)
  assert.equal(shown.verified_at, null)
  assert.equal(shown.created_at, '2030-01-02T03:04:05.000Z')
})

test('content has one id in a mailbox and an unrelated one in another', () => {
  const names = new BlobNames(new Vault(Buffer.alloc(32, 1)))
  const hash = randomBytes(32)
  const here = names.of('mbx_a')(hash)
  assert.match(here, /^blob_[a-z0-9]{24}$/)
  assert.equal(names.of('mbx_a')(hash), here)
  assert.notEqual(names.of('mbx_b')(hash), here)
  assert.notEqual(names.of('mbx_a')(randomBytes(32)), here)
})
