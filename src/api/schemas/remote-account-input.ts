// Bodies that attach and change an outside account (docs/design/outside-accounts.md §3).

import { type Static, Type } from 'typebox'
import type { OutsideAccountChange, OutsideAccountInput } from '../../administration/outside-accounts.ts'
import { QUOTA_MAX_BYTES, QUOTA_MIN_BYTES } from '../../directory/mailboxes/mailbox-input.ts'
import { Default, Id, Nullable, parseTime, TimeQuery } from '../../http/schema.ts'
import { NAME_MAX, PASSWORD_MAX, USERNAME_MAX } from '../../sync/accounts/accounts-input.ts'
import { SmtpProtocol } from './provider.ts'
import { record } from './record.ts'
import { ImapProtocol, RemoteModeName } from './remote-account.ts'

const Host = Type.String({ minLength: 1, maxLength: 255, description: 'DNS name or IP address of the server.' })
const Port = Type.Integer({ minimum: 1, maximum: 65_535 })
const Username = Type.String({ minLength: 1, maxLength: USERNAME_MAX })
const Password = Type.String({
  minLength: 1,
  maxLength: PASSWORD_MAX,
  description: 'Stored encrypted, and never shown.',
})
const Email = Type.String({ minLength: 3, maxLength: 254, pattern: '^[^@\\s]+@[^@\\s]+$' })
const Name = Type.String({ minLength: 1, maxLength: NAME_MAX })

const SERVERS = {
  imap_host: Type.Optional({ ...Host, description: 'Left out: it is looked up by the address.' }),
  imap_port: Type.Optional({ ...Port, description: 'Default 993 with `ssl`, else 143.' }),
  imap_protocol: Type.Optional(ImapProtocol),
  imap_username: Type.Optional({ ...Username, description: 'Default: the address.' }),
  smtp_host: Type.Optional({
    ...Host,
    description: '`mirror`: makes a sending account of the team, only for this mailbox.',
  }),
  smtp_port: Type.Optional({ ...Port, description: 'Default 465 with `ssl`, else 587.' }),
  smtp_protocol: Type.Optional(SmtpProtocol),
  smtp_username: Type.Optional({ ...Username, description: 'Default: `imap_username`.' }),
  smtp_password: Type.Optional({ ...Password, description: 'Default: `password`.' }),
}
const FILING = {
  folder_id: Type.Optional(Nullable({ ...Id('folder'), description: '`collect`: where mail goes; null: the Inbox.' })),
  since: Type.Optional(
    Nullable({ ...TimeQuery, description: '`collect`: only mail received after it; null: all mail.' }),
  ),
}

export const RemoteAccountCreate = record(
  'RemoteAccountCreate',
  'The account to attach.',
  {
    mode: Default(RemoteModeName, 'mirror'),
    name: Type.Optional({ ...Name, description: 'A note for the list of accounts; default: the address.' }),
    email: { ...Email, description: 'The address of the account.' },
    password: Password,
    ...SERVERS,
    mailbox_id: Type.Optional({
      ...Id('mailbox'),
      description: '`collect`: required. A mirror makes its own mailbox.',
    }),
    display_name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: '`mirror`: display name in From.' }),
    ),
    quota_bytes: Type.Optional(
      Type.Integer({ minimum: QUOTA_MIN_BYTES, maximum: QUOTA_MAX_BYTES, description: '`mirror`: default 50 GiB.' }),
    ),
    ...FILING,
  },
  { email: 'ana@mail.example', password: 'secret', name: 'Ana at her hoster' },
)

export const RemoteAccountUpdate = Type.Object(
  {
    name: Type.Optional({ ...Name, description: 'A note for the list of accounts.' }),
    password: Type.Optional(Password),
    ...SERVERS,
    ...FILING,
  },
  {
    title: 'RemoteAccountUpdate',
    description: 'The changes; members left out stay.',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ password: 'new secret' }],
  },
)

export const RemoteDiscover = record(
  'RemoteDiscover',
  'The address to look for.',
  { email: { ...Email, description: 'The address of an account.' } },
  { email: 'ana@mail.example' },
)

type Servers = Pick<Static<typeof RemoteAccountUpdate>, keyof typeof SERVERS>

function imapOf({ imap_host: host, imap_port: port, imap_protocol: protocol, imap_username: username }: Servers) {
  return { host, port, protocol, username }
}

function smtpOf(servers: Servers) {
  const { smtp_host: host, smtp_port: port, smtp_protocol: protocol, smtp_username: username } = servers
  return { host, port, protocol, username, password: servers.smtp_password }
}

export function readRemoteAccount(body: Static<typeof RemoteAccountCreate>): OutsideAccountInput {
  const { mode, name, email, password, mailbox_id: mailboxId, display_name: displayName } = body
  return {
    ...{ mode, name, email, password, imap: imapOf(body), smtp: smtpOf(body), mailboxId, displayName },
    ...{ quotaBytes: body.quota_bytes, folderId: body.folder_id, since: sinceOf(body.since) },
  }
}

export function readRemoteChange(body: Static<typeof RemoteAccountUpdate>): OutsideAccountChange {
  const { name, password, folder_id: folderId, since } = body
  const [imap, smtp] = [imapOf(body), smtpOf(body)]
  return {
    ...{ name, password, folderId, since: sinceOf(since) },
    ...(isGiven(imap) ? { imap } : {}),
    ...(isGiven(smtp) ? { smtp } : {}),
  }
}

function sinceOf(since: string | null | undefined): number | null | undefined {
  return since == null ? since : parseTime(since, { param: 'since' })
}

function isGiven(server: object): boolean {
  return Object.values(server).some((value) => value !== undefined)
}
