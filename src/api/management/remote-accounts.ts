// The outside accounts of a team (docs/design/outside-accounts.md §3).

import { Type } from 'typebox'
import { notFound, ProductError } from '../../base/errors.ts'
import { allows } from '../../directory/names/permissions.ts'
import { answer, route } from '../../http/route.ts'
import { Default, FilterId, Id, listOf, pageQuery, Words } from '../../http/schema.ts'
import { openedByAccount, openedByForward } from '../../people/opens.ts'
import type { RemoteAccount } from '../../sync/model/records.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import {
  answerRemoteAccount,
  DiscoveredJson,
  presentDiscovered,
  presentRemoteAccount,
  presentRemoteFolder,
  RemoteAccountJson,
  RemoteFolderJson,
  RemoteModeName,
  RemoteStatusName,
  versionOf,
} from '../schemas/remote-account.ts'
import {
  RemoteAccountCreate,
  RemoteAccountUpdate,
  RemoteDiscover,
  readRemoteAccount,
  readRemoteChange,
} from '../schemas/remote-account-input.ts'
import { isOtherImap, isOtherOwnedSmtp } from './other-servers.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const PATH = '/remote-accounts'
const ONE = `${PATH}/{remote_account_id}`
const TAG = 'Outside accounts'
const params = Type.Object({ remote_account_id: Id('remoteAccount') })
const FOLDERS_PAGE = 100
const ERASE = 'mailbox.admin.delete'
/** A search asks several servers of others. */
const DISCOVER_RATE = { times: 10, seconds: 60, shared: 'discoverServers' }
/** A server is connected to soon, and the status says how it answers. */
const CREATE_RATE = { times: 60, seconds: 60 }
const UPDATE_RATE = { times: 20, seconds: 60 }

const listAccounts = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'listRemoteAccounts',
    tag: TAG,
    summary: 'List outside accounts, newest first',
    description: 'Each with its state and how much of it was imported.',
  },
  access: { as: 'team', permission: 'remote.read' },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    status: RemoteStatusName,
    mode: RemoteModeName,
    mailbox_id: { ...FilterId('mailbox'), description: 'The account that this mailbox is, or those it collects from.' },
  }),
  reply: { schema: listOf(RemoteAccountJson) },
  handle({ query: { status, mode, mailbox_id: mailboxId, limit }, after, principal, app }) {
    const page = app.sync.accounts.list(principal.teamId, { status, mode, mailboxId, limit, after })
    return { items: page.items.map(presentRemoteAccount), next: page.next }
  },
})

const createAccount = route({
  method: 'POST',
  path: PATH,
  docs: {
    operation: 'createRemoteAccount',
    tag: TAG,
    summary: 'Attach an outside account with a password',
    description:
      'A `mirror` makes a mailbox with the address of the account, and with SMTP settings a sending account for it alone; `collect` ' +
      'copies mail into a hosted mailbox, at most 5 accounts into one. The first sign-in follows within 20 seconds. 409 when the ' +
      'address is attached in this team already, or the mailbox cannot collect; 422 `forbidden_value` for a host in a private ' +
      'network, `missing` for a server that is not given and cannot be found. In a browser an `smtp_host` needs a confirmation of the ' +
      'last 15 minutes.',
    errors: ['conflict'],
  },
  access: { as: 'team', permission: 'remote.create' },
  limits: { throttle: CREATE_RATE },
  idempotent: true,
  body: { schema: RemoteAccountCreate },
  reply: { schema: RemoteAccountJson, status: 201 },
  async handle({ body, principal, app, request }) {
    // Its server sees what the mailbox sends.
    if (body.smtp_host !== undefined) request.requireFreshProof()
    if (body.imap_host === undefined) request.admit(DISCOVER_RATE)
    const created = await app.administration.outsideAccounts.create(principal.teamId, readRemoteAccount(body))
    if (body.smtp_host !== undefined) request.opens(openedByAccount(body.smtp_host))
    return answer({ data: presentRemoteAccount(created), headers: { Location: `/api/v1${PATH}/${created.id}` } })
  },
})

const discoverAccount = route({
  method: 'POST',
  path: `${PATH}/discover`,
  docs: {
    operation: 'discoverRemoteAccount',
    tag: TAG,
    summary: 'Look for the servers of an address',
    description:
      'By known providers, SRV records and the autoconfiguration of the domain. Nothing is signed in to or stored.',
  },
  access: { as: 'team', permission: 'remote.create', audited: false },
  limits: { throttle: DISCOVER_RATE },
  body: { schema: RemoteDiscover },
  reply: { schema: DiscoveredJson },
  async handle({ body, app }) {
    return presentDiscovered(await app.administration.outsideAccounts.discover(body.email))
  },
})

const readAccount = route({
  method: 'GET',
  path: ONE,
  docs: {
    operation: 'getRemoteAccount',
    tag: TAG,
    summary: 'Get an outside account',
    description: 'With its state, the last error of its server, and the progress of the import.',
  },
  access: { as: 'team', permission: 'remote.read' },
  params,
  reply: { schema: RemoteAccountJson, etag: true },
  handle({ params: { remote_account_id: id }, principal, app }) {
    const account = app.sync.accounts.get(principal.teamId, id)
    if (account === undefined) throw notFound('outside account')
    return answerRemoteAccount(account)
  },
})

const listFolders = route({
  method: 'GET',
  path: `${ONE}/folders`,
  docs: {
    operation: 'listRemoteFolders',
    tag: TAG,
    summary: 'List the folders of an outside account, and how far each is here',
    description: 'Counts are of messages at the server and in the mailbox; they are equal when the folder is in sync.',
  },
  access: { as: 'team', permission: 'remote.read' },
  params,
  query: pageQuery({ limit: FOLDERS_PAGE }),
  reply: { schema: listOf(RemoteFolderJson) },
  handle({ params: { remote_account_id: id }, query: { limit }, after, principal, app }) {
    const account = app.sync.accounts.get(principal.teamId, id)
    if (account === undefined) throw notFound('outside account')
    const page = app.sync.folders(account, { limit, after })
    return { items: page.items.map(presentRemoteFolder), next: page.next }
  },
})

const updateAccount = route({
  method: 'PATCH',
  path: ONE,
  docs: {
    operation: 'updateRemoteAccount',
    tag: TAG,
    summary: 'Update an outside account; members left out stay',
    description:
      'After a change of server, user name or password it is `pending` and signed in to again. A new `password` is also that of the ' +
      'sending account, if both were equal. Another `imap_host`, `imap_port` or `imap_username` needs `password`, another `smtp_host`, `smtp_port` or ' +
      '`smtp_username` `smtp_password`, and so does `none` as protocol (422 `required`): stored ones are not sent elsewhere. In a browser another server or ' +
      'user name needs a confirmation of the last 15 minutes. 422 for connection settings of a connected Google or Microsoft account: connect it again.',
  },
  access: { as: 'team', permission: 'remote.update' },
  limits: { throttle: UPDATE_RATE },
  params,
  body: { schema: RemoteAccountUpdate },
  reply: { schema: RemoteAccountJson, etag: true },
  async handle({ params: { remote_account_id: id }, body, principal, app, request }) {
    const { teamId } = principal
    const providerOf = (account: RemoteAccount | undefined) =>
      account?.providerId == null ? undefined : app.outbound.accounts.providers.get(teamId, account.providerId)
    const before = app.sync.accounts.get(teamId, id)
    const isSentElsewhere = isOtherOwnedSmtp(body, providerOf(before))
    const isElsewhere = isOtherImap(body, before?.imap)
    if (isSentElsewhere || isElsewhere) request.requireFreshProof()
    const matches = (current: RemoteAccount) => request.matches(versionOf(current))
    const change = readRemoteChange(body)
    const updated = await app.administration.outsideAccounts.update(teamId, id, change, matches)
    const opened = [
      ...(isElsewhere ? [openedByForward(updated.email, updated.imap?.host ?? '')] : []),
      ...(isSentElsewhere ? [openedByAccount(providerOf(updated)?.smtpHost ?? null)] : []),
    ]
    if (opened.length > 0) request.opens(opened.join('; '))
    return answerRemoteAccount(updated)
  },
})

const deleteAccount = route({
  method: 'DELETE',
  path: ONE,
  docs: {
    operation: 'deleteRemoteAccount',
    tag: TAG,
    summary: 'End an outside account; nothing is removed at the other side',
    description:
      'The mailbox of a mirror stays readable and is suspended (`keep`), or is deleted (`erase`, which needs `mailbox.admin.delete` as ' +
      'well). Messages that were collected stay.',
  },
  access: { as: 'team', permission: 'remote.delete', fresh: true },
  params,
  query: Type.Object({
    on_messages: Default(Words(['keep', 'erase'], 'What happens to the mailbox of a mirror.'), 'keep'),
  }),
  reply: { schema: DeletedOf('remoteAccount'), etag: true },
  async handle({ params: { remote_account_id: id }, query, principal, app, request }) {
    if (query.on_messages === 'erase') requireErasing(principal.permissions)
    const matches = (current: RemoteAccount) => request.matches(versionOf(current))
    await app.administration.outsideAccounts.delete(principal.teamId, id, query.on_messages, matches)
    return { deleted: true, id }
  },
})

/** @throws ProductError insufficient_permissions for a credential that may not delete mailboxes */
function requireErasing(permissions: readonly string[]): void {
  if (allows(permissions, ERASE)) return
  const message = `The permission ${ERASE} is missing: erasing deletes the mailbox. Use a key that has it.`
  throw new ProductError('insufficient_permissions', message)
}

export const remoteAccounts = [
  listAccounts,
  createAccount,
  discoverAccount,
  readAccount,
  listFolders,
  updateAccount,
  deleteAccount,
]
