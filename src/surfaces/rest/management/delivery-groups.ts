// The delivery groups of a team.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../../base/clock.ts'
import { notFound } from '../../../base/errors.ts'
import { type DeliveryGroup as GroupRecord, type MemberInput, NAME_MAX } from '../../../outbound/groups.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, listOf, Nullable, pageQuery, Words } from '../../http/schema.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ group_id: Id('deliveryGroup') })
const Weight = Nullable(
  Type.Integer({ minimum: 0, maximum: 100, description: "Instead of the account's own percentage; null leaves that." }),
)
const Position = Type.Integer({ minimum: 0, maximum: 1000, description: 'Order for `failover` and `round_robin`.' })
const Name = Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'Unique in the team.' })
const Strategy = Words(
  ['weighted', 'round_robin', 'failover'],
  '`weighted`: drawn by weight; `round_robin`: in turn; `failover`: the first that is there and has room.',
)

const DeliveryGroup = record(
  'DeliveryGroup',
  'Several sending accounts under one name.',
  {
    id: Id('deliveryGroup'),
    name: Type.String(),
    strategy: Strategy,
    members: Type.Array(
      record('DeliveryGroupMember', 'One of its accounts.', {
        provider_id: Id('provider'),
        weight: Weight,
        position: Position,
      }),
    ),
    created_at: TimeOf('When it was made.'),
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

const MemberIn = record('DeliveryGroupMemberInput', 'An account and its place.', {
  provider_id: Id('provider'),
  weight: Type.Optional(Weight),
  position: Type.Optional({ ...Position, description: 'Its place in the list unless given.' }),
})
const Members = Type.Array(MemberIn, { minItems: 1, maxItems: 50, description: 'Each account once.' })

const listGroups = route({
  method: 'GET',
  path: '/delivery-groups',
  operation: 'listDeliveryGroups',
  tag: 'Delivery groups',
  summary: 'Lists the delivery groups of the team, newest first.',
  as: 'team',
  permission: 'provider.read',
  query: pageQuery({ limit: MANAGEMENT_PAGE }),
  reply: listOf(DeliveryGroup),
  async handle({ query: { limit }, after, principal, app }) {
    const page = await app.outbound.groups.list(principal.teamId, { limit, after })
    return { items: page.items.map(present), next: page.next }
  },
})

const createGroup = route({
  method: 'POST',
  path: '/delivery-groups',
  operation: 'createDeliveryGroup',
  tag: 'Delivery groups',
  summary: 'Makes a delivery group.',
  description: '409 when the name is taken; 422 `not_found` for an account that is not of the team.',
  as: 'team',
  permission: 'provider.create',
  idempotent: true,
  body: record('DeliveryGroupCreate', 'What a delivery group is made of.', {
    name: Name,
    strategy: Default(Strategy, 'weighted'),
    members: Members,
  }),
  reply: DeliveryGroup,
  status: 201,
  async handle({ body, principal, app }) {
    const input = { name: body.name, strategy: body.strategy, members: body.members.map(readMember) }
    const group = await app.outbound.groups.create(principal.teamId, input)
    return answer({ data: present(group), headers: { Location: `/api/v1/delivery-groups/${group.id}` } })
  },
})

const readGroup = route({
  method: 'GET',
  path: '/delivery-groups/{group_id}',
  operation: 'getDeliveryGroup',
  tag: 'Delivery groups',
  summary: 'Shows one delivery group.',
  as: 'team',
  permission: 'provider.read',
  params,
  reply: DeliveryGroup,
  etag: true,
  async handle({ params: { group_id }, principal, app }) {
    const group = await app.outbound.groups.get(principal.teamId, group_id)
    if (group === undefined) throw notFound('delivery group')
    return present(group)
  },
})

const updateGroup = route({
  method: 'PATCH',
  path: '/delivery-groups/{group_id}',
  operation: 'updateDeliveryGroup',
  tag: 'Delivery groups',
  summary: 'Changes a delivery group; a list of members replaces the one before.',
  as: 'team',
  permission: 'provider.update',
  params,
  body: record('DeliveryGroupUpdate', 'What is to change; what is left out stays.', {
    name: Type.Optional(Name),
    strategy: Type.Optional(Strategy),
    members: Type.Optional(Members),
  }),
  reply: DeliveryGroup,
  etag: true,
  async handle({ params: { group_id }, body, principal, app, request }) {
    const change = { name: body.name, strategy: body.strategy, members: body.members?.map(readMember) }
    const matches = (current: GroupRecord) => request.matches(present(current))
    return present(await app.outbound.groups.update(principal.teamId, group_id, change, matches))
  },
})

const deleteGroup = route({
  method: 'DELETE',
  path: '/delivery-groups/{group_id}',
  operation: 'deleteDeliveryGroup',
  tag: 'Delivery groups',
  summary: 'Ends a delivery group; its accounts stay.',
  description: '409 while the send_scope of a mailbox names it.',
  as: 'team',
  permission: 'provider.delete',
  params,
  reply: DeletedOf('deliveryGroup'),
  async handle({ params: { group_id }, principal, app, request }) {
    const matches = (current: GroupRecord) => request.matches(present(current))
    await app.outbound.groups.remove(principal.teamId, group_id, matches)
    return { deleted: true, id: group_id }
  },
})

function readMember({ provider_id, weight, position }: Static<typeof MemberIn>): MemberInput {
  return { providerId: provider_id, weight, position }
}

function present(group: GroupRecord): Static<typeof DeliveryGroup> {
  return {
    id: group.id,
    name: group.name,
    strategy: group.strategy,
    members: group.members.map(({ providerId, weight, position }) => ({ provider_id: providerId, weight, position })),
    created_at: isoTime(group.createdAt),
    updated_at: isoTime(group.updatedAt),
  }
}

export const deliveryGroups = [listGroups, createGroup, readGroup, updateGroup, deleteGroup]
