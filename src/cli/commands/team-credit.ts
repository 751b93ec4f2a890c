// `mailstead team credit`: enters a purchase, an adjustment or a refund into the ledger of a team.

import { presentTransaction } from '../../api/schemas/billing.ts'
import { ProductError } from '../../base/errors.ts'
import { CREDIT_TYPES, type Credit } from '../../outbound/billing/ledger.ts'
import { decimal, parseAmount } from '../../outbound/billing/money.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const teamCredit: Command = {
  words: 'team credit',
  summary: 'Record a purchase, an adjustment or a refund in the ledger of a team.',
  operands: ['amount'],
  options: {
    ...TEAM_OPTION,
    type: { value: 'type', says: `${CREDIT_TYPES.join(', ')}; purchase unless given`, words: CREDIT_TYPES },
    // A word that begins with a dash would be an option.
    less: { says: 'subtract the amount (adjustments only)' },
    description: { value: 'text', says: 'reason, shown in the ledger' },
  },
  async run(call) {
    const type = (call.text('type') ?? (call.has('less') ? 'adjustment' : 'purchase')) as Credit['type']
    if (!CREDIT_TYPES.includes(type)) {
      throw new ProductError('invalid_parameter', `The type must be one of ${CREDIT_TYPES.join(', ')}.`)
    }
    const given = parseAmount(call.operands[0]!, 'amount')
    const { directory, outbound } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const description = call.text('description') ?? 'command line'
    const made = await outbound.billing.ledger.credit(team.id, {
      type,
      amount: call.has('less') ? -given : given,
      description,
    })
    return {
      data: presentTransaction(made),
      lines: [
        `${decimal(made.amount)} ${made.currency} recorded; the balance of ${team.name} is ${decimal(made.balanceAfter)}.`,
      ],
    }
  },
}
