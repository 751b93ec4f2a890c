// Schemas of the routes at /me/v1.

import { Type } from 'typebox'
import { SIGN_IN_METHODS } from '../config/config.ts'
import { MAILBOX_SCOPES } from '../directory/names/permissions.ts'
import { record } from '../http/record.ts'
import { Id, Nullable, Words } from '../http/schema.ts'
import { TimeOf } from '../http/time.ts'
import { MAILBOX_ACCESS } from '../people/grants.ts'
import { MEMBER_ROLES } from '../people/members.ts'

const OwnTeam = record('OwnTeam', 'A team the person belongs to.', {
  id: Id('team'),
  name: Type.String(),
  member_id: Id('member'),
  role: Words(MEMBER_ROLES),
  permissions: Type.Array(Type.String(), {
    description: 'What the role permits below `/as/{team_id}`; may end with `.*`.',
  }),
  status: Words(['active', 'suspended']),
})

const OwnMailbox = record('OwnMailbox', 'A mailbox that was granted to the person.', {
  id: Id('mailbox'),
  team_id: Id('team'),
  email: Type.String(),
  display_name: Nullable(Type.String()),
  access: Words(MAILBOX_ACCESS),
  capabilities: Type.Array(Words(MAILBOX_SCOPES), {
    description: 'Scopes that the access gives below `/as/{mailbox_id}`.',
  }),
  unread_threads: Nullable(
    Type.Integer({
      minimum: 0,
      description: 'Threads with an unread message in the Inbox; null while the store cannot be read.',
    }),
  ),
  status: Words(['active', 'suspended']),
})

const OwnSignIn = record('OwnSignIn', 'How the person can sign in.', {
  passkeys: Type.Integer({ minimum: 0 }),
  password: Type.Boolean(),
  recovery_codes: Type.Integer({ minimum: 0, description: 'Codes that were not used yet.' }),
  links: Type.Boolean({ description: 'Whether links are mailed to the address of the person.' }),
  allowed: Type.Array(Words(SIGN_IN_METHODS), { description: 'What the operator allows (`SIGN_IN`).' }),
})

export const Self = record('Self', 'The signed-in person.', {
  email: Type.String({ description: 'Lower-case.' }),
  display_name: Nullable(Type.String()),
  locale: Nullable(Type.String({ description: 'A BCP 47 tag.' })),
  time_zone: Nullable(Type.String({ description: 'An IANA name.' })),
  teams: Type.Array(OwnTeam),
  mailboxes: Type.Array(OwnMailbox),
  is_operator: Type.Boolean({ description: 'Whether `/as/operator` is open.' }),
  sign_in: OwnSignIn,
  session_id: Id('session'),
  confirmed_until: TimeOf('Until then dangerous actions need no further proof.'),
  version: Type.String({ description: 'Of the appliance.' }),
})
