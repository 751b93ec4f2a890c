// The webhook subscriptions of a team.

import { Type } from 'typebox'
import { invalid, notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Webhook as WebhookRecord } from '../../events/webhooks/records.ts'
import { GRACE_SECONDS_MAX } from '../../events/webhooks/subscriptions.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, listOf, Nullable, pageQuery } from '../../http/schema.ts'
import { record } from '../schemas/record.ts'
import {
  DomainIds,
  EventTypes,
  MailboxIds,
  NewWebhook,
  presentWebhook,
  Webhook,
  WebhookStatus,
  WebhookUrl,
} from '../schemas/webhook.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ webhook_id: Id('webhook') })

const OPTIONAL = {
  description: Type.Optional(
    Nullable(Type.String({ maxLength: 255, description: 'For whoever looks at the list of webhooks.' })),
  ),
  mailbox_ids: Type.Optional(Nullable({ ...MailboxIds, description: 'Narrows it to events of these mailboxes.' })),
  domain_ids: Type.Optional(
    Nullable({
      ...DomainIds,
      description: 'Narrows it to events of these domains. With `mailbox_ids` too, either match is enough.',
    }),
  ),
}

const listWebhooks = route({
  method: 'GET',
  path: '/webhooks',
  operation: 'listWebhooks',
  tag: 'Webhooks',
  summary: 'Lists the webhooks of the team, newest first.',
  as: 'team',
  permission: 'webhook.read',
  query: pageQuery({ limit: MANAGEMENT_PAGE, status: WebhookStatus }),
  reply: listOf(Webhook),
  async handle({ query: { status, limit }, after, principal, app }) {
    const page = await app.eventDispatch.webhooks.list(principal.teamId, { status, limit, after })
    return { items: page.items.map(presentWebhook), next: page.next }
  },
})

const createWebhook = route({
  method: 'POST',
  path: '/webhooks',
  operation: 'createWebhook',
  tag: 'Webhooks',
  summary: 'Subscribes an https address to what happens from now on.',
  description:
    'The signing secret is shown in this answer only. 422 `forbidden_value` when the address leads to no public address; ' +
    '409 above 20 webhooks.',
  as: 'team',
  permission: 'webhook.create',
  idempotent: true,
  secret: true,
  body: record(
    'WebhookCreate',
    'What a new webhook is made of.',
    {
      url: WebhookUrl,
      event_types: EventTypes,
      ...OPTIONAL,
      enabled: Default(Type.Boolean({ description: 'False makes it without telling it anything yet.' }), true),
    },
    { url: 'https://93.184.215.14/hooks/mail', event_types: ['message.delivered', 'message.bounced'] },
  ),
  reply: NewWebhook,
  status: 201,
  async handle({ body, principal, app }) {
    await checkNarrowing(app, principal.teamId, body)
    const { webhook, secret } = await app.eventDispatch.webhooks.create(principal.teamId, {
      url: body.url,
      eventTypes: checkTypes(body.event_types),
      description: body.description,
      mailboxIds: body.mailbox_ids,
      domainIds: body.domain_ids,
      enabled: body.enabled,
    })
    const data = { ...presentWebhook(webhook), signing_secret: secret }
    return answer({ data, headers: { Location: `/api/v1/webhooks/${webhook.id}` } })
  },
})

const readWebhook = route({
  method: 'GET',
  path: '/webhooks/{webhook_id}',
  operation: 'getWebhook',
  tag: 'Webhooks',
  summary: 'Shows one webhook.',
  as: 'team',
  permission: 'webhook.read',
  params,
  reply: Webhook,
  etag: true,
  async handle({ params: { webhook_id }, principal, app }) {
    return presentWebhook(await webhookOf(app, principal.teamId, webhook_id))
  },
})

const updateWebhook = route({
  method: 'PATCH',
  path: '/webhooks/{webhook_id}',
  operation: 'updateWebhook',
  tag: 'Webhooks',
  summary: 'Changes a webhook; what is left out stays.',
  description: 'Enabling one clears its count of failures. Disabling one drops what waits for it.',
  as: 'team',
  permission: 'webhook.update',
  params,
  body: record(
    'WebhookUpdate',
    'What is to change.',
    {
      url: Type.Optional(WebhookUrl),
      event_types: Type.Optional(EventTypes),
      ...OPTIONAL,
      enabled: Type.Optional(Type.Boolean({ description: 'Whether it is told of what happens.' })),
    },
    { description: 'The shop.', event_types: ['*'] },
  ),
  reply: Webhook,
  etag: true,
  async handle({ params: { webhook_id }, body, principal, app, request }) {
    await checkNarrowing(app, principal.teamId, body)
    const input = {
      url: body.url,
      eventTypes: body.event_types === undefined ? undefined : checkTypes(body.event_types),
      description: body.description,
      mailboxIds: body.mailbox_ids,
      domainIds: body.domain_ids,
      enabled: body.enabled,
    }
    const matches = (current: WebhookRecord) => request.matches(presentWebhook(current))
    return presentWebhook(await app.eventDispatch.update(principal.teamId, webhook_id, input, matches))
  },
})

const deleteWebhook = route({
  method: 'DELETE',
  path: '/webhooks/{webhook_id}',
  operation: 'deleteWebhook',
  tag: 'Webhooks',
  summary: 'Ends a webhook for good; retries that wait are dropped.',
  as: 'team',
  permission: 'webhook.delete',
  params,
  reply: record('DeletedWebhook', 'It is gone.', { deleted: Type.Literal(true) }),
  etag: true,
  async handle({ params: { webhook_id }, principal, app, request }) {
    const matches = (current: WebhookRecord) => request.matches(presentWebhook(current))
    await app.eventDispatch.webhooks.remove(principal.teamId, webhook_id, matches)
    return { deleted: true }
  },
})

const rotateWebhookSecret = route({
  method: 'POST',
  path: '/webhooks/{webhook_id}/rotate-secret',
  operation: 'rotateWebhookSecret',
  tag: 'Webhooks',
  summary: 'Gives a webhook a new signing secret.',
  description:
    'Shown in this answer only. During the grace requests carry a second signature under the old secret: ' +
    '`X-Service-Signature-Previous`, and a second one in `webhook-signature`.',
  as: 'team',
  permission: 'webhook.manage',
  idempotent: true,
  secret: true,
  params,
  body: record(
    'WebhookRotate',
    'How the old secret ends.',
    {
      grace_seconds: Default(
        Type.Integer({
          minimum: 0,
          maximum: GRACE_SECONDS_MAX,
          description: 'Seconds for which the old secret signs too.',
        }),
        86_400,
      ),
    },
    { grace_seconds: 3600 },
  ),
  bodyOptional: true,
  reply: NewWebhook,
  etag: true,
  async handle({ params: { webhook_id }, body, principal, app, request }) {
    const matches = (current: WebhookRecord) => request.matches(presentWebhook(current))
    const { webhooks } = app.eventDispatch
    const { webhook, secret } = await webhooks.rotateSecret(principal.teamId, webhook_id, body.grace_seconds, matches)
    const version = presentWebhook(webhook)
    return answer({ data: { ...version, signing_secret: secret }, version })
  },
})

/** @throws ProductError not_found */
export async function webhookOf(app: Context, teamId: string, id: string): Promise<WebhookRecord> {
  const webhook = await app.eventDispatch.webhooks.get(teamId, id)
  if (webhook === undefined) throw notFound('webhook')
  return webhook
}

function checkTypes(types: readonly string[]): readonly string[] {
  if (types.includes('*') && types.length > 1) {
    throw invalid('event_types', 'forbidden_value', 'The type * stands alone: it means all.')
  }
  return types
}

/** What is not the team's is told like what does not exist. */
async function checkNarrowing(
  app: Context,
  teamId: string,
  body: { mailbox_ids?: string[] | null; domain_ids?: string[] | null },
): Promise<void> {
  const { mailboxes, domains } = app.directory
  for (const [index, id] of (body.mailbox_ids ?? []).entries()) {
    if (await mailboxes.get(teamId, id)) continue
    throw invalid(`mailbox_ids.${index}`, 'not_found', 'There is no such mailbox.')
  }
  for (const [index, id] of (body.domain_ids ?? []).entries()) {
    if (await domains.get(teamId, id)) continue
    throw invalid(`domain_ids.${index}`, 'not_found', 'There is no such domain.')
  }
}

export const webhooks = [listWebhooks, createWebhook, readWebhook, updateWebhook, deleteWebhook, rotateWebhookSecret]
