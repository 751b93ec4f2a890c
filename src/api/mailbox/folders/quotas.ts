// How much of what a mailbox may have is used, and where its owner wants to be warned (docs/design/mailbox.md §9).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../../base/clock.ts'
import { notFound } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { MailboxPrincipal } from '../../../directory/names/principal.ts'
import { answer, route } from '../../../http/route.ts'
import { Id, listOf, Nullable, Words } from '../../../http/schema.ts'
import { type Quota as Kept, QUOTA_NAMES, type QuotaName } from '../../../store/mailbox/quotas.ts'
import type { Account } from '../../../store/rows/records.ts'
import { accountOf, writableAccountOf } from '../../rules/account.ts'
import { record } from '../../schemas/record.ts'
import { TimeOf } from '../../schemas/time.ts'
import { changesRoute } from '../changes/typed-changes.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const LIMIT_MAX = 2 ** 53 - 1
const Limit = Nullable(
  Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: 'In the unit of the quota; null for none.' }),
)

const Quota = record('Quota', 'One quota of a mailbox.', {
  id: Id('quota'),
  name: Words(QUOTA_NAMES, '`daily_recipients` counts the recipients of the last 24 hours, by whole hours.'),
  resource_type: Words(['octets', 'count'], 'Unit of the numbers.'),
  scope: Words(['account'], 'What it is counted over.'),
  used: Count('Used amount.'),
  hard_limit: Nullable(Count('The limit the server enforces; null for none.')),
  soft_limit: Nullable(Count('Limit at which clients show that space is short; the server enforces nothing.')),
  warn_limit: Nullable(Count('Limit at which clients warn; the server enforces nothing.')),
  types: Type.Array(Type.String(), { description: 'What the quota counts.' }),
  description: Type.String(),
  updated_at: TimeOf('When a limit last changed.'),
})

const Usage = record('MailboxUsage', 'Storage and sending of a mailbox.', {
  quota_bytes: Count('Storage quota of the mailbox.'),
  quota_used_bytes: Count('Sizes of its messages, each counted once.'),
  quota_used_ratio: Type.Number({
    minimum: 0,
    description: 'Used part of the quota; above 1 when the quota was reduced below the usage.',
  }),
  message_count: Count('Messages.'),
  folder_count: Count('Folders.'),
  attachment_bytes: Count('Decoded size of the files in its messages.'),
  upload_bytes_pending: Count('Unused uploads; they do not count towards the quota.'),
  sent_last_24h: Count('Messages accepted for sending in the last 24 hours, by whole hours.'),
  state: Type.String({ description: 'The state of the quotas.' }),
})

const QUOTA_DOCS: Readonly<Record<QuotaName, Pick<Static<typeof Quota>, 'resource_type' | 'types' | 'description'>>> = {
  storage: { resource_type: 'octets', types: ['messages'], description: 'Bytes of all messages, each counted once.' },
  messages: { resource_type: 'count', types: ['messages'], description: 'Messages in the mailbox.' },
  daily_recipients: {
    ...{ resource_type: 'count', types: ['submissions'] },
    description: 'Recipients written to in the last 24 hours.',
  },
}

const listQuotas = route({
  method: 'GET',
  path: '/mailbox/quotas',
  docs: {
    operation: 'listQuotas',
    tag: 'Usage',
    summary: 'List quotas with their limits and usage',
    description: '`meta.state` is the state of the quotas: it changes when a message is stored, deleted or sent.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  reply: { list: 'whole', schema: listOf(Quota) },
  handle({ principal, app }) {
    const account = accountOf(app, principal)
    return { items: shown(app, principal, account), next: null, meta: { state: account.states.quotas } }
  },
})

const updateQuota = route({
  method: 'PATCH',
  path: '/mailbox/quotas/{quota_id}',
  docs: {
    operation: 'updateQuota',
    tag: 'Usage',
    summary: 'Set the warning limits of a quota',
    description: 'warn_limit < soft_limit < hard_limit, where they are set; an administrator sets the hard limit.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'quota_mutation' },
  params: Type.Object({ quota_id: Id('quota') }),
  body: {
    schema: Type.Object(
      { warn_limit: Type.Optional(Limit), soft_limit: Type.Optional(Limit) },
      {
        title: 'QuotaUpdate',
        description: 'The changes.',
        additionalProperties: false,
        minProperties: 1,
        examples: [{ warn_limit: 4_294_967_296, soft_limit: 5_000_000_000 }],
      },
    ),
  },
  reply: { schema: Quota },
  async handle({ params: { quota_id: id }, body, principal, app }) {
    const account = writableAccountOf(app, principal)
    const hard = hardLimits(app, principal)
    const change = { warnLimit: body.warn_limit, softLimit: body.soft_limit }
    await app.store.sending.quotas.update(account, id, change, (name) => hard[name])
    return shown(app, principal, account).find((quota) => quota.id === id)!
  },
})

const readUsage = route({
  method: 'GET',
  path: '/mailbox/usage',
  docs: {
    operation: 'getMailboxUsage',
    tag: 'Usage',
    summary: 'Get the storage and sending usage of the mailbox',
    description: 'What is stored and what was sent, beside the limits.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  reply: { schema: Usage, etag: true },
  async handle({ principal, app }) {
    const { store } = app
    const account = accountOf(app, principal)
    const { storage } = hardLimits(app, principal)
    const [{ messages }, { bytes }] = await Promise.all([
      store.sending.hours.lastDay(account),
      store.edit.uploads.pending(account),
    ])
    const version = {
      quota_bytes: storage!,
      quota_used_bytes: account.usedBytes,
      quota_used_ratio: Math.round((account.usedBytes / storage!) * RATIO_STEPS) / RATIO_STEPS,
      message_count: account.messageCount,
      folder_count: store.read.folders.keys(account).length,
      attachment_bytes: account.attachmentBytes,
      upload_bytes_pending: bytes,
      sent_last_24h: messages,
    }
    return answer({ data: { ...version, state: account.states.quotas }, version })
  },
})

const RATIO_STEPS = 10_000

/** What the appliance allows; null where it sets no bound (only agents have one for a day, docs/design/agents.md §7). */
function hardLimits(app: Context, principal: MailboxPrincipal): Record<QuotaName, number | null> {
  const mailbox = app.directory.mailboxes.byId(principal.mailboxId)
  if (mailbox === undefined) throw notFound('mailbox')
  return {
    storage: mailbox.quotaBytes,
    messages: null,
    daily_recipients: app.agents.allowance.dailyLimit(app.db.read, mailbox.id),
  }
}

function shown(app: Context, principal: MailboxPrincipal, account: Account): Static<typeof Quota>[] {
  const hard = hardLimits(app, principal)
  const { recipients } = app.store.sending.hours.lastDay(account)
  const used = { storage: account.usedBytes, messages: account.messageCount, daily_recipients: recipients }
  return app.store.sending.quotas.list(account).map((quota) => present(quota, used[quota.name], hard[quota.name]))
}

function present(quota: Kept, used: number, hard: number | null): Static<typeof Quota> {
  return {
    id: quota.id,
    name: quota.name,
    ...QUOTA_DOCS[quota.name],
    scope: 'account',
    used,
    hard_limit: hard,
    soft_limit: quota.softLimit,
    warn_limit: quota.warnLimit,
    updated_at: isoTime(quota.updatedAt),
  }
}

export const quotas = [listQuotas, changesRoute('quotas'), updateQuota, readUsage]
