// `mailstead remote list`, `show`, `pause`, `resume`, `sync`, `confirm-removal`, `undo-removal`, `delete`: outside accounts of any team.

import { presentRemoteAccount, type RemoteAccountJson } from '../../api/schemas/remote-account.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { REMOVAL_SIDES, type RemoteAccount } from '../../sync/model/records.ts'
import { oneOf } from '../frame/choice.ts'
import type { Call, Command, CommandResult } from '../frame/command.ts'
import { statusList } from '../frame/status-list.ts'
import { table } from '../frame/table.ts'
import { FOLLOW_OPTION, followImport } from './remote-import.ts'

const KEPT = ['keep', 'erase'] as const
export const REMOTE_OPERAND = 'account (racc_… or its address)'

export const remoteList = statusList({
  words: 'remote list',
  summary: 'List the outside accounts of a team, newest first.',
  statuses: ['pending', 'importing', 'active', 'delayed', 'paused', 'error'],
  list: ({ sync }, teamId, filter) => sync.accounts.list(teamId, filter),
  present: presentRemoteAccount,
  table: {
    none: 'There are no outside accounts. Attach one with mailstead remote add.',
    head: ['Account', 'Address', 'Mode', 'Status', 'Imported', 'Last compared', 'Name'],
    cells: cellsOf,
  },
})

export const remoteShow: Command = {
  words: 'remote show',
  summary: 'Show an outside account: how far its import is, and why it is not active.',
  operands: [REMOTE_OPERAND],
  options: { ...FOLLOW_OPTION },
  async run(call) {
    const app = await call.open()
    const chosen = chooseRemote(app, call.operands[0]!)
    const account = call.has('follow') ? await followImport(call, app, chosen) : chosen
    const row = presentRemoteAccount(account)
    return { data: row, lines: linesOf(row) }
  },
}

export const remotePause: Command = {
  words: 'remote pause',
  summary: 'Stop following an outside account; changes made here are kept.',
  operands: [REMOTE_OPERAND],
  run: (call) => change(call, ({ sync }, { teamId, id }) => sync.accounts.pause(teamId, id)),
}

export const remoteResume: Command = {
  words: 'remote resume',
  summary: 'Sign in to a paused or failed outside account again.',
  operands: [REMOTE_OPERAND],
  run: (call) => change(call, ({ sync }, { teamId, id }) => sync.accounts.resume(teamId, id)),
}

export const remoteSync: Command = {
  words: 'remote sync',
  summary: 'Compare an outside account with its mailbox now.',
  operands: [REMOTE_OPERAND],
  run: (call) => change(call, ({ sync }, { teamId, id }) => sync.accounts.sync(teamId, id)),
}

export const remoteConfirmRemoval: Command = {
  words: 'remote confirm-removal',
  summary: 'Let a removal of many messages on one side happen on the other.',
  operands: [REMOTE_OPERAND],
  options: {
    at: { value: 'side', says: 'server or here: where the messages are that are then removed', words: REMOVAL_SIDES },
  },
  run(call) {
    const at = oneOf('at', call.text('at'), REMOVAL_SIDES)
    return change(call, ({ sync }, { teamId, id }) => sync.accounts.confirmRemoval(teamId, id, at))
  },
}

export const remoteUndoRemoval: Command = {
  words: 'remote undo-removal',
  summary: 'Keep the messages of a held removal, and put them back where they are gone.',
  operands: [REMOTE_OPERAND],
  options: {
    at: { value: 'side', says: 'server or here: where the messages are that are kept', words: REMOVAL_SIDES },
  },
  run(call) {
    const at = oneOf('at', call.text('at'), REMOVAL_SIDES)
    return change(call, ({ sync }, { teamId, id }) => sync.accounts.undoRemoval(teamId, id, at))
  },
}

export const remoteDelete: Command = {
  words: 'remote delete',
  summary: 'End an outside account; nothing is removed at the other side.',
  operands: [REMOTE_OPERAND],
  options: {
    'on-messages': {
      value: 'what',
      says: 'of a mirror: keep its mailbox readable (unless given), or erase it',
      words: KEPT,
    },
  },
  async run(call) {
    const kept = oneOf('on-messages', call.text('on-messages'), KEPT) ?? 'keep'
    const app = await call.open()
    const { id, teamId, email } = chooseRemote(app, call.operands[0]!)
    await app.administration.outsideAccounts.delete(teamId, id, kept)
    return { data: { id, team_id: teamId, deleted: true }, lines: [`The outside account ${email} (${id}) is ended.`] }
  },
}

/** @throws ProductError not_found; conflict for an address that several teams have attached */
export function chooseRemote({ sync }: Pick<Context, 'sync'>, text: string): RemoteAccount {
  const found = text.startsWith('racc_')
    ? [sync.accounts.byId(text)].flatMap((one) => one ?? [])
    : sync.accounts.byEmail(text.toLowerCase())
  const [account, ...others] = found
  if (account === undefined) throw new ProductError('not_found', `There is no outside account ${text}.`)
  if (others.length > 0) {
    throw new ProductError('conflict', `Several teams have attached ${text}: ${found.map(({ id }) => id).join(', ')}.`)
  }
  return account
}

/** A summary in one line. */
export function remoteLine({ email, id, status, status_reason: reason }: RemoteAccountJson): string {
  return `${email} (${id}) is ${status}${reason === null ? '.' : `: ${reason}`}`
}

async function change(
  call: Call,
  act: (app: Context, account: RemoteAccount) => Promise<RemoteAccount>,
): Promise<CommandResult> {
  const app = await call.open()
  const row = presentRemoteAccount(await act(app, chooseRemote(app, call.operands[0]!)))
  return { data: row, lines: [remoteLine(row)] }
}

function linesOf(row: RemoteAccountJson): string[] {
  const { imap_host: host, imap_port: port, imap_protocol: protocol, import: progress } = row
  const facts: [string, string | null][] = [
    ['mode', row.mode],
    ['mailbox', row.mailbox_id],
    ['server', host === null ? row.auth : `${host} port ${port} (${protocol})`],
    ['user name', row.imap_username],
    ['kind', row.kind],
    ['sending account', row.provider_id],
    ['imported', `${progress.messages_done} of ${progress.messages_total} messages (${progress.state})`],
    ['skipped', skippedText(row.skipped_messages)],
    ['import ends', progress.estimated_finish_at],
    ['last compared', row.last_synced_at ?? 'never'],
    ['tried again', row.next_try_at],
  ]
  const shown = facts.flatMap(([name, value]) => (value === null ? [] : [[`  ${name}`, value]]))
  const held = row.held_removals.flatMap(({ at, messages }) => [
    '',
    at === 'here'
      ? `${messages} messages are gone at the server, and kept here. To remove them here:`
      : `${messages} messages were deleted here, and are kept at the server. To remove them there:`,
    `  mailstead remote confirm-removal ${row.id} --at ${at}`,
    at === 'here' ? 'To keep them, and put them back at the server:' : 'To keep them, and put them back here:',
    `  mailstead remote undo-removal ${row.id} --at ${at}`,
  ])
  const differs = row.differences.flatMap(({ sentence, next_step: next }) => ['', sentence, `  ${next}`])
  return [remoteLine(row), '', ...table(shown), ...held, ...differs]
}

function skippedText({
  messages,
  too_large: large,
  next_try_at: next,
}: RemoteAccountJson['skipped_messages']): string | null {
  if (messages === 0) return null
  const parts = [
    ...(large > 0 ? [`${large} too large`] : []),
    ...(next === null ? [] : [`others tried again at ${next}`]),
  ]
  return `${messages} messages (${parts.join(', ')})`
}

function cellsOf(row: RemoteAccountJson): string[] {
  const { messages_done: done, messages_total: total } = row.import
  return [row.id, row.email, row.mode, row.status, `${done}/${total}`, row.last_synced_at ?? 'never', row.name]
}
