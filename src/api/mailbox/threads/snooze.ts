// Snoozing a thread: it leaves the list, and returns unread at its time.

import { Type } from 'typebox'
import { isoTime } from '../../../base/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../../base/durations.ts'
import { invalid, notFound } from '../../../base/errors.ts'
import { route } from '../../../http/route.ts'
import { Id, Nullable, parseTime, TimeQuery } from '../../../http/schema.ts'
import { SNOOZED_FOLDER } from '../../../store/mailbox/snoozes.ts'
import { ThreadEditRefused } from '../../../store/threads/edits.ts'
import { writableAccountOf } from '../../rules/account.ts'
import { DeletedOf } from '../../schemas/deleted.ts'
import { record } from '../../schemas/record.ts'
import { TimeOf } from '../../schemas/time.ts'
import { WRITERS } from '../messages/message-edit.ts'

const EARLIEST_MS = MINUTE_MS
const LATEST_MS = 2 * 365 * DAY_MS

const snoozeThread = route({
  method: 'PUT',
  path: '/mailbox/threads/{thread_id}/snooze',
  docs: {
    operation: 'setThreadSnooze',
    tag: 'Threads',
    summary: 'Set a thread aside until a time',
    description:
      `Moves the messages of the thread that are in one folder to the folder "${SNOOZED_FOLDER}", which is made with the first one. ` +
      'At `until`, or within a minute after a message has joined the thread, they return to their folder, and the last one is ' +
      'unread. A thread that waits already gets the new time. Moving it out of the folder ends the snooze.',
    errors: ['conflict'],
  },
  access: { as: 'mailbox', permission: WRITERS },
  params: Type.Object({ thread_id: Id('thread') }),
  body: {
    schema: record(
      'ThreadSnooze',
      'When the thread returns.',
      {
        until: { ...TimeQuery, description: 'One minute to two years ahead.' },
        in_folder_id: Type.Optional({
          ...Id('folder'),
          description:
            'Only the messages in this folder. Left out: the Inbox, else the Archive, else the first own folder.',
        }),
      },
      { until: '2030-05-01T08:00:00Z' },
    ),
  },
  reply: {
    schema: record('ThreadSnoozed', 'The thread waits.', {
      until: TimeOf('When it returns.'),
      undo_id: Nullable({
        ...Id('undo'),
        description: 'For POST /mailbox/undo/{undo_id}; null when nothing was moved.',
      }),
      state: Type.String({ description: 'Opaque state of the threads of the mailbox.' }),
    }),
  },
  async handle({ params: { thread_id: id }, body, principal, app }) {
    const account = writableAccountOf(app, principal)
    if (app.store.read.threads.get(account, id) === undefined) throw notFound('thread')
    const until = parseTime(body.until, { param: 'until' })
    const ahead = until - app.clock.now()
    if (!(ahead >= EARLIEST_MS && ahead <= LATEST_MS))
      throw invalid('until', 'forbidden_value', 'The time is one minute to two years ahead.')
    const fromId = body.in_folder_id ?? null
    if (fromId !== null && !app.store.read.folders.keys(account).some((key) => key.id === fromId))
      throw invalid('in_folder_id', 'not_found', 'No folder of this mailbox has this id.')
    try {
      const edits = await app.store.edit.snoozes.snooze(account, id, { until, fromId })
      const undoId =
        edits.length === 0 ? null : await app.db.writeFreeing((tx) => app.store.edit.undo.add(tx, account, edits))
      const { threads: state } = app.store.accounts.byNumber(account.n)!.states
      return { until: isoTime(until), undo_id: undoId, state }
    } catch (error) {
      if (!(error instanceof ThreadEditRefused)) throw error
      throw invalid('in_folder_id', 'forbidden_value', error.refusal.message)
    }
  },
})

const endSnooze = route({
  method: 'DELETE',
  path: '/mailbox/threads/{thread_id}/snooze',
  docs: {
    operation: 'deleteThreadSnooze',
    tag: 'Threads',
    summary: 'Return a snoozed thread at once',
    description: 'Its messages return to the folder that they left. 404 for a thread that does not wait.',
  },
  access: { as: 'mailbox', permission: WRITERS },
  params: Type.Object({ thread_id: Id('thread') }),
  reply: { schema: DeletedOf('thread') },
  async handle({ params: { thread_id: id }, principal, app }) {
    await app.store.edit.snoozes.end(writableAccountOf(app, principal), id)
    return { deleted: true as const, id }
  },
})

export const snoozes = [snoozeThread, endSnooze]
