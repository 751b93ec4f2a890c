// `mailstead mailbox list`, `suspend`, `reactivate`, `delete`, `restore`, `erase`: mailboxes of any team.

import { reactivatable } from '../../api/management/mailboxes.ts'
import { presentRestored } from '../../api/rules/restored-mailbox.ts'
import { factsOf } from '../../api/rules/usage.ts'
import { type MailboxAdmin, presentMailboxAdmin } from '../../api/schemas/mailbox.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { sizeText } from '../../maintenance/backup/size-text.ts'
import { auditCredential } from '../frame/audit-command.ts'
import { choiceOption, oneOf } from '../frame/choice.ts'
import { type Call, type Command, type CommandResult, TEAM_OPTION } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { chooseDeleted, chooseMailbox } from '../frame/mailbox-choice.ts'
import { chooseTeam } from '../frame/team-choice.ts'

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
  summary: 'Delete a mailbox: its keys are revoked and its address is free immediately. It can be restored for a time.',
  operands: ['email'],
  run: (call) =>
    change(call, 'deleted', ({ administration }, { teamId, id }) => administration.mailboxes.delete(teamId, id)),
}

export const mailboxRestore: Command = {
  words: 'mailbox restore',
  summary: 'Restore a deleted mailbox with its content and settings; its credentials stay revoked.',
  operands: ['mailbox'],
  options: { email: { value: 'address', says: 'restore it under another address, when its own is in use' } },
  async run(call) {
    const app = await call.open()
    const { teamId, id } = chooseDeleted(app.directory, call.operands[0]!)
    const restored = await app.administration.mailboxes.restore(teamId, id, call.text('email'))
    const { mailbox, lostAliases } = restored
    const target = { type: 'mailbox', id, label: mailbox.email }
    await auditCredential(app, mailboxRestore.words, { teamId, target })
    const lost = lostAliases.map(
      (alias) => `The alias ${alias} is in use or has no verified domain: it is not restored.`,
    )
    return { data: presentRestored(app, restored), lines: [`${mailbox.email} (${id}) is ${mailbox.status}.`, ...lost] }
  },
}

export const mailboxErase: Command = {
  words: 'mailbox erase',
  summary: 'Erase a deleted mailbox now: it cannot be restored any more.',
  operands: ['mailbox'],
  async run(call) {
    const app = await call.open()
    const { teamId, id, email } = chooseDeleted(app.directory, call.operands[0]!)
    await app.administration.mailboxes.erase(teamId, id)
    await auditCredential(app, mailboxErase.words, { teamId, target: { type: 'mailbox', id, label: email } })
    return { data: { id, deleted: true }, lines: [`${email} (${id}) is erased.`] }
  },
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
  return mailboxes.map((mailbox) => presentMailboxAdmin(mailbox, usage.get(mailbox.id), facts(mailbox)))
}

function cellsOf(row: MailboxAdmin): string[] {
  const used = row.quota_used_bytes === undefined ? '' : sizeText(row.quota_used_bytes)
  return [row.id, row.status, used, String(row.api_key_count), row.created_at, row.email]
}
