// Undoes a change of threads.

import { type Static, Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { route } from '../../../http/route.ts'
import { Id } from '../../../http/schema.ts'
import { writableAccountOf } from '../../rules/account.ts'
import { record } from '../../schemas/record.ts'
import { WRITERS } from '../messages/message-edit.ts'

const Undone = record('ChangeUndone', 'What was restored.', {
  restored: Type.Array(Id('message'), { description: 'Messages with the keywords and folders they had before.' }),
  not_restored: Type.Array(
    record('ChangeNotUndone', 'A message that stays as it is.', {
      id: Id('message'),
      code: Type.String({ description: '`conflict`: it was changed since; `not_found`: it was deleted.' }),
      message: Type.String(),
    }),
  ),
  state: Type.String({ description: 'Opaque state of the threads of the mailbox.' }),
})

const undoChange = route({
  method: 'POST',
  path: '/mailbox/undo/{undo_id}',
  docs: {
    operation: 'restoreChangedThreads',
    tag: 'Threads',
    summary: 'Undo a change of threads',
    description:
      'Restores the keywords and folders of all messages that were not changed since, and takes back what the spam filter ' +
      'learned of the change. Each change can be undone once, within 24 hours.',
  },
  access: { as: 'mailbox', permission: WRITERS },
  idempotent: true,
  params: Type.Object({ undo_id: Id('undo') }),
  reply: { schema: Undone },
  async handle({ params: { undo_id: id }, principal, app }): Promise<Static<typeof Undone>> {
    const account = writableAccountOf(app, principal)
    const outcome = await app.store.edit.undo.undo(account, id)
    if (outcome === undefined) throw notFound()
    const { threads: state } = app.store.accounts.byNumber(account.n)!.states
    return { restored: outcome.restored, not_restored: outcome.notRestored, state }
  },
})

export const undo = [undoChange]
