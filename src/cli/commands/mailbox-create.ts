// `mailstead mailbox create`: creates a mailbox, optionally with a key.

import { presentNewKey } from '../../api/schemas/api-key.ts'
import { presentMailboxAdmin } from '../../api/schemas/mailbox.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { openedByMailboxKey } from '../../people/opens.ts'
import { auditCredential } from '../frame/audit-command.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const mailboxCreate: Command = {
  words: 'mailbox create',
  summary: 'Create a mailbox at a verified domain of the team.',
  operands: ['email'],
  options: {
    ...TEAM_OPTION,
    'display-name': { value: 'name', says: 'name shown to recipients' },
    'quota-bytes': { value: 'bytes', says: 'quota in bytes (5 GiB unless given)' },
    key: { says: 'issue an API key of the mailbox as well' },
  },
  async run(call) {
    const app = await call.open()
    const { directory, administration } = app
    const team = chooseTeam(directory, call.text('team'))
    const input = {
      email: call.operands[0]!,
      displayName: call.text('display-name'),
      quotaBytes: readBytes(call.text('quota-bytes')),
    }
    if (!call.has('key')) {
      const mailbox = await administration.mailboxes.create(team.id, input)
      return { data: present(app, mailbox, 0), lines: [`Mailbox ${mailbox.email} (${mailbox.id}) is created.`] }
    }
    const { mailbox, key } = await administration.mailboxes.createWithKey(team.id, input, 'operator')
    const { id, name, permissions } = key.record
    const opens = openedByMailboxKey(mailbox.email, permissions)
    await auditCredential(app, mailboxCreate.words, {
      teamId: team.id,
      target: { type: 'key', id, label: name },
      opens,
    })
    return {
      data: { ...present(app, mailbox, 1), api_key: presentNewKey(key) },
      lines: [`Mailbox ${mailbox.email} (${mailbox.id}) is created. Its key, shown this once:`, `  ${key.secret}`],
    }
  },
}

function present(app: Context, mailbox: Mailbox, keys: number): object {
  return presentMailboxAdmin(mailbox, app.store.accounts.byMailbox(mailbox.id), { keys, appPasswords: 0 })
}

function readBytes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new ProductError('invalid_parameter', 'The quota must be a number of bytes.')
  return Number(text)
}
