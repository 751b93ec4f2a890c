// `mailstead mailbox alias`, `aliases`, `remove-alias`: alias addresses of a mailbox.

import { presentAlias } from '../../api/schemas/alias.ts'
import { ProductError } from '../../base/errors.ts'
import type { Command } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'

export const mailboxAlias: Command = {
  words: 'mailbox alias',
  summary: 'Add an alias address to a mailbox, at a verified domain of its team.',
  operands: ['email', 'alias'],
  async run(call) {
    const { directory, administration } = await call.open()
    const [email, address] = call.operands as [string, string]
    const mailbox = chooseMailbox(directory, email)
    const alias = await administration.mailboxes.addAlias(mailbox.teamId, mailbox.id, address)
    return {
      data: presentAlias(alias),
      lines: [`Mail to ${alias.email} is delivered to ${mailbox.email} (${alias.id}).`],
    }
  },
}

export const mailboxAliases: Command = {
  words: 'mailbox aliases',
  summary: 'List the alias addresses of a mailbox, newest first.',
  operands: ['email'],
  options: LIMIT_OPTION,
  async run(call) {
    const limit = readLimit(call)
    const { directory } = await call.open()
    const mailbox = chooseMailbox(directory, call.operands[0]!)
    const page = directory.aliases.list(mailbox.id, { limit, after: null })
    const rows = page.items.map(presentAlias)
    return listOutput(rows, page.next !== null, {
      none: `${mailbox.email} has no aliases.`,
      head: ['Alias', 'Created'],
      cells: (row) => [row.email, row.created_at],
    })
  },
}

export const mailboxRemoveAlias: Command = {
  words: 'mailbox remove-alias',
  summary: 'Remove an alias address of a mailbox; mail to it is rejected immediately.',
  operands: ['email', 'alias'],
  async run(call) {
    const [email, address] = call.operands as [string, string]
    const { directory, administration } = await call.open()
    const mailbox = chooseMailbox(directory, email)
    const alias = directory.aliases.named(mailbox.id, address)
    if (alias === undefined) throw new ProductError('not_found', `${mailbox.email} has no alias ${address}.`)
    await administration.mailboxes.removeAlias(mailbox.teamId, mailbox.id, alias.id)
    const data = { ...presentAlias(alias), deleted: true }
    return { data, lines: [`${alias.email} is no longer an alias of ${mailbox.email}.`] }
  },
}
