// The mailboxes of a team.

import { type Static, Type } from 'typebox'
import { conflict, notFound, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../db/db.ts'
import {
  DISPLAY_NAME_MAX,
  QUOTA_DEFAULT_BYTES,
  QUOTA_MAX_BYTES,
  QUOTA_MIN_BYTES,
  type SendScope,
} from '../../directory/mailboxes/mailbox-input.ts'
import type { Mailbox, MailboxInput } from '../../directory/mailboxes/mailboxes.ts'
import { allows } from '../../directory/names/permissions.ts'
import { createdBy, type TeamPrincipal } from '../../directory/names/principal.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, listOf, Nullable, pageQuery, Words } from '../../http/schema.ts'
import { openedByAccount, openedByMailboxKey } from '../../people/opens.ts'
import { factsOf, usageOf } from '../rules/usage.ts'
import { presentNewKey } from '../schemas/api-key.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { searchFilters, searchOf } from '../schemas/list-filters.ts'
import {
  EMAIL_TEXT_MAX,
  LISTED_PEOPLE_MAX,
  ListedMailbox,
  MailboxAdmin,
  MailboxStatus,
  NewMailbox,
  presentMailboxAdmin,
} from '../schemas/mailbox.ts'
import { record } from '../schemas/record.ts'
import { readSendScope, SendScopeJson } from '../schemas/send-scope.ts'
import { requireOwner } from './authority.ts'
import { prepareNotices } from './credential-notices.ts'
import { mailboxMatch } from './mailbox-match.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

/** Opens mailboxes to people, and shows to whom they are open. */
const MANAGE = 'mailbox.admin.manage'

const listMailboxes = route({
  method: 'GET',
  path: '/mailboxes',
  docs: {
    operation: 'listMailboxes',
    tag: 'Mailboxes',
    summary: 'List mailboxes, newest first',
    description:
      'Active and suspended mailboxes unless `status` is given. Those with the status `deleted` can be restored.',
    errors: ['insufficient_permissions'],
  },
  access: { as: 'team', permission: 'mailbox.admin.read' },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    status: MailboxStatus,
    domain_id: { ...Id('domain'), description: 'Mailboxes at this domain; 404 when it is not of the team.' },
    ...searchFilters('Part of the address or of the display name.'),
    is_agent: Type.Boolean({ description: 'Whether an agent registered it.' }),
    include: Words(['people'], `\`people\`: also who may open each; needs ${MANAGE}.`),
  }),
  reply: { schema: listOf(ListedMailbox) },
  async handle({ query, after, principal, app }) {
    const { status, domain_id: domainId, is_agent: isAgent, limit } = query
    const { domains, mailboxes } = app.directory
    if (domainId !== undefined && domains.get(principal.teamId, domainId) === undefined) throw notFound('domain')
    const [statuses, search] = [status && [status], searchOf(query)]
    if (query.include !== undefined) requireManaging(principal.permissions)
    const page = await mailboxes.list(principal.teamId, { statuses, domainId, search, isAgent, limit, after })
    const items = presentMailboxes(app, page.items)
    return { items: query.include === undefined ? items : withPeople(app, principal.teamId, items), next: page.next }
  },
})

/** @throws ProductError insufficient_permissions for a credential that may not see who opens a mailbox */
function requireManaging(permissions: readonly string[]): void {
  if (allows(permissions, MANAGE)) return
  const message = `The permission ${MANAGE} is missing: it shows who may open a mailbox. Leave include out, or use a key that has it.`
  throw new ProductError('insufficient_permissions', message, { param: 'include' })
}

function withPeople(app: Context, teamId: string, mailboxes: readonly MailboxAdmin[]): ListedMailbox[] {
  const ids = mailboxes.map(({ id }) => id)
  const found = app.people.sharing.ofMailboxes(teamId, ids, LISTED_PEOPLE_MAX)
  return mailboxes.map((mailbox) => {
    const { people = [], count = 0 } = found.get(mailbox.id) ?? {}
    const shown = people.map(({ member, grant }) => ({
      member_id: member.id,
      email: member.email,
      access: grant.access,
    }))
    return { ...mailbox, people: shown, people_count: count }
  })
}

const MailboxCreate = record(
  'MailboxCreate',
  'The new mailbox.',
  {
    email: Type.String({
      minLength: 3,
      maxLength: EMAIL_TEXT_MAX,
      description:
        'At a verified domain of the team. Before the @: 1-64 of a-z, 0-9, `_`, `-` and single dots. `+tag` addresses need no ' +
        'mailbox of their own.',
      examples: ['ana@shop.example'],
    }),
    display_name: Type.Optional(
      Type.String({ minLength: 1, maxLength: DISPLAY_NAME_MAX, description: 'Display name in From.' }),
    ),
    quota_bytes: Type.Optional(
      Type.Integer({
        minimum: QUOTA_MIN_BYTES,
        maximum: QUOTA_MAX_BYTES,
        description: `Storage quota in bytes; default ${QUOTA_DEFAULT_BYTES}.`,
      }),
    ),
    send_scope: Type.Optional(SendScopeJson),
    create_api_key: Default(Type.Boolean({ description: 'Also create a key with all scopes.' }), false),
  },
  { email: 'ana@shop.example', display_name: 'Ana', create_api_key: true },
)

const MailboxUpdate = Type.Object(
  {
    display_name: Type.Optional(
      Nullable(
        Type.String({ minLength: 1, maxLength: DISPLAY_NAME_MAX, description: 'Display name in From; null for none.' }),
      ),
    ),
    quota_bytes: Type.Optional(
      Type.Integer({ minimum: QUOTA_MIN_BYTES, maximum: QUOTA_MAX_BYTES, description: 'Storage quota in bytes.' }),
    ),
    send_scope: Type.Optional(SendScopeJson),
  },
  {
    title: 'MailboxUpdate',
    description: 'The changes.',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ display_name: 'Ana of the shop', quota_bytes: 10_737_418_240 }],
  },
)

/** The servers of outside accounts that a send scope names: who is there sees what the mailbox sends. */
function outsideServers({ outbound }: Context, teamId: string, scope: SendScope | undefined): string[] {
  if (scope === undefined || scope.type === 'all') return []
  const ids =
    scope.type === 'providers'
      ? scope.providerIds
      : outbound.accounts.groups
          .many(teamId, scope.groupIds)
          .flatMap(({ members }) => members.map(({ providerId }) => providerId))
  const owned = ids
    .map((id) => outbound.accounts.providers.get(teamId, id))
    .filter((one) => one?.remoteAccountId != null)
  return [...new Set(owned.map((one) => one?.smtpHost ?? 'the account'))]
}

const createMailbox = route({
  method: 'POST',
  path: '/mailboxes',
  docs: {
    operation: 'createMailbox',
    tag: 'Mailboxes',
    summary: 'Create a mailbox',
    description:
      'It receives mail immediately and has the folders Inbox, Drafts, Sent, Junk, Trash and Archive. 409 when the address is in ' +
      'use; 422 when the domain is not of the team (`not_found`) or not verified (`unverified_domain`).',
  },
  access: { as: 'team', permission: 'mailbox.admin.create' },
  idempotent: true,
  reply: { secret: true, schema: NewMailbox, status: 201 },
  body: { schema: MailboxCreate },
  async handle({ body, principal, app, request }) {
    // A key is a secret: issuing one needs the same proof wherever it is done.
    const { mailboxes } = app.administration
    const input = inputOf(body)
    const outside = outsideServers(app, principal.teamId, input.sendScope)
    if (body.create_api_key || outside.length > 0) request.requireFreshProof()
    const { mailbox, key } = body.create_api_key
      ? await mailboxes.createWithKey(principal.teamId, input, createdBy(principal))
      : { mailbox: await mailboxes.create(principal.teamId, input), key: null }
    // The member who has its address owns it from now on.
    if (key !== null) {
      await (await prepareNotices(app, principal, mailbox, 'An API key'))()
      request.opens(openedByMailboxKey(mailbox.email, key.record.permissions))
    } else if (outside.length > 0) request.opens(openedByAccount(outside.join(', ')))
    const [shown] = presentMailboxes(app, [mailbox])
    const data = key === null ? shown : { ...shown, api_key: presentNewKey(key) }
    return answer({ data, headers: { Location: `/api/v1/mailboxes/${mailbox.id}` } })
  },
})

const readMailbox = route({
  method: 'GET',
  path: '/mailboxes/{mailbox_id}',
  docs: {
    operation: 'getMailbox',
    tag: 'Mailboxes',
    summary: 'Get a mailbox',
    description: 'With its quota, its send scope, and whether it is suspended.',
  },
  access: { as: 'team', permission: 'mailbox.admin.read' },
  params: Type.Object({ mailbox_id: Id('mailbox') }),
  reply: { schema: MailboxAdmin, etag: true },
  handle({ params: { mailbox_id }, principal, app }) {
    const mailbox = app.directory.mailboxes.get(principal.teamId, mailbox_id)
    if (mailbox === undefined) throw notFound('mailbox')
    const [shown] = presentMailboxes(app, [mailbox])
    return shown
  },
})

const params = Type.Object({ mailbox_id: Id('mailbox') })

const updateMailbox = route({
  method: 'PATCH',
  path: '/mailboxes/{mailbox_id}',
  docs: {
    operation: 'updateMailbox',
    tag: 'Mailboxes',
    summary: 'Update the name, the quota or the send scope of a mailbox',
    description:
      'The address cannot be changed. 422 `below_usage` for a quota smaller than the usage of the mailbox. In a browser a `send_scope` onto ' +
      'the sending account of an outside account needs a confirmation of the last 15 minutes.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params,
  body: { schema: MailboxUpdate },
  reply: { schema: MailboxAdmin, etag: true },
  async handle({ params: { mailbox_id: id }, body, principal, app, request }) {
    const before = app.directory.mailboxes.get(principal.teamId, id)
    if (before === undefined) throw notFound('mailbox')
    const usage = usageOf(app, [id])
    const change = {
      displayName: body.display_name,
      quotaBytes: body.quota_bytes,
      sendScope: body.send_scope && readSendScope(body.send_scope),
    }
    const known = new Set(outsideServers(app, principal.teamId, before.sendScope))
    const opened = outsideServers(app, principal.teamId, change.sendScope).filter((host) => !known.has(host))
    if (opened.length > 0) request.requireFreshProof()
    const used = usage.get(id)?.usedBytes ?? 0
    const matches = mailboxMatch(app, id, request)
    const mailbox = await app.administration.mailboxes.update(principal.teamId, id, change, used, matches)
    if (opened.length > 0) request.opens(openedByAccount(opened.join(', ')))
    const [shown] = presentMailboxes(app, [mailbox])
    return shown
  },
})

const suspendMailbox = route({
  method: 'POST',
  path: '/mailboxes/{mailbox_id}/suspend',
  docs: {
    operation: 'suspendMailbox',
    tag: 'Mailboxes',
    summary: 'Suspend a mailbox: mail to it is refused, it cannot send, it can be read',
    description: 'A reason that is given is stored with the mailbox.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params,
  body: {
    schema: record(
      'MailboxSuspend',
      'Why.',
      {
        reason: Type.Optional(
          Type.String({ minLength: 1, maxLength: 255, description: 'Reason, shown with the mailbox.' }),
        ),
      },
      { reason: 'Left the team.' },
    ),
    optional: true,
  },
  reply: { schema: MailboxAdmin, etag: true },
  async handle({ params: { mailbox_id: id }, body, principal, app, request }) {
    const matches = mailboxMatch(app, id, request)
    const suspended = await app.directory.mailboxes.suspend(principal.teamId, id, body.reason, matches)
    const [shown] = presentMailboxes(app, [suspended])
    return shown
  },
})

const reactivateMailbox = route({
  method: 'POST',
  path: '/mailboxes/{mailbox_id}/reactivate',
  docs: {
    operation: 'reactivateMailbox',
    tag: 'Mailboxes',
    summary: 'Reactivate a suspended mailbox and send its queued messages',
    description: 'Mail to it is accepted again from the next recipient on.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params,
  reply: { schema: MailboxAdmin, etag: true },
  async handle({ params: { mailbox_id: id }, principal, app, request }) {
    const matches = mailboxMatch(app, id, request)
    const mayLive = reactivatable(app)
    const reactivated = await app.directory.mailboxes.reactivate(principal.teamId, id, (current, tx) => {
      matches(current, tx)
      mayLive(current, tx)
    })
    const [shown] = presentMailboxes(app, [reactivated])
    return shown
  },
})

/**
 * The person whose sign-in address it is leaves the team with their mailbox: that of an owner only an owner deletes. The last owner cannot
 * leave at all.
 */
function requireOwnersMailbox(app: Context, principal: TeamPrincipal, { email, status }: Mailbox, tx: Tx): void {
  const owners = app.people.members.owners(principal.teamId, tx)
  if (status === 'deleted' || owners.length < 2 || !owners.includes(email)) return
  requireOwner(app, principal, 'This is the mailbox of an owner of the team. Only an owner deletes it.')
}

const deleteMailbox = route({
  method: 'DELETE',
  path: '/mailboxes/{mailbox_id}',
  docs: {
    operation: 'deleteMailbox',
    tag: 'Mailboxes',
    summary: 'Delete a mailbox, its keys and aliases; its addresses are free immediately',
    description:
      'Until `restorable_until` an owner can restore it; then its content is erased and the mailbox is not found. Until then deleting it ' +
      'again succeeds. The mailbox whose address an owner of the team signs in with is deleted with the authority of an owner only (403).',
  },
  access: { as: 'team', permission: 'mailbox.admin.delete', fresh: true },
  params,
  reply: { schema: DeletedOf('mailbox'), etag: true },
  async handle({ params: { mailbox_id: id }, principal, app, request }) {
    const matches = mailboxMatch(app, id, request)
    await app.administration.mailboxes.delete(principal.teamId, id, (current, tx) => {
      requireOwnersMailbox(app, principal, current, tx)
      matches(current, tx)
    })
    return { deleted: true, id }
  },
})

/**
 * The inbox of an ended registration cannot be reactivated, nor what is left of an outside account (docs/design/directory.md §6.1). The check
 * throws conflict.
 */
export function reactivatable(app: Context) {
  return ({ id, domainId, agentRegistrationId }: Mailbox, tx: Tx): void => {
    if (domainId === null && app.sync.accounts.mirrorOf(id, tx) === undefined) {
      throw conflict('The outside account of this mailbox was removed: it can only be read.')
    }
    if (agentRegistrationId === null) return
    const registration = app.agents.registrations.byId(tx, agentRegistrationId)
    if (registration?.state === 'revoked' || registration?.state === 'expired') {
      throw conflict(
        `The registration of this agent is ${registration.state}. A mailbox of an ended registration cannot be reactivated.`,
      )
    }
  }
}

function inputOf(body: Static<typeof MailboxCreate>): MailboxInput {
  return {
    email: body.email,
    displayName: body.display_name,
    quotaBytes: body.quota_bytes,
    sendScope: body.send_scope && readSendScope(body.send_scope),
  }
}

export function presentMailboxes(app: Context, mailboxes: readonly Mailbox[]): MailboxAdmin[] {
  const ids = mailboxes.map(({ id }) => id)
  const usage = usageOf(app, ids)
  const facts = factsOf(app, ids)
  return mailboxes.map((mailbox) => presentMailboxAdmin(mailbox, usage.get(mailbox.id), facts(mailbox)))
}

export const mailboxes = [
  listMailboxes,
  createMailbox,
  readMailbox,
  updateMailbox,
  suspendMailbox,
  reactivateMailbox,
  deleteMailbox,
]
