// `mailstead mailbox alias`: adds an alias address to a mailbox.

import { presentAlias } from '../api/schemas/alias.ts'
import { ProductError } from '../base/errors.ts'
import type { Command } from './command.ts'

export const mailboxAlias: Command = {
  words: 'mailbox alias',
  summary: 'Add an alias address to a mailbox, at a verified domain of its team.',
  operands: ['email', 'alias'],
  async run(call) {
    const { directory } = await call.open()
    const [email, address] = call.operands as [string, string]
    const mailbox = directory.mailboxes.byEmail(email)
    if (mailbox === undefined) throw new ProductError('not_found', `There is no mailbox ${email}.`)
    const alias = await directory.aliases.add(mailbox.teamId, mailbox.id, address)
    return {
      data: presentAlias(alias),
      lines: [`Mail to ${alias.email} is delivered to ${mailbox.email} (${alias.id}).`],
    }
  },
}
