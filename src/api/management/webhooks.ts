// The webhook subscriptions of a team.

import { Type } from 'typebox'
import { invalid, notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { createdBy } from '../../directory/names/principal.ts'
import type { Webhook } from '../../events/webhooks/records.ts'
import { GRACE_SECONDS_MAX } from '../../events/webhooks/subscriptions.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, listOf, Nullable, pageQuery } from '../../http/schema.ts'
import { openedByWebhook } from '../../people/opens.ts'
import { record } from '../schemas/record.ts'
import {
  DomainIds,
  EventTypes,
  MailboxIds,
  NewWebhook,
  presentWebhook,
  WebhookJson,
  WebhookStatus,
  WebhookUrl,
} from '../schemas/webhook.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ webhook_id: Id('webhook') })

const OPTIONAL = {
  description: Type.Optional(
    Nullable(Type.String({ maxLength: 255, description: 'A note for the list of webhooks.' })),
  ),
  mailbox_ids: Type.Optional(Nullable({ ...MailboxIds, description: 'Only events of these mailboxes.' })),
  domain_ids: Type.Optional(
    Nullable({
      ...DomainIds,
      description: 'Only events of these domains. With `mailbox_ids`, an event has to match one of the two.',
    }),
  ),
}

const listWebhooks = route({
  method: 'GET',
  path: '/webhooks',
  docs: {
    operation: 'listWebhooks',
    tag: 'Webhooks',
    summary: 'List webhooks, newest first',
    description: 'With the types of events that each subscribes to; secrets are not in the answer.',
  },
  access: { as: 'team', permission: 'webhook.read' },
  query: pageQuery({ limit: MANAGEMENT_PAGE, status: WebhookStatus }),
  reply: { schema: listOf(WebhookJson) },
  handle({ query: { status, limit }, after, principal, app }) {
    const page = app.eventDispatch.webhooks.list(principal.teamId, { status, limit, after })
    return { items: page.items.map(presentWebhook), next: page.next }
  },
})

const createWebhook = route({
  method: 'POST',
  path: '/webhooks',
  docs: {
    operation: 'createWebhook',
    tag: 'Webhooks',
    summary: 'Subscribe an https URL to events',
    description:
      'The signing secret is shown in this response only. 422 `forbidden_value` when the URL resolves to no public address; 409 ' +
      'above 20 webhooks.',
  },
  access: { as: 'team', permission: 'webhook.create', fresh: true },
  idempotent: true,
  reply: { secret: true, schema: NewWebhook, status: 201 },
  body: {
    schema: record(
      'WebhookCreate',
      'The new webhook.',
      {
        url: WebhookUrl,
        event_types: EventTypes,
        ...OPTIONAL,
        enabled: Default(Type.Boolean({ description: 'False creates it disabled.' }), true),
      },
      { url: 'https://93.184.215.14/hooks/mail', event_types: ['message.delivered', 'message.bounced'] },
    ),
  },
  async handle({ body, principal, app, request }) {
    checkNarrowing(app, principal.teamId, body)
    const { webhook, secret } = await app.eventDispatch.webhooks.create(principal.teamId, {
      url: body.url,
      eventTypes: checkTypes(body.event_types),
      description: body.description,
      mailboxIds: body.mailbox_ids,
      domainIds: body.domain_ids,
      ...{ enabled: body.enabled, setBy: createdBy(principal) },
    })
    request.opens(openedByWebhook(webhook))
    const data = { ...presentWebhook(webhook), signing_secret: secret }
    return answer({ data, headers: { Location: `/api/v1/webhooks/${webhook.id}` } })
  },
})

const readWebhook = route({
  method: 'GET',
  path: '/webhooks/{webhook_id}',
  docs: {
    operation: 'getWebhook',
    tag: 'Webhooks',
    summary: 'Get a webhook',
    description: 'Its secret is shown once, when it is created or replaced.',
  },
  access: { as: 'team', permission: 'webhook.read' },
  params,
  reply: { schema: WebhookJson, etag: true },
  handle({ params: { webhook_id }, principal, app }) {
    return presentWebhook(webhookOf(app, principal.teamId, webhook_id))
  },
})

const updateWebhook = route({
  method: 'PATCH',
  path: '/webhooks/{webhook_id}',
  docs: {
    operation: 'updateWebhook',
    tag: 'Webhooks',
    summary: 'Update a webhook; members left out stay',
    description:
      'Enabling a webhook resets its failure count. Disabling it drops its pending deliveries. In a browser a change of what it is sent, ' +
      'or where, needs a confirmation of the last 15 minutes.',
  },
  access: { as: 'team', permission: 'webhook.update' },
  params,
  body: {
    schema: record(
      'WebhookUpdate',
      'The changes.',
      {
        url: Type.Optional(WebhookUrl),
        event_types: Type.Optional(EventTypes),
        ...OPTIONAL,
        enabled: Type.Optional(Type.Boolean({ description: 'Whether it receives events.' })),
      },
      { description: 'The shop.', event_types: ['*'] },
    ),
  },
  reply: { schema: WebhookJson, etag: true },
  async handle({ params: { webhook_id }, body, principal, app, request }) {
    // What it is sent, and where: the note and its end are no new access.
    const { description: _note, enabled = false, ...target } = body
    const opensMore = enabled || Object.keys(target).length > 0
    if (opensMore) request.requireFreshProof()
    checkNarrowing(app, principal.teamId, body)
    const input = {
      url: body.url,
      eventTypes: body.event_types === undefined ? undefined : checkTypes(body.event_types),
      description: body.description,
      mailboxIds: body.mailbox_ids,
      domainIds: body.domain_ids,
      enabled: body.enabled,
      setBy: opensMore ? createdBy(principal) : undefined,
    }
    const matches = (current: Webhook) => request.matches(presentWebhook(current))
    const updated = await app.eventDispatch.update(principal.teamId, webhook_id, input, matches)
    if (opensMore) request.opens(openedByWebhook(updated))
    return presentWebhook(updated)
  },
})

const deleteWebhook = route({
  method: 'DELETE',
  path: '/webhooks/{webhook_id}',
  docs: {
    operation: 'deleteWebhook',
    tag: 'Webhooks',
    summary: 'Delete a webhook and drop its pending deliveries',
    description: 'No event is posted to it any more.',
  },
  access: { as: 'team', permission: 'webhook.delete' },
  params,
  reply: { schema: record('DeletedWebhook', 'It is gone.', { deleted: Type.Literal(true) }), etag: true },
  async handle({ params: { webhook_id }, principal, app, request }) {
    const matches = (current: Webhook) => request.matches(presentWebhook(current))
    await app.eventDispatch.webhooks.remove(principal.teamId, webhook_id, matches)
    return { deleted: true }
  },
})

const rotateWebhookSecret = route({
  method: 'POST',
  path: '/webhooks/{webhook_id}/rotate-secret',
  docs: {
    operation: 'rotateWebhookSecret',
    tag: 'Webhooks',
    summary: 'Rotate the signing secret of a webhook',
    description:
      'The secret is shown in this response only. During the grace period requests carry a second signature under the old secret: ' +
      'in `X-Service-Signature-Previous`, and as a second value in `webhook-signature`.',
  },
  access: { as: 'team', permission: 'webhook.manage', fresh: true },
  idempotent: true,
  reply: { secret: true, schema: NewWebhook, etag: true },
  params,
  body: {
    schema: record(
      'WebhookRotate',
      'How the old secret expires.',
      {
        grace_seconds: Default(
          Type.Integer({
            minimum: 0,
            maximum: GRACE_SECONDS_MAX,
            description: 'Seconds for which requests are also signed with the old secret.',
          }),
          86_400,
        ),
      },
      { grace_seconds: 3600 },
    ),
    optional: true,
  },
  async handle({ params: { webhook_id }, body, principal, app, request }) {
    const matches = (current: Webhook) => request.matches(presentWebhook(current))
    const { webhooks } = app.eventDispatch
    const { webhook, secret } = await webhooks.rotateSecret(principal.teamId, webhook_id, body.grace_seconds, matches)
    const version = presentWebhook(webhook)
    return answer({ data: { ...version, signing_secret: secret }, version })
  },
})

/** @throws ProductError not_found */
export function webhookOf(app: Context, teamId: string, id: string): Webhook {
  const webhook = app.eventDispatch.webhooks.get(teamId, id)
  if (webhook === undefined) throw notFound('webhook')
  return webhook
}

function checkTypes(types: readonly string[]): readonly string[] {
  if (types.includes('*') && types.length > 1) {
    throw invalid('event_types', 'forbidden_value', 'The type * includes all types. Leave out the others.')
  }
  return types
}

/** A mailbox or domain of another team is reported like a missing one. */
function checkNarrowing(
  app: Context,
  teamId: string,
  body: { mailbox_ids?: string[] | null; domain_ids?: string[] | null },
): void {
  const { mailboxes, domains } = app.directory
  for (const [index, id] of (body.mailbox_ids ?? []).entries()) {
    if (mailboxes.get(teamId, id)) continue
    throw invalid(`mailbox_ids.${index}`, 'not_found', 'The team has no mailbox with this id.')
  }
  for (const [index, id] of (body.domain_ids ?? []).entries()) {
    if (domains.get(teamId, id)) continue
    throw invalid(`domain_ids.${index}`, 'not_found', 'The team has no domain with this id.')
  }
}

export const webhooks = [listWebhooks, createWebhook, readWebhook, updateWebhook, deleteWebhook, rotateWebhookSecret]
