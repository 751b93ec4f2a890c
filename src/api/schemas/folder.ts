// A folder of a mailbox with its counts.

import { type Static, Type } from 'typebox'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { Folder as StoredFolder } from '../../store/rows/records.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

export const FolderRole = Words(
  ['inbox', 'drafts', 'sent', 'junk', 'trash', 'archive'],
  'Purpose of the folder; a mailbox has each role once.',
)

/** Deepest nesting of folders (docs/design/mailbox.md §6). */
const DEPTH_MAX = 10

const FolderPermissions = record('FolderPermissions', 'Permitted changes of the folder, for any client.', {
  may_rename: Type.Boolean({ description: 'False for folders with a role.' }),
  may_delete: Type.Boolean({ description: 'False for folders with a role.' }),
  may_add_messages: Type.Boolean(),
  may_remove_messages: Type.Boolean(),
  may_create_child: Type.Boolean({ description: `False at depth ${DEPTH_MAX}.` }),
})

export const FolderJson = record(
  'Folder',
  'A folder of the mailbox. A message counts once in each of its folders.',
  {
    id: Id('folder'),
    name: Type.String({ minLength: 1, maxLength: 255 }),
    parent_id: Nullable(Id('folder')),
    path: Type.String({ description: 'Names from the top, joined by `/`.' }),
    role: Nullable(FolderRole),
    sort_order: Type.Integer(),
    total_messages: Type.Integer({ minimum: 0 }),
    unread_messages: Type.Integer({ minimum: 0 }),
    total_threads: Type.Integer({ minimum: 0 }),
    unread_threads: Type.Integer({ minimum: 0 }),
    is_subscribed: Type.Boolean(),
    permissions: FolderPermissions,
    created_at: TimeOf('When it was created.'),
    updated_at: TimeOf('When its name, parent or order last changed.'),
  },
  {
    id: 'fld_0a1b2c3d4e5f6g7h8i9j0k1l',
    name: 'Inbox',
    parent_id: null,
    path: 'Inbox',
    role: 'inbox',
    sort_order: 10,
    total_messages: 12,
    unread_messages: 3,
    total_threads: 8,
    unread_threads: 2,
    is_subscribed: true,
    permissions: {
      may_rename: false,
      may_delete: false,
      may_add_messages: true,
      may_remove_messages: true,
      may_create_child: true,
    },
    created_at: '2030-01-02T03:04:05.000Z',
    updated_at: '2030-01-02T03:04:05.000Z',
  },
)
export type FolderJson = Static<typeof FolderJson>

export const presentFolder = presenterOf<StoredFolder>()(FolderJson, {
  permissions: ({ role, path }) => ({
    may_rename: role === null,
    may_delete: role === null,
    may_add_messages: true,
    may_remove_messages: true,
    // A name contains no "/", so the depth follows from the path.
    may_create_child: path.split('/').length < DEPTH_MAX,
  }),
})
