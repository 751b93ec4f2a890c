// `mailstead webhook list`, `show`, `create`, `update`, `delete`: the webhooks of a team.

import { presentWebhook, type WebhookJson } from '../../api/schemas/webhook.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import type { Context } from '../../context.ts'
import { EVENT_TYPES } from '../../events/event-types.ts'
import type { Webhook } from '../../events/webhooks/records.ts'
import type { WebhookInput } from '../../events/webhooks/subscriptions.ts'
import { openedByWebhook } from '../../people/opens.ts'
import { auditCredential } from '../frame/audit-command.ts'
import { type Call, type Command, type CommandOption, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'
import { checkId } from '../frame/options.ts'
import { statusList } from '../frame/status-list.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const EVERY = '*'
const NONE = 'none'
const DESCRIPTION_MAX = 255
const WEBHOOK_ID = new RegExp(idPattern('webhook'))
export const WEBHOOK_OPERAND = 'webhook (whk_…)'

const FIELDS: Readonly<Record<string, CommandOption>> = {
  event: {
    value: 'type',
    says: `type of event; may be repeated. One of ${EVENT_TYPES.join(', ')}, or '${EVERY}' for all`,
    words: [...EVENT_TYPES, EVERY],
    many: true,
  },
  mailbox: {
    value: 'email',
    says: `only events of this mailbox; may be repeated; ${NONE} for all mailboxes`,
    many: true,
  },
  domain: { value: 'domain', says: `only events of this domain; may be repeated; ${NONE} for all domains`, many: true },
  description: { value: 'text', says: 'a note for the list' },
}

export const webhookList = statusList({
  words: 'webhook list',
  summary: 'List the webhooks of a team, newest first.',
  statuses: ['enabled', 'disabled'],
  list: ({ eventDispatch }, teamId, filter) => eventDispatch.webhooks.list(teamId, filter),
  present: presentWebhook,
  table: {
    none: 'There are no webhooks. Add one with mailstead webhook create.',
    head: ['Webhook', 'Status', 'Last success', 'URL'],
    cells: (row) => [row.id, row.status, row.last_success_at ?? 'never', row.url],
  },
})

export const webhookShow: Command = {
  words: 'webhook show',
  summary: 'Show a webhook and why it is disabled.',
  operands: [WEBHOOK_OPERAND],
  async run(call) {
    const row = presentWebhook(chooseWebhook(await call.open(), call.operands[0]!))
    return { data: row, lines: linesOf(row) }
  },
}

export const webhookCreate: Command = {
  words: 'webhook create',
  summary: 'Subscribe an https URL to events and print its signing secret.',
  operands: ['url'],
  options: { ...TEAM_OPTION, ...FIELDS, disabled: { says: 'create it disabled' } },
  examples: ['mailstead webhook create https://example.com/hook --event message.delivered --event message.bounced'],
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const input = readInput(call, app, team.id)
    const { webhook, secret } = await app.eventDispatch.webhooks.create(team.id, {
      ...input,
      url: call.operands[0]!,
      eventTypes: input.eventTypes ?? [EVERY],
      enabled: !call.has('disabled'),
      setBy: 'operator',
    })
    await noteOpened(app, webhookCreate.words, webhook)
    const row = presentWebhook(webhook)
    return {
      data: { ...row, signing_secret: secret },
      lines: [
        `Webhook ${row.id} for ${row.event_types.join(', ')}. Its signing secret, shown this once:`,
        `  ${secret}`,
      ],
    }
  },
}

export const webhookUpdate: Command = {
  words: 'webhook update',
  summary: 'Change a webhook, enable or disable it; what is not given stays.',
  operands: [WEBHOOK_OPERAND],
  options: {
    url: { value: 'url', says: 'new https URL' },
    ...FIELDS,
    enable: { says: 'enable it; the count of its failures starts again' },
    disable: { says: 'disable it; its pending deliveries are dropped' },
  },
  async run(call) {
    const app = await call.open()
    const { teamId, id } = chooseWebhook(app, call.operands[0]!)
    if (call.has('enable') && call.has('disable')) {
      throw new ProductError('invalid_parameter', 'Give --enable or --disable, not both.')
    }
    const enabled = call.has('enable') ? true : call.has('disable') ? false : undefined
    const change = { ...readInput(call, app, teamId), url: call.text('url'), enabled }
    if (Object.values(change).every((value) => value === undefined)) {
      throw new ProductError('missing_parameter', 'Nothing to change. See mailstead webhook update --help.')
    }
    const webhook = await app.eventDispatch.update(teamId, id, { ...change, setBy: 'operator' }, () => {})
    await noteOpened(app, webhookUpdate.words, webhook)
    const row = presentWebhook(webhook)
    return { data: row, lines: linesOf(row) }
  },
}

function noteOpened(app: Context, words: string, webhook: Webhook): Promise<void> {
  const { teamId, id } = webhook
  return auditCredential(app, words, {
    teamId,
    target: { type: 'webhook', id, label: null },
    opens: openedByWebhook(webhook),
  })
}

export const webhookDelete: Command = {
  words: 'webhook delete',
  summary: 'Delete a webhook and drop its pending deliveries.',
  operands: [WEBHOOK_OPERAND],
  async run(call) {
    const app = await call.open()
    const { teamId, id, url } = chooseWebhook(app, call.operands[0]!)
    await app.eventDispatch.webhooks.remove(teamId, id)
    return { data: { id, team_id: teamId, deleted: true }, lines: [`Webhook ${id} (${url}) is deleted.`] }
  },
}

/** @throws ProductError invalid_parameter, not_found */
export function chooseWebhook({ eventDispatch }: Context, text: string): Webhook {
  const id = checkId(text, WEBHOOK_ID, WEBHOOK_OPERAND)
  const webhook = eventDispatch.webhooks.byId(id)
  if (webhook === undefined) throw new ProductError('not_found', `There is no webhook ${id}.`)
  return webhook
}

/** @throws ProductError for a mailbox or domain of another team */
function readInput(call: Call, app: Context, teamId: string): WebhookInput {
  const types = [...new Set(call.all('event'))]
  if (types.includes(EVERY) && types.length > 1) {
    throw new ProductError('invalid_parameter', `The type ${EVERY} includes all types. Leave out the others.`)
  }
  const description = call.text('description')
  if (description !== undefined && description.length > DESCRIPTION_MAX) {
    throw new ProductError('invalid_parameter', `The description is longer than ${DESCRIPTION_MAX} characters.`)
  }
  return {
    eventTypes: types.length === 0 ? undefined : types,
    description: description === NONE ? null : description,
    mailboxIds: narrowing(call.all('mailbox'), (email) => {
      const mailbox = chooseMailbox(app.directory, email)
      if (mailbox.teamId === teamId) return mailbox.id
      throw new ProductError('not_found', `Team ${teamId} has no mailbox ${email}.`)
    }),
    domainIds: narrowing(call.all('domain'), (name) => chooseDomain(app, teamId, name).id),
  }
}

/** @returns undefined when the option was not given, null for all */
function narrowing(given: readonly string[], idOf: (name: string) => string): string[] | null | undefined {
  if (given.length === 0) return undefined
  if (given.length === 1 && given[0] === NONE) return null
  return [...new Set(given.map(idOf))]
}

function linesOf(row: WebhookJson): string[] {
  const why = row.disabled_reason === null ? '' : ` (${row.disabled_reason})`
  const facts: [string, string | null][] = [
    ['url', row.url],
    ['description', row.description],
    ['events', row.event_types.join(', ')],
    ['mailboxes', row.mailbox_ids?.join(', ') ?? null],
    ['domains', row.domain_ids?.join(', ') ?? null],
    ['failures in a row', String(row.consecutive_failures)],
    ['last success', row.last_success_at ?? 'never'],
  ]
  const shown = facts.flatMap(([name, value]) => (value === null ? [] : [[`  ${name}`, value]]))
  return [`Webhook ${row.id} is ${row.status}${why}.`, '', ...table(shown)]
}
