// The vacation response of a mailbox, by its own credentials (docs/design/mailbox.md §13).

import { route } from '../../../http/route.ts'
import { accountOf, writableAccountOf } from '../../rules/account.ts'
import { ANSWERS, refuseOutsideCredential } from '../../rules/outside.ts'
import {
  NewResponse,
  NOT_ANSWERED,
  presentVacation,
  refuseAgent,
  responseOf,
  VacationResponse,
} from '../../rules/vacation.ts'

const readVacation = route({
  method: 'GET',
  path: '/mailbox/vacation-response',
  docs: {
    operation: 'getVacationResponse',
    errors: ['conflict'],
    tag: 'Mailbox',
    summary: 'Get the vacation response',
    description: 'Disabled and empty until it is first set. A Sieve script with `vacation` answers in its place.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read', gate: 'vacation_response' },
  reply: { schema: VacationResponse, etag: true },
  handle({ principal, app }) {
    refuseOutsideCredential(app, principal, ANSWERS)
    return presentVacation(app, accountOf(app, principal))
  },
})

const replaceVacation = route({
  method: 'PUT',
  path: '/mailbox/vacation-response',
  docs: {
    operation: 'replaceVacationResponse',
    tag: 'Mailbox',
    summary: 'Replace the vacation response',
    description: NOT_ANSWERED,
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'vacation_response' },
  body: { schema: NewResponse },
  reply: { schema: VacationResponse, etag: true },
  async handle({ body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    refuseOutsideCredential(app, principal, ANSWERS)
    refuseAgent(app, principal.mailboxId)
    const response = responseOf(body)
    await app.store.delivery.vacations.set(account, response, (tx) =>
      request.matches(presentVacation(app, account, tx)),
    )
    return presentVacation(app, account)
  },
})

export const vacation = [readVacation, replaceVacation]
