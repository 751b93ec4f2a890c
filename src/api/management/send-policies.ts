// What programs of a mailbox may send without a person.

import { type Static, Type } from 'typebox'
import { conflict } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, Nullable, Words } from '../../http/schema.ts'
import { LISTED_MAX, SEND_APPROVALS, type SendPolicy } from '../../outbound/held/policies.ts'
import { record } from '../schemas/record.ts'
import { TimeOrNull } from '../schemas/time.ts'
import { mailboxOf } from './mailbox-of.ts'

const PATH = '/mailboxes/{mailbox_id}/send-policy'
const params = Type.Object({ mailbox_id: Id('mailbox') })
const RecipientLimit = (unit: string) =>
  Default(
    Nullable(
      Type.Integer({ minimum: 0, maximum: 100_000, description: `Recipients per ${unit}; null: no limit of its own.` }),
    ),
    null,
  )
const Entries = (description: string) =>
  Default(Type.Array(Type.String({ minLength: 3, maxLength: 320 }), { maxItems: LISTED_MAX, description }), [])

const MEMBERS = {
  send_approval: Words(
    SEND_APPROVALS,
    'Which messages of programs wait for a person; each includes the ones before. first_contact: to addresses that no person has written to; ' +
      'after_reading_strangers: for a day after a program has read a message of a stranger; always: all.',
  ),
  allow_to: Entries('Addresses, or `@domain`. If any is set, programs write to no other address.'),
  block_to: Entries('Addresses, or `@domain`, that programs never write to.'),
  replies_only: Default(
    Type.Boolean({ description: 'Programs write only to authenticated authors of the thread they answer in.' }),
    false,
  ),
  hourly_recipients: RecipientLimit('hour'),
  daily_recipients: RecipientLimit('day'),
}

const NewPolicy = record('SendPolicyInput', 'What programs of a mailbox may send without a person.', MEMBERS, {
  send_approval: 'first_contact',
  block_to: ['@rival.example'],
})
const Policy = record('SendPolicy', 'What programs of a mailbox may send without a person.', {
  mailbox_id: Id('mailbox'),
  ...MEMBERS,
  tainted_until: TimeOrNull('Until when a message of a stranger marks its programs; null when none was read.'),
})

const readPolicy = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'getMailboxSendPolicy',
    tag: 'Mailboxes',
    summary: 'Get what programs of a mailbox may send without a person',
    description: 'Programs: keys, agents and app passwords. Signed-in persons send freely.',
  },
  access: { as: 'team', permission: 'mailbox.admin.read' },
  params,
  reply: { schema: Policy, etag: true },
  handle({ params: { mailbox_id: id }, principal, app }) {
    mailboxOf(app, principal.teamId, id)
    return present(app, id)
  },
})

const replacePolicy = route({
  method: 'PUT',
  path: PATH,
  docs: {
    operation: 'replaceMailboxSendPolicy',
    tag: 'Mailboxes',
    summary: 'Replace what programs of a mailbox may send without a person',
    description:
      'While messages may wait, or recipients are limited, keys of the mailbox make no app passwords, forwards, scripts, vacation responses or ' +
      'identities. ' +
      'Messages that wait already stay held.',
    errors: ['conflict'],
  },
  access: { as: 'team', permission: 'mailbox.admin.manage', fresh: true },
  params,
  body: { schema: NewPolicy },
  reply: { schema: Policy, etag: true },
  async handle({ params: { mailbox_id: id }, body, principal, app, request }) {
    const mailbox = mailboxOf(app, principal.teamId, id)
    if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
    await app.db.write((tx) => {
      request.matches(present(app, id))
      app.outbound.held.policies.put(tx, mailbox, {
        approval: body.send_approval,
        ...{ allowTo: body.allow_to, blockTo: body.block_to, repliesOnly: body.replies_only },
        ...{ hourlyRecipients: body.hourly_recipients, dailyRecipients: body.daily_recipients },
      })
    })
    return answer({ data: present(app, id) })
  },
})

const FREE: Pick<
  SendPolicy,
  'approval' | 'allowTo' | 'blockTo' | 'repliesOnly' | 'hourlyRecipients' | 'dailyRecipients'
> = {
  ...{ approval: 'none', allowTo: [], blockTo: [], repliesOnly: false, hourlyRecipients: null, dailyRecipients: null },
}

function present(app: Context, id: string): Static<typeof Policy> {
  const { policies, reads } = app.outbound.held
  const policy = policies.ofIn(app.db.read, id) ?? FREE
  const until = reads.taintedUntil(app.db.read, id)
  return {
    ...{ mailbox_id: id, send_approval: policy.approval, allow_to: [...policy.allowTo], block_to: [...policy.blockTo] },
    ...{ replies_only: policy.repliesOnly, hourly_recipients: policy.hourlyRecipients },
    ...{
      daily_recipients: policy.dailyRecipients,
      tainted_until: until === null ? null : new Date(until).toISOString(),
    },
  }
}

export const sendPolicies = [readPolicy, replacePolicy]
