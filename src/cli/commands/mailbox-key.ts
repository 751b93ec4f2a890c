// `mailstead mailbox key`: issues an API key of a mailbox.

import { presentNewKey } from '../../api/schemas/api-key.ts'
import { openedByMailboxKey } from '../../people/opens.ts'
import { auditCredential } from '../frame/audit-command.ts'
import type { Command } from '../frame/command.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'

export const mailboxKey: Command = {
  words: 'mailbox key',
  summary: 'Issue an API key of a mailbox.',
  operands: ['email'],
  options: { name: { value: 'name', says: 'name of the key, shown in lists' } },
  async run(call) {
    const app = await call.open()
    const { directory } = app
    const mailbox = chooseMailbox(directory, call.operands[0]!)
    const key = await directory.mailboxes.issueKey(mailbox.teamId, mailbox.id, {
      name: call.text('name') ?? 'command line',
      createdBy: 'operator',
    })
    const { id, name, permissions } = key.record
    const opens = openedByMailboxKey(mailbox.email, permissions)
    const target = { type: 'key', id, label: name }
    await auditCredential(app, mailboxKey.words, { teamId: mailbox.teamId, target, opens })
    return {
      data: presentNewKey(key),
      lines: [`Key ${key.record.id} of ${mailbox.email}, shown this once:`, `  ${key.secret}`],
    }
  },
}
