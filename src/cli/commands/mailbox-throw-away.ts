// `mailstead mailbox throw-away`, `throw-aways`, `end-throw-away`: addresses of a mailbox for one correspondent each.

import { presentThrowAway } from '../../api/schemas/throw-away.ts'
import { ProductError } from '../../base/errors.ts'
import type { Command } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'

export const mailboxThrowAway: Command = {
  words: 'mailbox throw-away',
  summary: 'Make a throw-away address of a mailbox for one correspondent, such as shop.example.',
  operands: ['email', 'for'],
  async run(call) {
    const { directory, administration } = await call.open()
    const [email, madeFor] = call.operands as [string, string]
    const mailbox = chooseMailbox(directory, email)
    const made = await administration.mailboxes.addThrowAway(mailbox.teamId, mailbox.id, madeFor)
    return {
      data: presentThrowAway(made),
      lines: [`Mail to ${made.email} is delivered to ${mailbox.email} (${made.id}).`],
    }
  },
}

export const mailboxThrowAways: Command = {
  words: 'mailbox throw-aways',
  summary: 'List the throw-away addresses of a mailbox, newest first.',
  operands: ['email'],
  options: LIMIT_OPTION,
  async run(call) {
    const limit = readLimit(call)
    const { directory } = await call.open()
    const mailbox = chooseMailbox(directory, call.operands[0]!)
    const page = directory.throwAway.list(mailbox.id, { limit, after: null })
    return listOutput(page.items.map(presentThrowAway), page.next !== null, {
      none: `${mailbox.email} has no throw-away addresses.`,
      head: ['Address', 'Made for', 'Paused', 'Created'],
      cells: (row) => [row.email, row.made_for, row.paused ? 'yes' : 'no', row.created_at],
    })
  },
}

export const mailboxEndThrowAway: Command = {
  words: 'mailbox end-throw-away',
  summary: 'End a throw-away address of a mailbox; mail to it is refused immediately.',
  operands: ['email', 'address'],
  async run(call) {
    const [email, address] = call.operands as [string, string]
    const { directory, administration } = await call.open()
    const mailbox = chooseMailbox(directory, email)
    const found = directory.throwAway.at(mailbox.id, address)
    if (found === undefined)
      throw new ProductError('not_found', `${mailbox.email} has no throw-away address ${address}.`)
    await administration.mailboxes.endThrowAway(mailbox.teamId, mailbox.id, found.id)
    return {
      data: { ...presentThrowAway(found), deleted: true },
      lines: [`Mail to ${found.email} is refused from now on.`],
    }
  },
}
