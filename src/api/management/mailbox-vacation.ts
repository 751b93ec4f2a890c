// The vacation response of a mailbox, as its team reads and replaces it: for a person who is away already.

import { Type } from 'typebox'
import { conflict } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import { accountOf } from '../rules/account.ts'
import { ANSWERS, refuseOutside } from '../rules/outside.ts'
import {
  NewResponse,
  NOT_ANSWERED,
  presentVacation,
  refuseAgent,
  responseOf,
  VacationResponse,
} from '../rules/vacation.ts'
import { mailboxOf } from './mailbox-of.ts'

const PATH = '/mailboxes/{mailbox_id}/vacation-response'
const ofMailbox = Type.Object({ mailbox_id: Id('mailbox') })

const readVacation = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'getMailboxVacationResponse',
    errors: ['conflict'],
    tag: 'Mailboxes',
    summary: 'Get the vacation response of a mailbox',
    description: 'The one that the owner of the mailbox sees and changes.',
  },
  access: { as: 'team', permission: 'mailbox.admin.read', gate: 'vacation_response' },
  params: ofMailbox,
  reply: { schema: VacationResponse, etag: true },
  handle({ params: { mailbox_id: id }, principal, app }) {
    return presentVacation(app, accountWithAnswers(app, principal.teamId, id))
  },
})

const replaceVacation = route({
  method: 'PUT',
  path: PATH,
  docs: {
    operation: 'replaceMailboxVacationResponse',
    errors: ['conflict'],
    tag: 'Mailboxes',
    summary: 'Replace the vacation response of a mailbox',
    description: NOT_ANSWERED,
  },
  access: { as: 'team', permission: 'mailbox.admin.manage', gate: 'vacation_response' },
  params: ofMailbox,
  body: { schema: NewResponse },
  reply: { schema: VacationResponse, etag: true },
  async handle({ params: { mailbox_id: id }, body, principal, app, request }) {
    const account = accountWithAnswers(app, principal.teamId, id)
    refuseAgent(app, id)
    const response = responseOf(body)
    await app.store.delivery.vacations.set(account, response, (tx) =>
      request.matches(presentVacation(app, account, tx)),
    )
    return presentVacation(app, account)
  },
})

/** @throws ProductError not_found, conflict for an outside account and a suspended mailbox */
function accountWithAnswers(app: Context, teamId: string, mailboxId: string) {
  const mailbox = mailboxOf(app, teamId, mailboxId)
  refuseOutside(mailbox, ANSWERS)
  if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
  return accountOf(app, { mailboxId })
}

export const mailboxVacation = [readVacation, replaceVacation]
