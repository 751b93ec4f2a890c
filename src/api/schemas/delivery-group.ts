// A delivery group: several sending accounts under one name.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { Default, Id, Nullable, Words } from '../../http/schema.ts'
import {
  type MemberInput as GivenMember,
  type DeliveryGroup as GroupRecord,
  NAME_MAX,
} from '../../outbound/providers/groups.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

const Weight = Nullable(
  Type.Integer({ minimum: 0, maximum: 100, description: 'Overrides the percentage of the account; null keeps it.' }),
)
const Position = Type.Integer({ minimum: 0, maximum: 1000, description: 'Order for `failover` and `round_robin`.' })
const Name = Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'Unique in the team.' })
const Strategy = Words(
  ['weighted', 'round_robin', 'failover'],
  '`weighted`: random by weight; `round_robin`: in turn; `failover`: the first available one below its caps.',
)

export const DeliveryGroupJson = record(
  'DeliveryGroup',
  'Several sending accounts under one name.',
  {
    id: Id('deliveryGroup'),
    name: Type.String(),
    strategy: Strategy,
    members: Type.Array(
      record('DeliveryGroupMember', 'A member account.', {
        provider_id: Id('provider'),
        weight: Weight,
        position: Position,
      }),
    ),
    created_at: TimeOf('When it was created.'),
    updated_at: TimeOf('When it last changed.'),
  },
  {
    id: 'dgrp_0a1b2c3d4e5f6g7h8i9j0k1l',
    name: 'Newsletters',
    strategy: 'weighted',
    members: [{ provider_id: 'dprov_m1n2b3v4c5x6z7l8k9j0h1g2', weight: null, position: 0 }],
    created_at: '2030-01-02T03:04:05.000Z',
    updated_at: '2030-01-02T03:04:05.000Z',
  },
)

export type DeliveryGroupJson = Static<typeof DeliveryGroupJson>

const MemberInput = record('DeliveryGroupMemberInput', 'A member account and its order.', {
  provider_id: Id('provider'),
  weight: Type.Optional(Weight),
  position: Type.Optional({ ...Position, description: 'Default: its index in the list.' }),
})
const Members = Type.Array(MemberInput, { minItems: 1, maxItems: 50, description: 'Each account once.' })

export const DeliveryGroupCreate = record(
  'DeliveryGroupCreate',
  'The new delivery group.',
  {
    name: Name,
    strategy: Default(Strategy, 'weighted'),
    members: Members,
  },
  { name: 'Newsletter', strategy: 'weighted', members: [{ provider_id: 'dprov_a1b2c3d4e5f6g7h8i9j0k1l2' }] },
)

export const DeliveryGroupUpdate = record(
  'DeliveryGroupUpdate',
  'The changes; members left out stay.',
  {
    name: Type.Optional(Name),
    strategy: Type.Optional(Strategy),
    members: Type.Optional(Members),
  },
  { name: 'Newsletter, weekly' },
)

export function readMember({ provider_id, weight, position }: Static<typeof MemberInput>): GivenMember {
  return { providerId: provider_id, weight, position }
}

export function presentGroup(group: GroupRecord): DeliveryGroupJson {
  return {
    id: group.id,
    name: group.name,
    strategy: group.strategy,
    members: group.members.map(({ providerId, weight, position }) => ({ provider_id: providerId, weight, position })),
    created_at: isoTime(group.createdAt),
    updated_at: isoTime(group.updatedAt),
  }
}
