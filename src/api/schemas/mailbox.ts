// A mailbox: as its own credential sees it, and as its team sees it.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { MAILBOX_ACCESS } from '../../people/grants.ts'
import type { Account } from '../../store/rows/records.ts'
import { NewApiKey } from './api-key.ts'
import { record } from './record.ts'
import { presentSendScope, SendScopeJson } from './send-scope.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from './time.ts'

/** Longer than any address, so that an address with non-ASCII letters is checked after its domain has been converted. */
export const EMAIL_TEXT_MAX = 320

export const MailboxStatus = Words(
  ['active', 'suspended', 'deleted'],
  'A suspended mailbox can be read, but neither receives nor sends. A deleted one can be restored until `restorable_until`.',
)

const OWN_MEMBERS = {
  id: Id('mailbox'),
  email: Type.String({ description: 'Lower-case address. The mailbox also receives mail to `name+tag@`.' }),
  display_name: Type.Optional(
    Type.String({ maxLength: 255, description: 'Display name in From. Left out when unset.' }),
  ),
  quota_bytes: Type.Integer({ minimum: 0, description: 'Storage quota in bytes.' }),
  quota_used_bytes: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Bytes of stored messages, each counted once. Left out when the store cannot be read.',
    }),
  ),
  send_scope: SendScopeJson,
  status: MailboxStatus,
  created_at: TimeOf('When it was created.'),
}

const EXAMPLE = {
  id: 'mbx_0a1b2c3d4e5f6g7h8i9j0k1l',
  email: 'ana@shop.example',
  display_name: 'Ana',
  quota_bytes: 5368709120,
  quota_used_bytes: 48213,
  send_scope: { type: 'all' },
  status: 'active',
  created_at: '2030-01-02T03:04:05.000Z',
}

export const MailboxJson = record(
  'Mailbox',
  'The mailbox of a credential, as the credential sees it.',
  OWN_MEMBERS,
  EXAMPLE,
)
export type MailboxJson = Static<typeof MailboxJson>

export const MailboxAdmin = record(
  'MailboxAdmin',
  'A mailbox, as its team sees it.',
  {
    ...OWN_MEMBERS,
    domain_id: Nullable({ ...Id('domain'), description: 'Null for a mailbox that is an outside account.' }),
    status_reason: Nullable(Type.String({ description: 'Why it is suspended, when a reason was given.' })),
    is_agent: Type.Boolean({ description: 'An agent registered it.' }),
    agent_registration_id: Nullable(Type.String()),
    message_count: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Stored messages. Left out when the store cannot be read.' }),
    ),
    api_key_count: Type.Integer({ minimum: 0, description: 'Active API keys.' }),
    app_password_count: Type.Integer({ minimum: 0, description: 'Active app passwords.' }),
    remote_account_id: Nullable({ ...Id('remoteAccount'), description: 'The outside account that the mailbox is.' }),
    last_activity_at: TimeOrNull('When its messages last changed; null before the first change.'),
    updated_at: TimeOf('When its settings last changed.'),
    suspended_at: TimeOrNull('When it was suspended; null while it is not.'),
    deleted_at: TimeOrNull('When it was deleted; null while it is not.'),
    restorable_until: TimeOrNull('Until when a deleted mailbox can be restored; then its content is erased.'),
  },
  {
    ...EXAMPLE,
    domain_id: 'mdom_0a1b2c3d4e5f6g7h8i9j0k1l',
    status_reason: null,
    is_agent: false,
    agent_registration_id: null,
    message_count: 12,
    api_key_count: 1,
    app_password_count: 1,
    remote_account_id: null,
    last_activity_at: '2030-01-02T03:04:05.000Z',
    updated_at: '2030-01-02T03:04:05.000Z',
    suspended_at: null,
    deleted_at: null,
    restorable_until: null,
  },
)
export type MailboxAdmin = Static<typeof MailboxAdmin>

export const NewMailbox = record('NewMailbox', 'A new mailbox, with its first API key when one was requested.', {
  ...MailboxAdmin.properties,
  api_key: Type.Optional(NewApiKey),
})
export type NewMailbox = Static<typeof NewMailbox>

export const RestoredMailbox = record('RestoredMailbox', 'A mailbox that was restored.', {
  ...MailboxAdmin.properties,
  lost_aliases: Type.Array(Type.String(), {
    description:
      'Aliases that it cannot have again: another mailbox has the address, or the team has no such verified domain.',
  }),
})
export type RestoredMailbox = Static<typeof RestoredMailbox>

export const MailboxRestore = record(
  'MailboxRestore',
  'Where it is restored.',
  {
    email: Type.Optional(
      Type.String({
        minLength: 3,
        maxLength: EMAIL_TEXT_MAX,
        description:
          'Another address at a verified domain of the team, for one that is in use now; default: the previous one.',
      }),
    ),
  },
  { email: 'ana.old@shop.example' },
)

/** People of one mailbox in a list. */
export const LISTED_PEOPLE_MAX = 3

const ListedPerson = record('ListedPerson', 'A member who may open a mailbox.', {
  member_id: Id('member'),
  email: Type.String(),
  access: Words(MAILBOX_ACCESS),
})

export const ListedMailbox = record('ListedMailbox', 'A mailbox in the list of its team.', {
  ...MailboxAdmin.properties,
  people: Type.Optional(
    Type.Array(ListedPerson, {
      description: `With \`include=people\`: the first ${LISTED_PEOPLE_MAX} members who may open it.`,
    }),
  ),
  people_count: Type.Optional(
    Type.Integer({ minimum: 0, description: 'With `include=people`: how many members may open it.' }),
  ),
})
export type ListedMailbox = Static<typeof ListedMailbox>

/** @param account its account in the store; undefined when the store cannot be read */
export function presentMailbox(mailbox: Mailbox, account: Account | undefined): MailboxJson {
  return {
    id: mailbox.id,
    email: mailbox.email,
    ...(mailbox.displayName === null ? {} : { display_name: mailbox.displayName }),
    quota_bytes: mailbox.quotaBytes,
    ...(account === undefined ? {} : { quota_used_bytes: account.usedBytes }),
    send_scope: presentSendScope(mailbox.sendScope),
    status: mailbox.status,
    created_at: isoTime(mailbox.createdAt),
  }
}

export function presentMailboxAdmin(
  mailbox: Mailbox,
  account: Account | undefined,
  facts: { keys: number; appPasswords: number; remoteAccountId?: string | null; restorableUntil?: number | null },
): MailboxAdmin {
  return {
    ...presentMailbox(mailbox, account),
    domain_id: mailbox.domainId,
    status_reason: mailbox.statusReason,
    is_agent: mailbox.isAgent,
    agent_registration_id: mailbox.agentRegistrationId,
    ...(account === undefined ? {} : { message_count: account.messageCount }),
    api_key_count: facts.keys,
    app_password_count: facts.appPasswords,
    remote_account_id: facts.remoteAccountId ?? null,
    last_activity_at: isoTimeOrNull(account?.lastActivityAt ?? null),
    updated_at: isoTime(mailbox.updatedAt),
    suspended_at: isoTimeOrNull(mailbox.suspendedAt),
    deleted_at: isoTimeOrNull(mailbox.deletedAt),
    restorable_until: isoTimeOrNull(facts.restorableUntil ?? null),
  }
}
