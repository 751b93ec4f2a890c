// An API key without its secret.

import { type Static, Type } from 'typebox'
import type { IssuedKey } from '../../directory/keys/key-record.ts'
import type { ApiKey as KeyRecord } from '../../directory/keys/keys.ts'
import { PERMISSIONS, ROLES, type Role } from '../../directory/names/permissions.ts'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, TimeQuery, Words } from '../../http/schema.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

const ROLE_NAMES = Object.keys(ROLES) as Role[]

export const KeyName = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'A note for the list of keys.',
  examples: ['Shop'],
})

export const KeyExpiry = {
  ...TimeQuery,
  description: 'In the future, at most 5 years ahead.',
  examples: ['2030-01-01T00:00:00Z'],
}

/** The body that creates a key of a team. */
export const ApiKeyCreate = record(
  'ApiKeyCreate',
  'Exactly one of `role` and `permissions`.',
  {
    name: KeyName,
    role: Type.Optional({ ...Words(ROLE_NAMES, 'A built-in role.'), examples: ['root:readonly'] }),
    permissions: Type.Optional(
      Type.Array(Type.String({ maxLength: 64, examples: [PERMISSIONS[0]!] }), {
        ...{ minItems: 1, maxItems: 50, uniqueItems: true },
        description: 'Permissions of the catalogue, or wildcards such as `domain.*`.',
      }),
    ),
    expires_at: Type.Optional(KeyExpiry),
  },
  { name: 'Shop', role: 'root:readonly' },
)

export const KeyStatus = Words(['active', 'expired', 'revoked'], 'Only an active key is accepted.')

export const ApiKeyJson = record(
  'ApiKey',
  'An API key; of its secret only the first ten and the last four characters are shown.',
  {
    id: Id('key'),
    name: Type.String({ minLength: 1, maxLength: 100 }),
    kind: Words(['root', 'mailbox']),
    role: Nullable(Type.String({ description: 'Built-in role; null when single permissions were named.' })),
    permissions: Type.Array(Type.String()),
    mailbox_id: Nullable(Id('mailbox')),
    prefix: Type.String(),
    last4: Type.String(),
    status: KeyStatus,
    created_by: Type.String({ description: '`usr_…`, `key_…` or `operator`.' }),
    created_at: TimeOf('When it was created.'),
    expires_at: TimeOrNull('When it expires; null for never.'),
    last_used_at: TimeOrNull('Start of the minute of the last use; null before the first.'),
    revoked_at: TimeOrNull('When it was revoked; null while it is not.'),
  },
  {
    id: 'key_0a1b2c3d4e5f6g7h8i9j0k1l',
    name: 'Reading assistant',
    kind: 'mailbox',
    role: null,
    permissions: ['mailbox.read', 'email.receive'],
    mailbox_id: 'mbx_0a1b2c3d4e5f6g7h8i9j0k1l',
    prefix: 'smk_4fT9qa',
    last4: 'x0Zk',
    status: 'active',
    created_by: 'key_9z8y7x6w5v4u3t2s1r0q9p8o',
    created_at: '2030-01-02T03:04:05.000Z',
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
  },
)
export type ApiKeyJson = Static<typeof ApiKeyJson>

export const NewApiKey = record('NewApiKey', 'An API key with its secret, which is shown only this once.', {
  ...ApiKeyJson.properties,
  key: Type.String({ description: 'The secret. It cannot be shown again.' }),
})
export type NewApiKey = Static<typeof NewApiKey>

export const presentKey = presenterOf<KeyRecord>()(ApiKeyJson)

export function presentNewKey(issued: IssuedKey): NewApiKey {
  return { ...presentKey(issued.record), key: issued.secret }
}
