// The folders of a mailbox.

import { Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import type { PageKey, Folder as StoredFolder } from '../../../store/records.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { Folder, FolderRole, presentFolder } from '../schemas/folder.ts'
import { accountOf } from './account.ts'
import { MAILBOX_PAGE } from './limits.ts'

const listFolders = route({
  method: 'GET',
  path: '/mailbox/folders',
  operation: 'listFolders',
  tag: 'Folders',
  summary: 'Lists the folders with their counts.',
  description: 'By `sort_order`, then by name. `meta.state` is the state of the folders.',
  as: 'mailbox',
  permission: 'mailbox.read',
  query: pageQuery({
    limit: MAILBOX_PAGE,
    parent_id: {
      ...Id('folder'),
      description: 'Folders directly inside this one; 404 when it is not of this mailbox.',
    },
    role: FolderRole,
  }),
  reply: listOf(Folder),
  async handle({ query, after, principal, app }) {
    const account = await accountOf(app, principal)
    const { folders: state } = account.states
    const folders = await app.store.folders.list(account)
    const { parent_id: parent, role } = query
    if (parent !== undefined && !folders.some(({ id }) => id === parent)) throw notFound('folder')
    const wanted = folders
      .filter((folder) => parent === undefined || folder.parentId === parent)
      .filter((folder) => role === undefined || folder.role === role)
      .sort((a, b) => compareKeys(keyOf(a), keyOf(b)))
      .filter((folder) => after === null || compareKeys(keyOf(folder), after) > 0)
    const shown = wanted.slice(0, query.limit)
    const next = wanted.length > shown.length ? keyOf(shown.at(-1)!) : null
    return { items: shown.map(presentFolder), next, meta: { state } }
  },
})

const readFolder = route({
  method: 'GET',
  path: '/mailbox/folders/{folder_id}',
  operation: 'getFolder',
  tag: 'Folders',
  summary: 'Shows one folder.',
  as: 'mailbox',
  permission: 'mailbox.read',
  params: Type.Object({ folder_id: Id('folder') }),
  reply: Folder,
  etag: true,
  async handle({ params, principal, app }) {
    const account = await accountOf(app, principal)
    const folder = await app.store.folders.byId(account, params.folder_id)
    if (folder === undefined) throw notFound('folder')
    return presentFolder(folder)
  },
})

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

export const folders = [listFolders, readFolder]
