// The folders of a mailbox.

import { Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { Tx } from '../../../db/db.ts'
import { answer, route } from '../../../http/route.ts'
import { Default, Id, listOf, Nullable, pageQuery, Words } from '../../../http/schema.ts'
import { FOLDER_NAME_MAX } from '../../../store/mailbox/folders-edits.ts'
import type { Account, PageKey, Folder as StoredFolder } from '../../../store/rows/records.ts'
import { accountOf, writableAccountOf } from '../../rules/account.ts'
import { writeQueryState } from '../../rules/query-state.ts'
import { FolderJson, FolderRole, presentFolder } from '../../schemas/folder.ts'
import { MAILBOX_PAGE } from '../../schemas/limits.ts'
import { record } from '../../schemas/record.ts'
import { changesRoute } from '../changes/typed-changes.ts'

/** The filters of the folder list. */
export const folderFilters = {
  parent_id: {
    ...Id('folder'),
    description: 'Folders directly inside this one; 404 when it is not of this mailbox.',
  },
  role: FolderRole,
}

/**
 * All folders that match the filters, in order.
 * @throws ProductError not_found for a parent of another mailbox
 */
export function listedFolders(
  app: Context,
  account: Account,
  { parent_id: parent, role }: { parent_id?: string; role?: string },
): StoredFolder[] {
  const folders = app.store.read.folders.list(account)
  if (parent !== undefined && !folders.some(({ id }) => id === parent)) throw notFound('folder')
  return folders
    .filter((folder) => parent === undefined || folder.parentId === parent)
    .filter((folder) => role === undefined || folder.role === role)
    .sort((a, b) => compareKeys(keyOf(a), keyOf(b)))
}

const listFolders = route({
  method: 'GET',
  path: '/mailbox/folders',
  docs: {
    operation: 'listFolders',
    tag: 'Folders',
    summary: 'List folders with their counts',
    description:
      'Ordered by `sort_order`, then by name. `meta.state` is the state of the folders; `meta.query_state` is that of this list ' +
      'with its filters.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: pageQuery({
    limit: MAILBOX_PAGE,
    ...folderFilters,
  }),
  reply: { schema: listOf(FolderJson) },
  handle({ query, after, principal, app }) {
    const account = accountOf(app, principal)
    const { folders: state } = account.states
    const all = listedFolders(app, account, query)
    const wanted = all.filter((folder) => after === null || compareKeys(keyOf(folder), after) > 0)
    const shown = wanted.slice(0, query.limit)
    const next = wanted.length > shown.length ? keyOf(shown.at(-1)!) : null
    const list = { fields: Object.keys(folderFilters), query, names: '' }
    const meta = { state, query_state: writeQueryState(state, list) }
    return { items: shown.map(presentFolder), next, meta }
  },
})

const readFolder = route({
  method: 'GET',
  path: '/mailbox/folders/{folder_id}',
  docs: {
    operation: 'getFolder',
    tag: 'Folders',
    summary: 'Get a folder',
    description: 'With its role, its path and the counts of messages and threads.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params: Type.Object({ folder_id: Id('folder') }),
  reply: { schema: FolderJson, etag: true },
  handle({ params, principal, app }) {
    const account = accountOf(app, principal)
    const folder = app.store.read.folders.byId(account, params.folder_id)
    if (folder === undefined) throw notFound('folder')
    return presentFolder(folder)
  },
})

const Name = Type.String({
  ...{ minLength: 1, maxLength: FOLDER_NAME_MAX },
  description: 'No slash or control characters, and not only dots.',
  examples: ['Projects'],
})
const Parent = Nullable({ ...Id('folder'), description: 'The parent folder; null for the top level.' })
const Order = Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Position among its siblings.' })

const createFolder = route({
  method: 'POST',
  path: '/mailbox/folders',
  docs: {
    operation: 'createFolder',
    tag: 'Folders',
    summary: 'Create a folder',
    description: 'A name that is in use, and INBOX in any letter case at the top level, is a conflict (409).',
  },
  access: { as: 'mailbox', permission: 'mailbox.write' },
  idempotent: true,
  body: {
    schema: record(
      'FolderCreate',
      'The new folder.',
      {
        name: Name,
        parent_id: Type.Optional(Parent),
        sort_order: Type.Optional(Order),
      },
      { name: 'Projects' },
    ),
  },
  reply: { schema: FolderJson, status: 201 },
  async handle({ body, principal, app }) {
    const account = writableAccountOf(app, principal)
    const id = await app.store.edit.folders.create(account, {
      name: body.name,
      parentId: body.parent_id ?? null,
      sortOrder: body.sort_order,
    })
    return answer({ data: shown(app, account, id), headers: { Location: `/api/v1/mailbox/folders/${id}` } })
  },
})

const updateFolder = route({
  method: 'PATCH',
  path: '/mailbox/folders/{folder_id}',
  docs: {
    operation: 'updateFolder',
    tag: 'Folders',
    summary: 'Rename, move or reorder a folder',
    description: 'The name and the parent of a folder with a role cannot be changed (409).',
  },
  access: { as: 'mailbox', permission: 'mailbox.write' },
  params: Type.Object({ folder_id: Id('folder') }),
  body: {
    schema: Type.Object(
      {
        name: Type.Optional(Name),
        parent_id: Type.Optional(Parent),
        sort_order: Type.Optional(Order),
        is_subscribed: Type.Optional(Type.Boolean({ description: 'Whether clients show it by default.' })),
      },
      {
        title: 'FolderUpdate',
        description: 'The changes.',
        additionalProperties: false,
        minProperties: 1,
        examples: [{ name: 'Projects of this year' }],
      },
    ),
  },
  reply: { schema: FolderJson, etag: true },
  async handle({ params: { folder_id: id }, body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const change = {
      name: body.name,
      parentId: body.parent_id,
      sortOrder: body.sort_order,
      isSubscribed: body.is_subscribed,
    }
    await app.store.edit.folders.update(account, id, change, (tx) => request.matches(shown(app, account, id, tx)))
    return shown(app, account, id)
  },
})

const deleteFolder = route({
  method: 'DELETE',
  path: '/mailbox/folders/{folder_id}',
  docs: {
    operation: 'deleteFolder',
    tag: 'Folders',
    summary: 'Delete a folder',
    description:
      '`on_messages` says what happens to messages that are in no other folder: `reject` fails with 409, `trash` moves them to ' +
      'Trash, `delete` erases them.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write' },
  params: Type.Object({ folder_id: Id('folder') }),
  query: Type.Object({
    on_messages: Default(Words(['reject', 'trash', 'delete'], 'What happens to its messages.'), 'reject'),
  }),
  reply: {
    schema: record('FolderDeleted', 'It is gone.', {
      deleted: Type.Literal(true),
      id: Id('folder'),
      moved: Type.Integer({ minimum: 0, description: 'Messages that were removed from it.' }),
    }),
    etag: true,
  },
  async handle({ params: { folder_id: id }, query, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const moved = await app.store.edit.folders.remove(account, id, query.on_messages, (tx) =>
      request.matches(shown(app, account, id, tx)),
    )
    return { deleted: true, id, moved }
  },
})

function shown(app: Context, account: Account, id: string, tx?: Tx) {
  const folder = app.store.read.folders.byId(account, id, tx)
  if (folder === undefined) throw notFound('folder')
  return presentFolder(folder)
}

// A mailbox has at most 1,000 folders and the store gives them whole, so the page is cut here.
function keyOf(folder: StoredFolder): PageKey {
  return [folder.sortOrder, folder.name, folder.id]
}

function compareKeys(a: PageKey, b: PageKey): number {
  for (const [index, value] of a.entries()) {
    const other = b[index]!
    if (value !== other) return value < other ? -1 : 1
  }
  return 0
}

export const folders = [listFolders, changesRoute('folders'), createFolder, readFolder, updateFolder, deleteFolder]
