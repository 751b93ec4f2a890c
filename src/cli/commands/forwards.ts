// `mailstead mailbox forward …`: addresses that a mailbox or an alias forwards to, once their owners have confirmed.

import { presentForwardState } from '../../api/schemas/forward.ts'
import { ProductError } from '../../base/errors.ts'
import { openedByForward } from '../../people/opens.ts'
import { auditCredential } from '../frame/audit-command.ts'
import type { Command } from '../frame/command.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'
import { table } from '../frame/table.ts'

const HEAD = ['Forward', 'To', 'Of', 'Status', 'Copy']

export const forwardAdd: Command = {
  words: 'mailbox forward add',
  summary: 'Forward the mail of a mailbox to another address, whose owner is asked to confirm.',
  operands: ['email', 'to'],
  options: {
    alias: { value: 'email', says: 'forward only what comes to this alias of the mailbox' },
    'no-copy': { says: 'keep no copy in the mailbox' },
  },
  async run(call) {
    const [email, to] = call.operands as [string, string]
    const app = await call.open()
    const { directory, administration } = app
    const { id, teamId } = chooseMailbox(directory, email)
    const input = { to, alias: call.text('alias'), keepsCopy: !call.has('no-copy'), createdBy: 'operator' }
    const data = presentForwardState(await administration.forwards.request(teamId, id, input))
    const target = { type: 'forward', id: data.id, label: data.to }
    await auditCredential(app, forwardAdd.words, {
      teamId,
      target,
      opens: openedByForward(data.alias ?? email, data.to),
    })
    return {
      data,
      lines: [
        `${data.to} is asked to confirm within 7 days (${data.id}).`,
        'Nothing is forwarded before; the running appliance sends the message.',
      ],
    }
  },
}

export const forwardList: Command = {
  words: 'mailbox forward list',
  summary: 'List the addresses a mailbox and its aliases forward to, newest first.',
  operands: ['email'],
  async run(call) {
    const { directory, administration } = await call.open()
    const mailbox = chooseMailbox(directory, call.operands[0]!)
    const data = administration.forwards.list(mailbox).map(presentForwardState)
    const rows = data.map(({ id, to, alias, status, suppressed, keep_copy: copy }) => [
      ...[id, to, alias ?? mailbox.email, suppressed ? `${status}, suppressed` : status],
      copy ? 'kept' : 'none',
    ])
    const lines = rows.length === 0 ? [`${mailbox.email} forwards nothing.`] : table([HEAD, ...rows])
    return { data, lines }
  },
}

export const forwardRemove: Command = {
  words: 'mailbox forward remove',
  summary: 'End forwarding to an address immediately.',
  operands: ['email', 'to or forward (fwd_…)'],
  async run(call) {
    const [email, given] = call.operands as [string, string]
    const { directory, administration } = await call.open()
    const mailbox = chooseMailbox(directory, email)
    const found = directory.forwards
      .list(mailbox.id)
      .filter((one) => one.id === given || one.email.toLowerCase() === given.toLowerCase())
    if (found.length === 0) throw new ProductError('not_found', `${mailbox.email} does not forward to ${given}.`)
    for (const { id } of found) await administration.forwards.remove(mailbox.id, id)
    const data = found.map(({ id }) => ({ id, deleted: true }))
    return { data, lines: [`${mailbox.email} no longer forwards to ${found[0]!.email}.`] }
  },
}
