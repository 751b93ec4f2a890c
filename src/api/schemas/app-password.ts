// App passwords, as teams and as mailbox credentials see them (docs/design/mail-programs.md §1.1).

import { type Static, Type } from 'typebox'
import { groupedAppSecret } from '../../base/app-secret.ts'
import { CLIENT_PROTOCOLS } from '../../config/client-protocols.ts'
import type { AppPassword as AppPasswordRecord, IssuedAppPassword } from '../../directory/mailboxes/app-passwords.ts'
import { MAILBOX_SCOPES } from '../../directory/names/permissions.ts'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import { KeyStatus } from './api-key.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'A note for the list of app passwords.',
  examples: ['Telephone'],
})
const Expiry = {
  ...TimeQuery,
  description: 'In the future, at most 5 years ahead.',
  examples: ['2030-06-01T00:00:00Z'],
}
const SavesSent = Type.Boolean({
  description: 'Whether a copy of messages submitted with it is kept in Sent. Most programs store one themselves.',
})

export const AppPasswordCreate = record(
  'AppPasswordCreate',
  'The new app password.',
  {
    name: Name,
    permissions: Type.Optional(
      Type.Array(Words(MAILBOX_SCOPES), {
        ...{ minItems: 1, maxItems: MAILBOX_SCOPES.length, uniqueItems: true },
        description: 'What the program may do. Default: all scopes, or those of the key.',
      }),
    ),
    protocols: Type.Optional(
      Type.Array(Words(CLIENT_PROTOCOLS), {
        ...{ minItems: 1, maxItems: CLIENT_PROTOCOLS.length, uniqueItems: true },
        description: 'What it can be used for. Default: all.',
      }),
    ),
    saves_sent: Type.Optional(SavesSent),
    expires_at: Type.Optional(Expiry),
  },
  { name: 'Telephone', permissions: ['mailbox.read', 'email.receive', 'mailbox.write', 'email.send'] },
)

export const AppPasswordUpdate = Type.Object(
  {
    name: Type.Optional(Name),
    saves_sent: Type.Optional(SavesSent),
    expires_at: Type.Optional({ ...Expiry, description: 'In the future, and earlier than the present expiry.' }),
  },
  {
    title: 'AppPasswordUpdate',
    description: 'The changes.',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ name: 'Old telephone', expires_at: '2030-06-01T00:00:00Z' }],
  },
)

export const AppPasswordJson = record(
  'AppPassword',
  'A secret of a mailbox for one mail program; only its last four characters are shown.',
  {
    id: Id('appPassword'),
    mailbox_id: Id('mailbox'),
    name: Type.String({ minLength: 1, maxLength: 100 }),
    permissions: Type.Array(Type.String()),
    protocols: Type.Array(Words(CLIENT_PROTOCOLS)),
    saves_sent: SavesSent,
    last4: Type.String(),
    status: KeyStatus,
    created_by: Type.String({ description: '`usr_…`, `key_…` or `operator`.' }),
    created_at: TimeOf('When it was created.'),
    expires_at: TimeOrNull('When it expires; null for never.'),
    last_used_at: TimeOrNull('Start of the minute of the last sign-in; null before the first.'),
    last_used_from: Nullable(Type.String({ description: 'Address of the last sign-in.' })),
    last_used_client: Nullable(Type.String({ description: 'What the program said of itself.' })),
    revoked_at: TimeOrNull('When it was revoked; null while it is not.'),
  },
  {
    id: 'apw_0a1b2c3d4e5f6g7h8i9j0k1l',
    mailbox_id: 'mbx_0a1b2c3d4e5f6g7h8i9j0k1l',
    name: 'Telephone',
    permissions: ['mailbox.read', 'email.receive', 'mailbox.write', 'email.send'],
    protocols: ['imap', 'submission', 'managesieve'],
    saves_sent: false,
    last4: '7k2m',
    status: 'active',
    created_by: 'key_9z8y7x6w5v4u3t2s1r0q9p8o',
    created_at: '2030-01-02T03:04:05.000Z',
    expires_at: null,
    last_used_at: null,
    last_used_from: null,
    last_used_client: null,
    revoked_at: null,
  },
)
export type AppPasswordJson = Static<typeof AppPasswordJson>

export const NewAppPassword = record(
  'NewAppPassword',
  'An app password with its secret, which is shown only this once.',
  {
    ...AppPasswordJson.properties,
    password: Type.String({ description: 'The secret. It cannot be shown again.' }),
    password_grouped: Type.String({ description: 'The same in groups of five; programs take both spellings.' }),
  },
)
export type NewAppPassword = Static<typeof NewAppPassword>

/** The input of `AppPasswords.issue`. @param createdBy id of the key */
export function readAppPassword(body: Static<typeof AppPasswordCreate>, createdBy: string) {
  const { name, permissions, protocols, saves_sent: savesSent, expires_at: expires } = body
  return {
    name,
    permissions,
    protocols,
    savesSent,
    expiresAt: expires === undefined ? null : parseTime(expires),
    createdBy,
  }
}

/** The change of `AppPasswords.update`. */
export function readAppPasswordChange(body: Static<typeof AppPasswordUpdate>) {
  const { name, saves_sent: savesSent, expires_at: expires } = body
  return { name, savesSent, ...(expires === undefined ? {} : { expiresAt: parseTime(expires) }) }
}

export const presentAppPassword = presenterOf<AppPasswordRecord>()(AppPasswordJson)

export function presentNewAppPassword({ record: made, secret }: IssuedAppPassword): NewAppPassword {
  return { ...presentAppPassword(made), password: secret, password_grouped: groupedAppSecret(secret) }
}
