// Changes of whole threads: keywords, flags, folders, and moving to Trash.

import { type Static, Type } from 'typebox'
import { invalid, notFound, ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { answer, route } from '../../../http/route.ts'
import { Id, Nullable } from '../../../http/schema.ts'
import type { UndoEdit } from '../../../store/messages/undo-edits.ts'
import type { Account, States } from '../../../store/rows/records.ts'
import { THREAD_MESSAGES_MAX, type ThreadChange, ThreadEditRefused, tooMany } from '../../../store/threads/edits.ts'
import { writableAccountOf } from '../../rules/account.ts'
import { BatchIds, BatchOutcome, batchChanges, folderChange, lower } from '../../rules/message-members.ts'
import { record } from '../../schemas/record.ts'
import { presentThreadDetail, ThreadDetail } from '../../schemas/thread.ts'
import { Flags, flagKeywords, WRITERS } from '../messages/message-edit.ts'

const WHICH =
  'Changes the messages that the counts of a thread include (those outside Trash and Junk unless all are there), or with ' +
  '`in_folder_id` those in that folder: moving a thread out of the Inbox, name the Inbox, and sent messages and drafts stay where ' +
  `they are. All messages of a thread are changed, or none. One request changes at most ${THREAD_MESSAGES_MAX} messages.`

const changeMembers = {
  in_folder_id: Type.Optional({ ...Id('folder'), description: 'Only the messages in this folder.' }),
  flags: Type.Optional(Flags),
  ...batchChanges,
  trash: Type.Optional(Type.Boolean({ description: 'True moves the messages to Trash; not together with folders.' })),
}

const UndoId = Nullable({ ...Id('undo'), description: 'For POST /mailbox/undo/{undo_id}; null when nothing changed.' })

const ThreadUpdate = Type.Object(changeMembers, {
  title: 'ThreadUpdate',
  description: 'At least one member.',
  additionalProperties: false,
  minProperties: 1,
  examples: [{ flags: { seen: true } }],
})
type ThreadUpdate = Static<typeof ThreadUpdate>

const updateThread = route({
  method: 'PATCH',
  path: '/mailbox/threads/{thread_id}',
  docs: {
    operation: 'updateThread',
    tag: 'Threads',
    summary: 'Change all messages of a thread: flags, keywords, folders, Trash',
    description: `${WHICH} \`If-Match\` takes the ETag from reading the thread.`,
    errors: ['conflict'],
  },
  access: { as: 'mailbox', permission: WRITERS },
  params: Type.Object({ thread_id: Id('thread') }),
  body: { schema: ThreadUpdate },
  reply: { schema: ThreadDetail, etag: true },
  async handle({ params: { thread_id: id }, body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    if (app.store.read.threads.get(account, id) === undefined) throw notFound('thread')
    const change = changeOf(app, account, body)
    try {
      await app.store.edit.threads.change(account, id, change, (tx) => {
        const current = app.store.read.threads.get(account, id, tx)
        if (current === undefined) throw notFound('thread')
        if (request.conditional) request.matches(shown(current, account.states).version)
      })
    } catch (error) {
      if (!(error instanceof ThreadEditRefused)) throw error
      const { about, message } = error.refusal
      throw invalid(about === 'keywords' ? 'add_keywords' : folderMember(body), 'forbidden_value', message)
    }
    const now = app.store.accounts.byNumber(account.n)!
    const changed = app.store.read.threads.get(account, id)
    if (changed === undefined) throw notFound('thread')
    return answer(shown(changed, now.states))
  },
})

const updateThreads = route({
  method: 'POST',
  path: '/mailbox/threads/batch-update',
  docs: {
    operation: 'updateThreads',
    tag: 'Threads',
    summary: 'Change all messages of up to 100 threads',
    description: `${WHICH} An error of one thread does not affect the others. \`undo_id\` undoes all of it within 24 hours.`,
  },
  access: { as: 'mailbox', permission: WRITERS },
  idempotent: true,
  body: {
    schema: record(
      'ThreadBatchUpdate',
      'The threads and the changes.',
      {
        ids: BatchIds('thread', 'Threads of this mailbox.'),
        ...changeMembers,
      },
      { ids: ['thr_a1b2c3d4e5f6g7h8i9j0k1l2'], flags: { seen: true } },
    ),
  },
  reply: { schema: BatchOutcome('thread', { undo_id: UndoId }) },
  async handle({ body: { ids, ...update }, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const change = changeOf(app, account, update)
    let room = THREAD_MESSAGES_MAX
    const edits = new Map<string, UndoEdit[]>()
    // The units of work of all threads share transactions and flushes.
    const outcomes = await Promise.all(
      ids.map((id) => {
        room -= app.store.edit.threads.size(account, id, change.inFolder) ?? 0
        if (room < 0) return tooMany()
        const undo: UndoEdit[] = []
        edits.set(id, undo)
        return outcomeOf(app.store.edit.threads.change(account, id, { ...change, undo }))
      }),
    )
    const of = (wanted: (outcome: ProductError | null) => boolean) => ids.filter((_, index) => wanted(outcomes[index]!))
    const refused = ids.flatMap((id, index) => {
      const error = outcomes[index]
      return error == null || error.code === 'not_found' ? [] : [{ id, code: error.code, message: error.message }]
    })
    const updated = of((error) => error === null)
    const outcome = {
      updated,
      not_found: of((error) => error?.code === 'not_found'),
      not_updated: refused,
      state: app.store.accounts.byNumber(account.n)!.states.threads,
    }
    const all = updated.flatMap((id) => edits.get(id) ?? [])
    if (all.length === 0) return { ...outcome, undo_id: null }
    return app.db.writeFreeing((tx) => {
      const kept = answer({ data: { ...outcome, undo_id: app.store.edit.undo.add(tx, account, all) } })
      request.keep(tx, kept)
      return kept
    })
  },
})

/** Why a thread was not changed; null when it was. */
async function outcomeOf(changing: Promise<void>): Promise<ProductError | null> {
  try {
    await changing
    return null
  } catch (error) {
    if (error instanceof ProductError) return error
    if (error instanceof ThreadEditRefused) return new ProductError(error.refusal.code, error.refusal.message)
    throw error
  }
}

/** @throws ProductError validation_error for an unknown folder, or members that exclude each other */
function changeOf(app: Context, account: Account, update: ThreadUpdate): ThreadChange {
  const { in_folder_id: folderId, set_folder_ids: set, add_folder_ids: add, remove_folder_ids: remove } = update
  const folderKeys = app.store.read.folders.keys(account)
  const inFolder = folderId === undefined ? null : folderKeys.find(({ id }) => id === folderId)?.n
  if (inFolder === undefined) {
    throw invalid('in_folder_id', 'not_found', 'No folder of this mailbox has this id.')
  }
  const moves = [set !== undefined, (add ?? remove) !== undefined, update.trash === true]
  if (moves.filter((one) => one).length > 1) {
    const message =
      'set_folder_ids, trash, and the members that add and remove folders exclude each other. Send one form.'
    throw invalid(update.trash === true ? 'trash' : 'set_folder_ids', 'forbidden_value', message)
  }
  const trash = folderKeys.find(({ role }) => role === 'trash')!
  const folders = folderChange(update.trash === true ? [trash.id] : set, add, remove)
  return { inFolder, keywords: keywordsOf(update), folders, teaches: 'api' }
}

/** Keywords and flags overlap; where both are given, the flags win. */
function keywordsOf({ flags, add_keywords = [], remove_keywords = [] }: ThreadUpdate): ThreadChange['keywords'] {
  const { on, off } = flagKeywords(flags)
  const add = [...lower(add_keywords).filter((one) => !off.includes(one)), ...on]
  const remove = [...lower(remove_keywords).filter((one) => !on.includes(one)), ...off]
  return add.length + remove.length === 0 ? undefined : { add, remove }
}

function folderMember({ set_folder_ids: set, add_folder_ids: add }: ThreadUpdate): string {
  return set !== undefined ? 'set_folder_ids' : add !== undefined ? 'add_folder_ids' : 'remove_folder_ids'
}

/** A thread with the version that its ETag names. */
function shown(thread: Parameters<typeof presentThreadDetail>[0], states: States) {
  const data = presentThreadDetail(thread, states)
  const { states: _, ...version } = data
  return { data, version }
}

export const threadEdits = [updateThread, updateThreads]
