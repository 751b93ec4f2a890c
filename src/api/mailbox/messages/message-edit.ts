// Changes of messages: keywords, folders, and deletion.

import { type Static, Type } from 'typebox'
import { invalid, notFound, ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { Tx } from '../../../db/db.ts'
import { allows } from '../../../directory/names/permissions.ts'
import { answer, type RequestFacts, route } from '../../../http/route.ts'
import { Id } from '../../../http/schema.ts'
import type { EditResult, MessageChange } from '../../../store/messages/edits.ts'
import type { Account } from '../../../store/rows/records.ts'
import { writableAccountOf } from '../../rules/account.ts'
import {
  BatchIds,
  BatchOutcome,
  batchChanges,
  FolderIds,
  folderChange,
  KEYWORDS_MAX,
  Keywords,
  lower,
} from '../../rules/message-members.ts'
import { messageVersion } from '../../schemas/message.ts'
import { MessageSummaryJson, presentSummary } from '../../schemas/message-summary.ts'
import { record } from '../../schemas/record.ts'
import { deliveryOf } from './message-content.ts'

export const WRITERS = ['email.receive', 'mailbox.write'] as const
const params = Type.Object({ message_id: Id('message') })
const State = Type.String({ description: 'Opaque state of the messages of the mailbox.' })

const TAGGED = '`If-Match` takes the ETag from reading the message, or from its last change.'

export const Flags = record('MessageFlagsUpdate', 'Flags to change; the others stay.', {
  seen: Type.Optional(Type.Boolean()),
  flagged: Type.Optional(Type.Boolean()),
  answered: Type.Optional(Type.Boolean()),
  draft: Type.Optional(Type.Boolean()),
})

const MessageUpdate = Type.Object(
  {
    keywords: Type.Optional(Keywords('All keywords of the message.', KEYWORDS_MAX)),
    flags: Type.Optional(Flags),
    folder_ids: Type.Optional(FolderIds('All folders of the message.', 1)),
  },
  {
    title: 'MessageUpdate',
    description: 'At least one member.',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ flags: { seen: true } }],
  },
)

const updateKeywords = route({
  method: 'PATCH',
  path: '/mailbox/messages/{message_id}/keywords',
  docs: {
    operation: 'updateMessageKeywords',
    tag: 'Messages',
    summary: 'Add, remove or set keywords of a message',
    description: `\`$junk\` moves the message to Junk, \`$notjunk\` from Junk to the Inbox. ${TAGGED}`,
  },
  access: { as: 'mailbox', permission: WRITERS },
  params,
  body: {
    schema: record(
      'KeywordsUpdate',
      'Either `add` and `remove`, or `set`.',
      {
        add: Type.Optional(Keywords('To be added.')),
        remove: Type.Optional(Keywords('Keywords to remove.')),
        set: Type.Optional(Keywords('All keywords of the message.', KEYWORDS_MAX)),
      },
      { add: ['$seen', 'invoice'], remove: ['todo'] },
    ),
  },
  reply: {
    schema: record('MessageKeywords', 'The keywords of a message.', {
      id: Id('message'),
      keywords: MessageSummaryJson.properties.keywords,
      flags: MessageSummaryJson.properties.flags,
      state: State,
    }),
    etag: true,
  },
  async handle({ params: { message_id: id }, body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    await changeOne(app, account, id, { keywords: keywordsOf(body) }, request, {
      keywords: body.set === undefined ? 'add' : 'set',
    })
    const { data, version } = changedMessage(app, account, id)
    const { keywords, flags } = data
    return answer({ data: { id, keywords, flags, state: stateOf(app, account) }, version })
  },
})

const updateMessage = route({
  method: 'PATCH',
  path: '/mailbox/messages/{message_id}',
  docs: {
    operation: 'updateMessage',
    tag: 'Messages',
    summary: 'Update the keywords, flags or folders of a message',
    description: TAGGED,
  },
  access: { as: 'mailbox', permission: WRITERS },
  params,
  body: { schema: MessageUpdate },
  reply: { schema: MessageSummaryJson, etag: true },
  async handle({ params: { message_id: id }, body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const change = { keywords: flaggedKeywords(body), folders: body.folder_ids && { set: body.folder_ids } }
    await changeOne(app, account, id, change, request, {
      keywords: body.keywords === undefined ? 'flags' : 'keywords',
    })
    return answer(changedMessage(app, account, id))
  },
})

const updateMessages = route({
  method: 'POST',
  path: '/mailbox/messages/batch-update',
  docs: {
    operation: 'updateMessages',
    tag: 'Messages',
    summary: 'Update the keywords and folders of up to 100 messages',
    description: 'All changes are one transaction; an error of one message does not affect the others.',
  },
  access: { as: 'mailbox', permission: WRITERS },
  body: {
    schema: record(
      'MessageBatchUpdate',
      'The messages and the changes.',
      {
        ids: BatchIds('message', 'Messages of this mailbox.'),
        ...batchChanges,
      },
      { ids: ['msg_a1b2c3d4e5f6g7h8i9j0k1l2'], add_keywords: ['$seen'] },
    ),
  },
  reply: { schema: BatchOutcome('message') },
  async handle({ body, principal, app }) {
    const account = writableAccountOf(app, principal)
    const { set_folder_ids: set, add_folder_ids: add, remove_folder_ids: remove } = body
    if (set !== undefined && (add ?? remove) !== undefined) {
      throw invalid(
        'set_folder_ids',
        'forbidden_value',
        'folder_ids replaces all folders. Send either it, or the members that add and remove folders.',
      )
    }
    const folders = folderChange(set, add, remove)
    const keywords = keywordsOf({ add: body.add_keywords, remove: body.remove_keywords })
    const edited = await app.store.edit.messages.change(account, body.ids, { keywords, folders, teaches: 'api' })
    const { updated, notFound: missing, notUpdated } = edited
    const refused = notUpdated.map(({ id, code, message }) => ({ id, code, message }))
    return { updated, not_found: missing, not_updated: refused, state: stateOf(app, account) }
  },
})

const deleteMessage = route({
  method: 'DELETE',
  path: '/mailbox/messages/{message_id}',
  docs: {
    operation: 'deleteMessage',
    tag: 'Messages',
    summary: 'Move a message to Trash, or delete it permanently',
    description: `Permanent deletion (\`permanent=true\`) needs the scope mailbox.write and cannot be undone. ${TAGGED}`,
  },
  access: { as: 'mailbox', permission: WRITERS },
  params,
  query: Type.Object({ permanent: Type.Optional(Type.Boolean({ description: 'Deletes it permanently.' })) }),
  reply: {
    schema: record('MessageDeleted', 'What was done.', {
      deleted: Type.Literal(true),
      id: Id('message'),
      permanent: Type.Boolean({ description: 'True when its content was deleted.' }),
    }),
    etag: true,
  },
  async handle({ params: { message_id: id }, query, principal, app, request }) {
    const permanent = query.permanent === true
    if (permanent && !allows(principal.permissions, 'mailbox.write')) {
      throw new ProductError(
        'insufficient_permissions',
        'The permission mailbox.write is missing. Use a key that has it, or leave out permanent.',
      )
    }
    const account = writableAccountOf(app, principal)
    const trash = app.store.read.folders.keys(account).find(({ role }) => role === 'trash')!
    const expect = expectationOf(app, account, id, request)
    await app.db.writeFreeing((tx) => {
      expect(tx)
      if (permanent) app.store.edit.messages.deleteIn(tx, account, [id])
      else requireUpdated(app.store.edit.messages.changeIn(tx, account, [id], { folders: { set: [trash.id] } }))
    })
    return { deleted: true, id, permanent }
  },
})

interface KeywordsBody {
  add?: string[]
  remove?: string[]
  set?: string[]
}

function keywordsOf({ add, remove, set }: KeywordsBody): MessageChange['keywords'] {
  if (set !== undefined && (add ?? remove) !== undefined) {
    throw invalid('set', 'forbidden_value', 'Keywords are either set, or added and removed. Send one form only.')
  }
  if (set !== undefined) return { set: lower(set) }
  return (add ?? remove) === undefined ? undefined : { add: lower(add ?? []), remove: lower(remove ?? []) }
}

/** Keywords and flags overlap; where both are given, the flags win. */
function flaggedKeywords({
  keywords,
  flags,
}: {
  keywords?: string[]
  flags?: Static<typeof Flags>
}): MessageChange['keywords'] {
  const { on: add, off: remove } = flagKeywords(flags)
  if (keywords !== undefined) return { set: [...lower(keywords).filter((one) => !remove.includes(one)), ...add] }
  return add.length + remove.length === 0 ? undefined : { add, remove }
}

/** The keywords of flags to set and to remove. */
export function flagKeywords(flags: Static<typeof Flags> = {}): { on: string[]; off: string[] } {
  const named = (wanted: boolean) => Object.entries(flags).flatMap(([flag, on]) => (on === wanted ? [`$${flag}`] : []))
  return { on: named(true), off: named(false) }
}

/**
 * Checks `If-Match` in the unit of work that changes the message. The delivery status is read before: no change made here depends on
 * it.
 */
function expectationOf(app: Context, account: Account, id: string, request: RequestFacts): (tx: Tx) => void {
  const delivery = request.conditional ? deliveryOf(app, account, id) : null
  return (tx) => {
    const found = app.store.read.messages.summary(account, id, tx)
    if (found === undefined) throw notFound('message')
    request.matches(messageVersion(presentSummary(found), delivery))
  }
}

async function changeOne(
  app: Context,
  account: Account,
  id: string,
  change: MessageChange,
  request: RequestFacts,
  members: { keywords?: string },
): Promise<void> {
  const expect = expectationOf(app, account, id, request)
  const edited = await app.db.writeFreeing((tx) => {
    expect(tx)
    return app.store.edit.messages.changeIn(tx, account, [id], { ...change, teaches: 'api' })
  })
  requireUpdated(edited, members)
}

/** @param members names of the members of the change in the body @throws ProductError not_found, validation_error */
function requireUpdated({ notFound: missing, notUpdated }: EditResult, { keywords = 'keywords' } = {}): void {
  if (missing.length > 0) throw notFound('message')
  const [refused] = notUpdated
  if (refused === undefined) return
  throw invalid(refused.about === 'keywords' ? keywords : 'folder_ids', 'forbidden_value', refused.message)
}

/** A message after a change, with its new version. */
function changedMessage(app: Context, account: Account, id: string) {
  const found = app.store.read.messages.summary(account, id)
  if (found === undefined) throw notFound('message')
  const data = presentSummary(found)
  return { data, version: messageVersion(data, deliveryOf(app, account, id)) }
}

function stateOf(app: Context, account: Account): string {
  return app.store.accounts.byMailbox(account.mailboxId)!.states.messages
}

export const messageEdits = [updateKeywords, updateMessage, updateMessages, deleteMessage]
