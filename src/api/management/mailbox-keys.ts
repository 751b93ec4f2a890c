// The API keys of a mailbox.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { type ApiKey as KeyRecord, MAILBOX_KEYS_MAX } from '../../directory/keys/keys.ts'
import { MAILBOX_SCOPES } from '../../directory/names/permissions.ts'
import { createdBy } from '../../directory/names/principal.ts'
import { answer, type RequestFacts, route } from '../../http/route.ts'
import { Id, listOf, pageQuery, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import { openedByMailboxKey } from '../../people/opens.ts'
import { ApiKeyJson, KeyStatus, NewApiKey, presentKey, presentNewKey } from '../schemas/api-key.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { record } from '../schemas/record.ts'
import { withNotices } from './credential-notices.ts'
import { rotated, rotationBody } from './key-rotation.ts'
import { mailboxMatch } from './mailbox-match.ts'
import { mailboxOf } from './mailbox-of.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const ofMailbox = Type.Object({ mailbox_id: Id('mailbox') })
const ofKey = Type.Object({ mailbox_id: Id('mailbox'), key_id: Id('key') })

const listMailboxKeys = route({
  method: 'GET',
  path: '/mailboxes/{mailbox_id}/api-keys',
  docs: {
    operation: 'listMailboxKeys',
    tag: 'Mailboxes',
    summary: 'List the API keys of a mailbox, newest first',
    description: 'Secrets are not included.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params: ofMailbox,
  query: pageQuery({ limit: MANAGEMENT_PAGE, status: KeyStatus }),
  reply: { schema: listOf(ApiKeyJson) },
  handle({ params: { mailbox_id }, query: { status, limit }, after, principal, app }) {
    const { id: mailboxId } = mailboxOf(app, principal.teamId, mailbox_id)
    const page = app.directory.keys.list(principal.teamId, { mailboxId, status, limit, after })
    return { items: page.items.map(presentKey), next: page.next }
  },
})

const createMailboxKey = route({
  method: 'POST',
  path: '/mailboxes/{mailbox_id}/api-keys',
  docs: {
    operation: 'createMailboxKey',
    tag: 'Mailboxes',
    summary: 'Create an API key of a mailbox',
    description:
      `The secret is shown in this response only. At most ${MAILBOX_KEYS_MAX} active keys for each mailbox (409). \`If-Match\` ` +
      'takes the ETag of the mailbox.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage', fresh: true },
  idempotent: true,
  reply: { secret: true, schema: NewApiKey, status: 201, etag: true },
  params: ofMailbox,
  body: {
    schema: record(
      'MailboxKeyCreate',
      'The new API key.',
      {
        name: Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'A note for the list of keys.',
          examples: ['Reading assistant'],
        }),
        permissions: Type.Optional(
          Type.Array(Words(MAILBOX_SCOPES), {
            minItems: 1,
            maxItems: MAILBOX_SCOPES.length,
            uniqueItems: true,
            description: 'Default: all scopes.',
          }),
        ),
        expires_at: Type.Optional({
          ...TimeQuery,
          description: 'In the future, at most 5 years ahead. Default: never.',
        }),
      },
      { name: 'Reading assistant', permissions: ['mailbox.read', 'email.receive'] },
    ),
  },
  async handle({ params: { mailbox_id }, body, principal, app, request }) {
    const input = {
      name: body.name,
      permissions: body.permissions,
      expiresAt: body.expires_at === undefined ? null : parseTime(body.expires_at),
      createdBy: createdBy(principal),
    }
    const matches = mailboxMatch(app, mailbox_id, request)
    const issued = await withNotices(app, principal, { mailboxId: mailbox_id, what: 'An API key' }, () =>
      app.directory.mailboxes.issueKey(principal.teamId, mailbox_id, input, matches),
    )
    noteOpened(app, principal.teamId, issued.record, request)
    const Location = `/api/v1/mailboxes/${mailbox_id}/api-keys/${issued.record.id}`
    return answer({ data: presentNewKey(issued), headers: { Location } })
  },
})

const rotateMailboxKey = route({
  method: 'POST',
  path: '/mailboxes/{mailbox_id}/api-keys/{key_id}/rotate',
  docs: {
    operation: 'rotateMailboxKey',
    tag: 'Mailboxes',
    summary: 'Rotate the secret of an API key of a mailbox',
    description:
      'Id, name, permissions and expiry stay. The new secret is shown in this response only; 409 when the key is not active.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage', fresh: true },
  idempotent: true,
  reply: { secret: true, schema: NewApiKey, etag: true },
  params: ofKey,
  body: { schema: rotationBody('MailboxKeyRotate'), optional: true },
  async handle({ params: { mailbox_id, key_id }, body, principal, app, request }) {
    const { id } = keyOf(app, principal.teamId, mailbox_id, key_id)
    const matches = (current: KeyRecord) => request.matches(presentKey(current))
    const issued = await withNotices(
      app,
      principal,
      { mailboxId: mailbox_id, what: 'A new secret of an API key' },
      () => app.directory.keys.rotate(principal.teamId, id, body.grace_seconds, matches),
    )
    noteOpened(app, principal.teamId, issued.record, request)
    return rotated(issued)
  },
})

const deleteMailboxKey = route({
  method: 'DELETE',
  path: '/mailboxes/{mailbox_id}/api-keys/{key_id}',
  docs: {
    operation: 'deleteMailboxKey',
    tag: 'Mailboxes',
    summary: 'Revoke an API key of a mailbox immediately',
    description: 'The next request with the key is 401; its event streams end.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params: ofKey,
  reply: { schema: DeletedOf('key'), etag: true },
  async handle({ params: { mailbox_id, key_id }, principal, app, request }) {
    const key = keyOf(app, principal.teamId, mailbox_id, key_id)
    await app.directory.keys.revoke(principal.teamId, key.id, (current) => request.matches(presentKey(current)))
    return { deleted: true, id: key.id }
  },
})

function noteOpened(app: Context, teamId: string, key: KeyRecord, request: RequestFacts): void {
  request.opens(openedByMailboxKey(mailboxOf(app, teamId, key.mailboxId!).email, key.permissions))
}

function keyOf(app: Context, teamId: string, mailboxId: string, id: string): KeyRecord {
  mailboxOf(app, teamId, mailboxId)
  const key = app.directory.keys.get(teamId, id)
  if (key === undefined || key.mailboxId !== mailboxId) throw notFound('API key')
  return key
}

export const mailboxKeys = [listMailboxKeys, createMailboxKey, rotateMailboxKey, deleteMailboxKey]
