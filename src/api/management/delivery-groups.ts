// The delivery groups of a team.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import type { DeliveryGroup as GroupRecord } from '../../outbound/providers/groups.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import {
  DeliveryGroupCreate,
  DeliveryGroupJson,
  DeliveryGroupUpdate,
  presentGroup,
  readMember,
} from '../schemas/delivery-group.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ group_id: Id('deliveryGroup') })

const listGroups = route({
  method: 'GET',
  path: '/delivery-groups',
  docs: {
    operation: 'listDeliveryGroups',
    tag: 'Delivery groups',
    summary: 'List delivery groups, newest first',
    description: 'A group names sending accounts in the order in which they are tried.',
  },
  access: { as: 'team', permission: 'provider.read' },
  query: pageQuery({ limit: MANAGEMENT_PAGE }),
  reply: { schema: listOf(DeliveryGroupJson) },
  handle({ query: { limit }, after, principal, app }) {
    const page = app.outbound.accounts.groups.list(principal.teamId, { limit, after })
    return { items: page.items.map(presentGroup), next: page.next }
  },
})

const createGroup = route({
  method: 'POST',
  path: '/delivery-groups',
  docs: {
    operation: 'createDeliveryGroup',
    tag: 'Delivery groups',
    summary: 'Create a delivery group',
    description: '409 when the name is in use; 422 `not_found` for an account that is not of the team.',
  },
  access: { as: 'team', permission: 'provider.create' },
  idempotent: true,
  body: { schema: DeliveryGroupCreate },
  reply: { schema: DeliveryGroupJson, status: 201 },
  async handle({ body, principal, app }) {
    const input = { name: body.name, strategy: body.strategy, members: body.members.map(readMember) }
    const group = await app.outbound.accounts.groups.create(principal.teamId, input)
    return answer({ data: presentGroup(group), headers: { Location: `/api/v1/delivery-groups/${group.id}` } })
  },
})

const readGroup = route({
  method: 'GET',
  path: '/delivery-groups/{group_id}',
  docs: {
    operation: 'getDeliveryGroup',
    tag: 'Delivery groups',
    summary: 'Get a delivery group',
    description: 'With its members in the order in which they are tried.',
  },
  access: { as: 'team', permission: 'provider.read' },
  params,
  reply: { schema: DeliveryGroupJson, etag: true },
  handle({ params: { group_id }, principal, app }) {
    const group = app.outbound.accounts.groups.get(principal.teamId, group_id)
    if (group === undefined) throw notFound('delivery group')
    return presentGroup(group)
  },
})

const updateGroup = route({
  method: 'PATCH',
  path: '/delivery-groups/{group_id}',
  docs: {
    operation: 'updateDeliveryGroup',
    tag: 'Delivery groups',
    summary: 'Update a delivery group; a list of members replaces the present one',
    description: 'Messages that are queued take the new order with their next attempt.',
  },
  access: { as: 'team', permission: 'provider.update' },
  params,
  body: { schema: DeliveryGroupUpdate },
  reply: { schema: DeliveryGroupJson, etag: true },
  async handle({ params: { group_id }, body, principal, app, request }) {
    const change = { name: body.name, strategy: body.strategy, members: body.members?.map(readMember) }
    const matches = (current: GroupRecord) => request.matches(presentGroup(current))
    return presentGroup(await app.outbound.accounts.groups.update(principal.teamId, group_id, change, matches))
  },
})

const deleteGroup = route({
  method: 'DELETE',
  path: '/delivery-groups/{group_id}',
  docs: {
    operation: 'deleteDeliveryGroup',
    tag: 'Delivery groups',
    summary: 'Delete a delivery group; its accounts stay',
    description: '409 while the send_scope of a mailbox uses it.',
  },
  access: { as: 'team', permission: 'provider.delete' },
  params,
  reply: { schema: DeletedOf('deliveryGroup'), etag: true },
  async handle({ params: { group_id }, principal, app, request }) {
    const matches = (current: GroupRecord) => request.matches(presentGroup(current))
    await app.outbound.accounts.groups.remove(principal.teamId, group_id, matches)
    return { deleted: true, id: group_id }
  },
})

export const deliveryGroups = [listGroups, createGroup, readGroup, updateGroup, deleteGroup]
