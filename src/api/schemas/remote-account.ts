// An outside account without its secrets (docs/design/outside-accounts.md §2).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { LiveVersion } from '../../http/etag.ts'
import { type Answer, answer } from '../../http/route.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { CONNECTED_AUTHS } from '../../outbound/model/connected-services.ts'
import { heldRemovals, remoteActions } from '../../sync/accounts/accounts-input.ts'
import type { FollowedFolder } from '../../sync/ledger/followed-folders.ts'
import {
  DIFFERENCE_KINDS,
  type DiscoveredAccount,
  type DiscoveredServer,
  type HeldRemoval,
  type ImportProgress,
  REMOVAL_SIDES,
  type RemoteAccount,
  type RemovalSide,
  type SkippedMessages,
} from '../../sync/model/records.ts'
import { record } from './record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from './time.ts'

export const RemoteModeName = Words(
  ['mirror', 'collect'],
  '`mirror`: the mailbox is the account, both ways. `collect`: new mail is copied into a hosted mailbox, one way.',
)
export const RemoteStatusName = Words(
  ['pending', 'importing', 'active', 'delayed', 'paused', 'error'],
  '`pending`: the sign-in is being tried; `delayed`: tried again at `next_try_at`; `error`: a person has to change something.',
)
const AuthName = Words(['password', ...CONNECTED_AUTHS], 'How the appliance signs in there.')
export const ImapProtocol = Words(
  ['ssl', 'starttls', 'none'],
  '`ssl`: TLS from the first byte; `starttls`: STARTTLS required; `none`: only with `ALLOW_PRIVATE_IMAP_HOSTS`. Certificates are verified.',
)
const count = (description: string) => Type.Integer({ minimum: 0, description })

const ImportJson = record('RemoteImport', 'Progress of the import of the messages that were there before.', {
  state: Words(['waiting', 'running', 'done']),
  folders_total: count('Folders found.'),
  folders_done: count('Folders that are here.'),
  messages_total: count('Messages found.'),
  messages_done: count('Messages that are here.'),
  bytes_done: count('Bytes fetched.'),
  started_at: TimeOrNull('When it began; null while it waits.'),
  finished_at: TimeOrNull('When it ended; null before.'),
  estimated_finish_at: TimeOrNull('When it ends at the rate so far; null while that is not known.'),
})

const ACTIONS = record('RemoteActions', 'Permitted actions.', {
  update: Type.Boolean(),
  delete: Type.Boolean(),
  pause: Type.Boolean(),
  resume: Type.Boolean(),
  sync: Type.Boolean(),
  confirm_removal: Type.Boolean({ description: 'A removal of many messages is held back: see `held_removals`.' }),
  undo_removal: Type.Boolean({ description: 'The same: its messages can be kept, and put back.' }),
})

/** Where messages are that a held removal would remove. */
export const RemovalSideName = Words(
  REMOVAL_SIDES,
  '`here`: they are gone at the server and kept here; `server`: they were deleted here and are kept at the server.',
)

const HeldRemovalJson = record(
  'HeldRemoval',
  'A removal of many messages that waits for `confirm-removal` or `undo-removal`.',
  {
    at: RemovalSideName,
    messages: count('Messages that would be removed.'),
    folders: Type.Array(Type.String(), { description: 'Folders they are in, up to 20.' }),
    since: TimeOf('When it was held back. One `here` happens 24 hours later by itself, one at the `server` does not.'),
  },
  { at: 'server', messages: 4821, folders: ['INBOX'], since: '2030-01-02T03:08:05.000Z' },
)

const SkippedJson = record(
  'SkippedMessages',
  'Messages of the server that are not here, as of the last comparison. `folders` of the account says where they are.',
  {
    messages: count('All of them.'),
    too_large: count(
      'Those of them that have more than 52,428,800 bytes: they are not fetched. Read them at the server.',
    ),
    next_try_at: TimeOrNull('When the first of the others is asked for again; null when there are none.'),
  },
  { messages: 3, too_large: 1, next_try_at: '2030-01-02T03:10:05.000Z' },
)

const DifferenceJson = record(
  'RemoteDifference',
  'What of the account is lastingly not as it is at its server.',
  {
    kind: Words(
      DIFFERENCE_KINDS,
      '`folder_left_out`: a folder that is not read; `folder_name`: a folder that is only here, because the server does not take its name; ' +
        '`changes_refused`: messages that were changed or deleted here and not at the server, which refuses it; ' +
        '`read_only`: a folder in which the server lets nothing be changed; `labels`: messages with more labels or copies than a message can ' +
        'have folders, or with keywords that the server does not keep; `skipped`: messages that are not here.',
    ),
    folder: Nullable(Type.String({ description: 'Its path.' })),
    sentence: Type.String(),
    next_step: Type.String({ description: 'What a person can do.' }),
  },
  {
    kind: 'folder_name',
    folder: 'Invoices 1.2026',
    sentence:
      'The server does not take the folder Invoices 1.2026: it is only here, with its messages. Its name has the character that separates folders there.',
    next_step: 'Give it another name here, without a dot or slash and not with a dot at its beginning.',
  },
)

const STATE_MEMBERS = {
  id: Id('remoteAccount'),
  mailbox_id: Id('mailbox'),
  mode: RemoteModeName,
  name: Type.String({ description: 'A note for the list of accounts.' }),
  email: Type.String({ description: 'The address of the account, lower-case.' }),
  auth: AuthName,
  status: RemoteStatusName,
  status_reason: Nullable(Type.String({ description: 'Why the status is so, in one sentence.' })),
  next_try_at: TimeOrNull('When it is tried again; null unless it is delayed.'),
  import: ImportJson,
  skipped_messages: SkippedJson,
  differences: Type.Array(DifferenceJson, {
    description: 'What is lastingly not as it is at the server, as of the last comparison; up to 50.',
  }),
  last_synced_at: TimeOrNull('When both sides were last compared; null before.'),
  created_at: TimeOf('When it was attached.'),
  updated_at: TimeOf('When it last changed.'),
}

const IMPORT_EXAMPLE = {
  state: 'running',
  folders_total: 12,
  folders_done: 3,
  messages_total: 48_210,
  messages_done: 9_100,
  bytes_done: 612_345_678,
  started_at: '2030-01-02T03:04:06.000Z',
  finished_at: null,
  estimated_finish_at: '2030-01-02T03:44:06.000Z',
}

const STATE_EXAMPLE = {
  id: 'racc_0a1b2c3d4e5f6g7h8i9j0k1l',
  mailbox_id: 'mbx_0a1b2c3d4e5f6g7h8i9j0k1l',
  mode: 'mirror',
  name: 'Ana at her hoster',
  email: 'ana@mail.example',
  auth: 'password',
  status: 'importing',
  status_reason: null,
  next_try_at: null,
  import: IMPORT_EXAMPLE,
  skipped_messages: { messages: 0, too_large: 0, next_try_at: null },
  differences: [],
  last_synced_at: null,
  created_at: '2030-01-02T03:04:05.000Z',
  updated_at: '2030-01-02T03:08:05.000Z',
}

/** As the credentials of its mailbox see it. */
export const RemoteStateJson = record(
  'RemoteState',
  'The outside account of a mailbox, without its connection settings.',
  STATE_MEMBERS,
  STATE_EXAMPLE,
)
export type RemoteStateJson = Static<typeof RemoteStateJson>

export const RemoteAccountJson = record(
  'RemoteAccount',
  'A mail account at another server.',
  {
    ...STATE_MEMBERS,
    imap_host: Nullable(Type.String({ description: 'Null for Google and Microsoft, whose servers are known.' })),
    imap_port: Nullable(Type.Integer()),
    imap_protocol: Nullable(ImapProtocol),
    imap_username: Nullable(Type.String()),
    has_password: Type.Boolean({ description: 'The password itself is never shown.' }),
    provider_id: Nullable({
      ...Id('provider'),
      description: 'The sending account made with it; null without SMTP settings, and for `collect`.',
    }),
    folder_id: Nullable({ ...Id('folder'), description: '`collect`: where mail goes; null: the Inbox.' }),
    since: TimeOrNull('`collect`: only mail received after it; null: all mail.'),
    kind: Nullable(
      Words(
        ['gmail', 'microsoft', 'dovecot', 'cyrus', 'icloud', 'yahoo', 'other'],
        'Kind of the server; null before the first sign-in.',
      ),
    ),
    push: Words(['idle', 'poll'], '`idle`: the server notifies of new mail; `poll`: it is asked every 2 minutes.'),
    held_removals: Type.Array(HeldRemovalJson, { description: 'Removals that wait for a confirmation.' }),
    allowed_actions: ACTIONS,
  },
  {
    ...STATE_EXAMPLE,
    imap_host: 'imap.mail.example',
    imap_port: 993,
    imap_protocol: 'ssl',
    imap_username: 'ana@mail.example',
    has_password: true,
    provider_id: 'dprov_m1n2b3v4c5x6z7l8k9j0h1g2',
    folder_id: null,
    since: null,
    kind: 'dovecot',
    push: 'idle',
    held_removals: [],
    allowed_actions: {
      update: true,
      delete: true,
      pause: true,
      resume: false,
      sync: true,
      confirm_removal: false,
      undo_removal: false,
    },
  },
)
export type RemoteAccountJson = Static<typeof RemoteAccountJson>

export const RemoteFolderJson = record(
  'RemoteFolder',
  'A folder of an outside account.',
  {
    path: Type.String({ description: 'As its server names it.' }),
    folder_id: Nullable({ ...Id('folder'), description: 'The folder here; null for one that is not here.' }),
    role: Nullable(Words(['inbox', 'drafts', 'sent', 'junk', 'trash', 'archive'])),
    state: Words(['followed', 'ignored']),
    reason: Nullable(Type.String({ description: 'Why it is ignored, or what of it cannot be read.' })),
    messages_total: count('Messages found.'),
    messages_done: count('Messages that are here.'),
    messages_skipped: count('Messages that are not here: the server does not give them, or they are too large.'),
    last_looked_at: TimeOrNull('When it was last compared.'),
  },
  {
    path: 'INBOX',
    folder_id: 'fld_0a1b2c3d4e5f6g7h8i9j0k1l',
    role: 'inbox',
    state: 'followed',
    reason: null,
    messages_total: 4_821,
    messages_done: 4_821,
    messages_skipped: 0,
    last_looked_at: '2030-01-02T03:08:05.000Z',
  },
)

const ServerJson = record('DiscoveredServer', 'A server that was found.', {
  host: Type.String(),
  port: Type.Integer(),
  protocol: Words(['ssl', 'starttls']),
})

export const DiscoveredJson = record(
  'DiscoveredAccount',
  'The servers of an address, as far as they can be found.',
  {
    imap: Nullable(ServerJson),
    smtp: Nullable(ServerJson),
    auth: AuthName,
    source: Words(
      ['known', 'srv', 'autoconfig', 'none'],
      'How they were found: a known provider, SRV records (RFC 6186), autoconfiguration of the domain, or not at all.',
    ),
  },
  {
    imap: { host: 'imap.mail.example', port: 993, protocol: 'ssl' },
    smtp: { host: 'smtp.mail.example', port: 465, protocol: 'ssl' },
    auth: 'password',
    source: 'srv',
  },
)

export function presentRemoteState(account: RemoteAccount): RemoteStateJson {
  const { id, mailboxId, mode, name, email, auth, status, statusReason } = account
  return {
    ...{ id, mailbox_id: mailboxId, mode, name, email, auth, status, status_reason: statusReason },
    next_try_at: isoTimeOrNull(status === 'delayed' ? account.nextTryAt : null),
    import: presentImport(account.import, account.updatedAt),
    skipped_messages: presentSkipped(account.skipped),
    differences: account.differences.map(({ nextStep, ...rest }) => ({ ...rest, next_step: nextStep })),
    last_synced_at: isoTimeOrNull(account.syncedAt),
    created_at: isoTime(account.createdAt),
    updated_at: isoTime(account.updatedAt),
  }
}

export function presentRemoteAccount(account: RemoteAccount): RemoteAccountJson {
  const { imap, providerId, folderId, kind, push } = account
  const { confirmRemoval, undoRemoval, ...actions } = remoteActions(account)
  return {
    ...presentRemoteState(account),
    imap_host: imap?.host ?? null,
    imap_port: imap?.port ?? null,
    imap_protocol: imap?.protocol ?? null,
    imap_username: imap?.username ?? null,
    has_password: account.auth === 'password' && account.hasSecret,
    provider_id: providerId,
    folder_id: folderId,
    since: isoTimeOrNull(account.since),
    ...{ kind, push },
    held_removals: heldRemovals(account).map(({ side, removal }) => presentHeld(side, removal)),
    allowed_actions: { ...actions, confirm_removal: confirmRemoval, undo_removal: undoRemoval },
  }
}

/** What `If-Match` compares: settings, and what a confirmation would remove. The worker changes the rest in each round. */
export function versionOf(account: RemoteAccount): LiveVersion {
  const data = presentRemoteAccount(account)
  const { name, settingsVersion, imap, providerId, folderId, since } = account
  const settings = { name, settingsVersion, imap, providerId, folderId, since, isPaused: account.status === 'paused' }
  return new LiveVersion(data, { ...settings, held: data.held_removals })
}

/** The account in a response, tagged with its version. */
export function answerRemoteAccount(account: RemoteAccount): Answer {
  const version = versionOf(account)
  return answer({ data: version.data, version })
}

function presentSkipped({ messages, tooLarge, nextTryAt }: SkippedMessages): Static<typeof SkippedJson> {
  return { messages, too_large: tooLarge, next_try_at: isoTimeOrNull(nextTryAt) }
}

function presentHeld(at: RemovalSide, { messages, folders, since }: HeldRemoval): Static<typeof HeldRemovalJson> {
  return { at, messages, folders: [...folders], since: isoTime(since) }
}

export function presentRemoteFolder(folder: FollowedFolder): Static<typeof RemoteFolderJson> {
  return {
    path: folder.path,
    folder_id: folder.folderId,
    role: folder.role,
    state: folder.state,
    reason: folder.reason,
    messages_total: folder.total,
    messages_done: Math.max(0, folder.done - folder.skipped),
    messages_skipped: folder.skipped,
    last_looked_at: isoTimeOrNull(folder.lookedAt),
  }
}

export function presentDiscovered({ imap, smtp, auth, source }: DiscoveredAccount): Static<typeof DiscoveredJson> {
  const server = (found: DiscoveredServer | null) =>
    found && { host: found.host, port: found.port, protocol: found.protocol }
  return { imap: server(imap), smtp: server(smtp), auth, source }
}

/** @param at when the numbers were written, ms */
function presentImport(progress: ImportProgress, at: number): Static<typeof ImportJson> {
  return {
    state: progress.state,
    folders_total: progress.foldersTotal,
    folders_done: progress.foldersDone,
    messages_total: progress.messagesTotal,
    messages_done: progress.messagesDone,
    bytes_done: progress.bytesDone,
    started_at: isoTimeOrNull(progress.startedAt),
    finished_at: isoTimeOrNull(progress.finishedAt),
    estimated_finish_at: isoTimeOrNull(finishOf(progress, at)),
  }
}

/** The time that is left is in proportion to the messages that are left. */
function finishOf({ state, startedAt, messagesDone: done, messagesTotal: total }: ImportProgress, at: number) {
  if (state !== 'running' || startedAt === null || done === 0 || at <= startedAt) return null
  return Math.round(at + ((at - startedAt) * Math.max(0, total - done)) / done)
}
