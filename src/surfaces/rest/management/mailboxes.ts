// The mailboxes of a team.

import { type Static, Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import {
  DISPLAY_NAME_MAX,
  QUOTA_DEFAULT_BYTES,
  QUOTA_MAX_BYTES,
  QUOTA_MIN_BYTES,
} from '../../../directory/mailbox-input.ts'
import type { Mailbox, MailboxInput } from '../../../directory/mailboxes.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, listOf, pageQuery } from '../../http/schema.ts'
import { presentNewKey } from '../schemas/api-key.ts'
import { MailboxAdmin, MailboxStatus, NewMailbox, presentMailboxAdmin } from '../schemas/mailbox.ts'
import { record } from '../schemas/record.ts'
import { readSendScope, SendScope } from '../schemas/send-scope.ts'
import { usageOf } from '../usage.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

// Longer than any address, so that one with letters beyond ASCII is judged after its domain has been converted.
const EMAIL_TEXT_MAX = 320

const listMailboxes = route({
  method: 'GET',
  path: '/mailboxes',
  operation: 'listMailboxes',
  tag: 'Mailboxes',
  summary: 'Lists the mailboxes of the team, newest first.',
  description: 'Active and suspended ones unless `status` says otherwise.',
  as: 'team',
  permission: 'mailbox.admin.read',
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    status: MailboxStatus,
    domain_id: { ...Id('domain'), description: 'Mailboxes at this domain; 404 when it is not of the team.' },
    search: Type.String({ minLength: 1, maxLength: 255, description: 'A part of the address or of the display name.' }),
    is_agent: Type.Boolean({ description: 'Registered by an agent, or not.' }),
  }),
  reply: listOf(MailboxAdmin),
  async handle({ query, after, principal, app }) {
    const { status, domain_id: domainId, search, is_agent: isAgent, limit } = query
    const { domains, mailboxes } = app.directory
    if (domainId !== undefined && (await domains.get(principal.teamId, domainId)) === undefined)
      throw notFound('domain')
    const statuses = status && [status]
    const page = await mailboxes.list(principal.teamId, { statuses, domainId, search, isAgent, limit, after })
    return { items: await present(app, page.items), next: page.next }
  },
})

const MailboxCreate = record('MailboxCreate', 'What a new mailbox is made of.', {
  email: Type.String({
    minLength: 3,
    maxLength: EMAIL_TEXT_MAX,
    description:
      'At a verified domain of the team. Before the @: 1-64 of a-z, 0-9, `_`, `-` and single dots. `+tag` addresses need ' +
      'no mailbox of their own.',
    examples: ['ana@shop.example'],
  }),
  display_name: Type.Optional(Type.String({ minLength: 1, maxLength: DISPLAY_NAME_MAX, description: 'Used in From.' })),
  quota_bytes: Type.Optional(
    Type.Integer({
      minimum: QUOTA_MIN_BYTES,
      maximum: QUOTA_MAX_BYTES,
      description: `Bytes of mail it may hold; ${QUOTA_DEFAULT_BYTES} unless given.`,
    }),
  ),
  send_scope: Type.Optional(SendScope),
  create_api_key: Default(Type.Boolean({ description: 'Also issue a key with all scopes.' }), false),
})

const createMailbox = route({
  method: 'POST',
  path: '/mailboxes',
  operation: 'createMailbox',
  tag: 'Mailboxes',
  summary: 'Makes a mailbox, which receives at once.',
  description:
    'With its folders Inbox, Drafts, Sent, Junk, Trash and Archive. 409 when the address is in use; 422 when the domain is ' +
    'not of the team (`not_found`) or not verified (`unverified_domain`).',
  as: 'team',
  permission: 'mailbox.admin.create',
  idempotent: true,
  secret: true,
  body: MailboxCreate,
  reply: NewMailbox,
  status: 201,
  async handle({ body, principal, app }) {
    const { mailboxes } = app.directory
    const input = inputOf(body)
    const { mailbox, key } = body.create_api_key
      ? await mailboxes.createWithKey(principal.teamId, input, principal.keyId)
      : { mailbox: await mailboxes.create(principal.teamId, input), key: null }
    const [shown] = await present(app, [mailbox])
    const data = key === null ? shown : { ...shown, api_key: presentNewKey(key) }
    return answer({ data, headers: { Location: `/api/v1/mailboxes/${mailbox.id}` } })
  },
})

const readMailbox = route({
  method: 'GET',
  path: '/mailboxes/{mailbox_id}',
  operation: 'getMailbox',
  tag: 'Mailboxes',
  summary: 'Shows one mailbox.',
  as: 'team',
  permission: 'mailbox.admin.read',
  params: Type.Object({ mailbox_id: Id('mailbox') }),
  reply: MailboxAdmin,
  etag: true,
  async handle({ params: { mailbox_id }, principal, app }) {
    const mailbox = await app.directory.mailboxes.get(principal.teamId, mailbox_id)
    if (mailbox === undefined) throw notFound('mailbox')
    const [shown] = await present(app, [mailbox])
    return shown
  },
})

function inputOf(body: Static<typeof MailboxCreate>): MailboxInput {
  return {
    email: body.email,
    displayName: body.display_name,
    quotaBytes: body.quota_bytes,
    sendScope: body.send_scope && readSendScope(body.send_scope),
  }
}

async function present(app: Context, mailboxes: readonly Mailbox[]): Promise<MailboxAdmin[]> {
  const ids = mailboxes.map(({ id }) => id)
  const usage = await usageOf(app, ids)
  const keys = await app.directory.keys.countByMailbox(ids)
  return mailboxes.map((mailbox) => presentMailboxAdmin(mailbox, usage.get(mailbox.id), keys.get(mailbox.id) ?? 0))
}

export const mailboxes = [listMailboxes, createMailbox, readMailbox]
