// Credit entries of a team, made by the operator (docs/design/directory.md §4).

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, Words } from '../../http/schema.ts'
import { CREDIT_TYPES } from '../../outbound/billing/ledger.ts'
import { AMOUNT_PATTERN, parseAmount } from '../../outbound/billing/money.ts'
import { presentTransaction, TransactionJson } from '../schemas/billing.ts'
import { record } from '../schemas/record.ts'

export const operatorCredits = route({
  method: 'POST',
  surface: 'operator',
  path: '/teams/{team_id}/credits',
  docs: {
    operation: 'createCredit',
    tag: 'Teams',
    summary: 'Add a purchase, an adjustment or a refund to the ledger of a team',
    description: 'An amount is a decimal in a text. With the same Idempotency-Key it is booked once.',
  },
  access: { as: 'operator' },
  idempotent: true,
  params: Type.Object({ team_id: Id('team') }),
  body: {
    schema: record(
      'CreditCreate',
      'The new transaction.',
      {
        amount: Type.String({
          pattern: AMOUNT_PATTERN,
          description: 'Positive; a refund reduces the balance, and an adjustment may be negative.',
          examples: ['25.00'],
        }),
        type: Default(Words(CREDIT_TYPES, '`refund`: credits paid back to the team.'), 'purchase'),
        description: Type.String({ minLength: 1, maxLength: 500, description: 'Purpose of the transaction.' }),
      },
      { type: 'purchase', amount: '25.00', description: 'Invoice 2030-117.' },
    ),
  },
  reply: { schema: TransactionJson, status: 201 },
  async handle({ params: { team_id }, body, app, request }) {
    if (app.directory.teams.get(team_id) === undefined) throw notFound('team')
    const { type, description } = body
    const credit = { type, description, amount: parseAmount(body.amount, 'amount') }
    // Stored with the entry: a lost response must not add the credit twice.
    return app.db.write((tx) => {
      const made = answer({
        data: presentTransaction(app.outbound.billing.ledger.creditIn(tx, team_id, credit)),
        status: 201,
      })
      request.keep(tx, made)
      return made
    })
  },
})
