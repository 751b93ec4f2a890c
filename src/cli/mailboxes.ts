// `mailstead mailbox list`, `suspend`, `reactivate`, `delete`: mailboxes of any team.

import { reactivatable } from '../api/management/mailboxes.ts'
import { type MailboxAdmin, presentMailboxAdmin } from '../api/schemas/mailbox.ts'
import { factsOf } from '../api/usage.ts'
import type { Context } from '../context.ts'
import type { Mailbox } from '../directory/mailboxes.ts'
import { sizeText } from '../maintenance/backup/size-text.ts'
import { choiceOption, oneOf } from './choice.ts'
import { type Call, type Command, type CommandResult, TEAM_OPTION } from './command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from './limit.ts'
import { chooseMailbox } from './mailbox-choice.ts'
import { chooseTeam } from './team-choice.ts'

const STATUSES = ['active', 'suspended', 'deleted'] as const

export const mailboxList: Command = {
  words: 'mailbox list',
  summary: 'List the mailboxes of a team, newest first; deleted ones only with --status deleted.',
  options: {
    ...TEAM_OPTION,
    status: choiceOption('status', STATUSES),
    search: { value: 'text', says: 'a part of the address or of the name' },
    ...LIMIT_OPTION,
  },
  async run(call) {
    const status = oneOf('status', call.text('status'), STATUSES)
    const limit = readLimit(call)
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const filter = { statuses: status && [status], search: call.text('search'), limit, after: null }
    const page = await app.directory.mailboxes.list(team.id, filter)
    const rows = present(app, page.items)
    return listOutput(rows, page.next !== null, {
      none: 'There are no mailboxes.',
      head: ['Mailbox', 'Status', 'Used', 'Keys', 'Created', 'Address'],
      cells: cellsOf,
    })
  },
}

export const mailboxSuspend: Command = {
  words: 'mailbox suspend',
  summary: 'Suspend a mailbox: mail to it is rejected and it cannot send; reading still works.',
  operands: ['email'],
  options: { reason: { value: 'text', says: 'shown with the mailbox' } },
  run: (call) =>
    change(call, 'suspended', ({ directory }, { teamId, id }) =>
      directory.mailboxes.suspend(teamId, id, call.text('reason')),
    ),
}

export const mailboxReactivate: Command = {
  words: 'mailbox reactivate',
  summary: 'Reactivate a suspended mailbox; its queued messages are sent.',
  operands: ['email'],
  run: (call) =>
    change(call, 'active', (app, { teamId, id }) => app.directory.mailboxes.reactivate(teamId, id, reactivatable(app))),
}

export const mailboxDelete: Command = {
  words: 'mailbox delete',
  summary: 'Delete a mailbox permanently: its keys are revoked and its address is free immediately.',
  operands: ['email'],
  run: (call) =>
    change(call, 'deleted', ({ administration }, { teamId, id }) => administration.mailboxes.delete(teamId, id)),
}

async function change(
  call: Call,
  what: string,
  act: (app: Context, mailbox: Mailbox) => Promise<Mailbox>,
): Promise<CommandResult> {
  const app = await call.open()
  const mailbox = await act(app, chooseMailbox(app.directory, call.operands[0]!))
  const [shown] = present(app, [mailbox])
  return { data: shown!, lines: [`${mailbox.email} (${mailbox.id}) is ${what}.`] }
}

function present(app: Context, mailboxes: readonly Mailbox[]): MailboxAdmin[] {
  const ids = mailboxes.map(({ id }) => id)
  const usage = app.store.accounts.byMailboxes(ids)
  const facts = factsOf(app, ids)
  return mailboxes.map((mailbox) => presentMailboxAdmin(mailbox, usage.get(mailbox.id), facts(mailbox.id)))
}

function cellsOf(row: MailboxAdmin): string[] {
  const used = row.quota_used_bytes === undefined ? '' : sizeText(row.quota_used_bytes)
  return [row.id, row.status, used, String(row.api_key_count), row.created_at, row.email]
}
