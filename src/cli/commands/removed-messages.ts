// `mailstead remote removed`, `restore`: messages that were removed at the server of an outside account.

import { presentRemoved } from '../../api/schemas/removed-message.ts'
import { DAY_MS } from '../../base/durations.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { parseTime } from '../../http/schema.ts'
import { REMOVED_HELD_MS } from '../../store/messages/removed.ts'
import type { Account } from '../../store/rows/records.ts'
import { restoreRemoved } from '../../sync/accounts/restored-messages.ts'
import type { Command } from '../frame/command.ts'
import { table } from '../frame/table.ts'
import { chooseRemote, REMOTE_OPERAND } from './remotes.ts'

const LISTED = 100
const HELD_DAYS = REMOVED_HELD_MS / DAY_MS

export const remoteRemoved: Command = {
  words: 'remote removed',
  summary: 'List the last messages that were removed at the server and can be restored.',
  operands: [REMOTE_OPERAND],
  async run(call) {
    const { store, sync } = await call.open()
    const account = mailOf({ store, sync }, call.operands[0]!)
    const rows = store.edit.removed.list(account, { limit: LISTED, after: null }).items.map(presentRemoved)
    const { messages } = store.edit.removed.totals(account)
    const cells = rows.map(({ id, removed_at, folders, from, subject }) => [
      ...[id, removed_at, folders.join(', '), from.email, subject],
    ])
    const none = [`No message was removed at the server in the last ${HELD_DAYS} days.`]
    const head = ['Message', 'Removed', 'Folder', 'From', 'Subject']
    const more = messages > rows.length ? ['', `These are the last ${rows.length} of ${messages}.`] : []
    return { data: rows, lines: rows.length === 0 ? none : [...table([head, ...cells]), ...more] }
  },
}

export const remoteRestore: Command = {
  words: 'remote restore',
  summary: 'Restore messages that were removed at the server, here and there.',
  operands: [REMOTE_OPERAND],
  options: {
    since: { value: 'time', says: 'only those that were removed at this time or later, such as 2030-01-02' },
    message: { value: 'id', says: 'only this one (rmsg_…)' },
  },
  async run(call) {
    const [since, id] = [call.text('since'), call.text('message')]
    const app = await call.open()
    const account = mailOf(app, call.operands[0]!)
    const choice = {
      ...(since !== undefined && { since: parseTime(since, { param: 'since' }) }),
      ...(id !== undefined && { ids: [id] }),
    }
    const total = { restored: 0, remaining: 0, damaged: 0, is_full: false }
    for (;;) {
      const { restored, remaining, damaged, isFull } = await restoreRemoved(app, account, choice)
      Object.assign(total, { remaining, damaged: damaged.length, is_full: isFull })
      total.restored += restored.length
      if (remaining === 0 || isFull || restored.length === 0) break
    }
    return { data: total, lines: linesOf(total) }
  },
}

function linesOf(total: { restored: number; remaining: number; damaged: number; is_full: boolean }): string[] {
  const { restored, remaining, damaged, is_full: isFull } = total
  return [
    restored === 1 ? '1 message is restored.' : `${restored} messages are restored.`,
    ...(isFull ? [`The mailbox is full: ${remaining} are not restored. Delete messages or raise its quota.`] : []),
    ...(damaged > 0 ? [`The content of ${damaged} is damaged. Restore a backup.`] : []),
  ]
}

/** The account of its mailbox in the store. @throws ProductError not_found */
function mailOf(app: Pick<Context, 'store' | 'sync'>, text: string): Account {
  const account = app.store.accounts.byMailbox(chooseRemote(app, text).mailboxId)
  if (account === undefined)
    throw new ProductError('not_found', 'The mailbox is still being set up. Try again in a few seconds.')
  return account
}
