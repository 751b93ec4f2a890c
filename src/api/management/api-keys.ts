// The API keys of a team (docs/design/directory.md §2).

import { Type } from 'typebox'
import { notFound, ProductError } from '../../base/errors.ts'
import { checkPermissions } from '../../directory/keys/key-record.ts'
import type { ApiKey as KeyRecord } from '../../directory/keys/keys.ts'
import { isSubset } from '../../directory/names/permissions.ts'
import { createdBy, type TeamPrincipal } from '../../directory/names/principal.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, pageQuery, parseTime, Words } from '../../http/schema.ts'
import { openedByKey } from '../../people/opens.ts'
import {
  ApiKeyCreate,
  ApiKeyJson,
  KeyExpiry,
  KeyName,
  KeyStatus,
  NewApiKey,
  presentKey,
  presentNewKey,
} from '../schemas/api-key.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { requireRotatable } from './authority.ts'
import { rotated, rotationBody } from './key-rotation.ts'
import { MAKERS, makersFor } from './makers.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ key_id: Id('key') })
const listKeys = route({
  method: 'GET',
  path: '/api-keys',
  docs: {
    operation: 'listApiKeys',
    tag: 'API keys',
    summary: 'List the API keys of the team and its mailboxes, newest first',
    description: MAKERS,
  },
  access: { as: 'team', permission: 'apikey.read' },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    status: KeyStatus,
    kind: Words(['root', 'mailbox'], 'Keys of the team itself, or of its mailboxes.'),
  }),
  reply: { schema: listOf(ApiKeyJson) },
  handle({ query: { status, kind, limit }, after, principal, app }) {
    const page = app.directory.keys.list(principal.teamId, { status, kind, limit, after })
    const makers = makersFor(app, principal, page.items)
    return { items: page.items.map(presentKey), next: page.next, meta: { makers } }
  },
})

const createKey = route({
  method: 'POST',
  path: '/api-keys',
  docs: {
    operation: 'createApiKey',
    tag: 'API keys',
    summary: 'Create an API key of the team',
    description:
      'The secret is shown in this response only. A key cannot create a key with more permissions than it has (403).',
  },
  access: { as: 'team', permission: 'apikey.create', fresh: true },
  idempotent: true,
  reply: { secret: true, schema: NewApiKey, status: 201 },
  body: { schema: ApiKeyCreate },
  async handle({ body, principal, app, request }) {
    // A missing key is reported before a missing permission.
    requireSubset(principal, checkPermissions({ kind: 'root', role: body.role, permissions: body.permissions }))
    const issued = await app.directory.keys.issue({
      teamId: principal.teamId,
      kind: 'root',
      name: body.name,
      role: body.role,
      permissions: body.permissions,
      expiresAt: body.expires_at === undefined ? null : parseTime(body.expires_at),
      createdBy: createdBy(principal),
    })
    request.opens(openedByKey(issued.record.permissions))
    return answer({ data: presentNewKey(issued), headers: { Location: `/api/v1/api-keys/${issued.record.id}` } })
  },
})

const readKey = route({
  method: 'GET',
  path: '/api-keys/{key_id}',
  docs: {
    operation: 'getApiKey',
    tag: 'API keys',
    summary: 'Get an API key',
    description: 'With its permissions and when it was last used; never the key itself.',
  },
  access: { as: 'team', permission: 'apikey.read' },
  params,
  reply: { schema: ApiKeyJson, etag: true },
  handle({ params: { key_id: id }, principal, app }) {
    const key = app.directory.keys.get(principal.teamId, id)
    if (key === undefined) throw notFound('API key')
    return presentKey(key)
  },
})

const updateKey = route({
  method: 'PATCH',
  path: '/api-keys/{key_id}',
  docs: {
    operation: 'updateApiKey',
    tag: 'API keys',
    summary: 'Rename an API key, or shorten its lifetime',
    description: 'Permissions cannot be changed: create another key. A lifetime can be shortened, not extended.',
  },
  access: { as: 'team', permission: 'apikey.update', fresh: true },
  params,
  body: {
    schema: Type.Object(
      {
        name: Type.Optional(KeyName),
        expires_at: Type.Optional({ ...KeyExpiry, description: 'Earlier than the present expiry, or the first one.' }),
      },
      {
        title: 'ApiKeyUpdate',
        description: 'The changes.',
        additionalProperties: false,
        minProperties: 1,
        examples: [{ name: 'Shop, reading' }],
      },
    ),
  },
  reply: { schema: ApiKeyJson, etag: true },
  async handle({ params: { key_id: id }, body, principal, app, request }) {
    const change = {
      name: body.name,
      expiresAt: body.expires_at === undefined ? undefined : parseTime(body.expires_at),
    }
    const key = await app.directory.keys.update(principal.teamId, id, change, (current) => {
      requireOwn(principal, current)
      request.matches(presentKey(current))
    })
    return presentKey(key)
  },
})

const rotateKey = route({
  method: 'POST',
  path: '/api-keys/{key_id}/rotate',
  docs: {
    operation: 'rotateApiKey',
    tag: 'API keys',
    summary: 'Rotate the secret of an API key',
    description:
      'The new secret is shown in this response only; 409 when the key is not active, or belongs to a mailbox.',
  },
  access: { as: 'team', permission: 'apikey.update', fresh: true },
  idempotent: true,
  reply: { secret: true, schema: NewApiKey, etag: true },
  params,
  body: { schema: rotationBody('ApiKeyRotate'), optional: true },
  async handle({ params: { key_id: id }, body, principal, app, request }) {
    const issued = await app.directory.keys.rotate(principal.teamId, id, body.grace_seconds, (current) => {
      requireOwn(principal, current)
      requireRotatable(app, principal, current)
      request.matches(presentKey(current))
    })
    request.opens(openedByKey(issued.record.permissions))
    return rotated(issued)
  },
})

const deleteKey = route({
  method: 'DELETE',
  path: '/api-keys/{key_id}',
  docs: {
    operation: 'deleteApiKey',
    tag: 'API keys',
    summary: 'Revoke an API key immediately',
    description: 'The next request with it is 401; its event streams end.',
  },
  access: { as: 'team', permission: 'apikey.delete' },
  params,
  reply: { schema: DeletedOf('key'), etag: true },
  async handle({ params: { key_id: id }, principal, app, request }) {
    await app.directory.keys.revoke(principal.teamId, id, (current) => {
      requireOwn(principal, current)
      request.matches(presentKey(current))
    })
    return { deleted: true, id }
  },
})

/** Keys of mailboxes are managed under their mailbox; a key cannot change one with more permissions. */
function requireOwn(principal: TeamPrincipal, key: KeyRecord): void {
  if (key.kind === 'mailbox') {
    throw new ProductError(
      'conflict',
      'This key belongs to a mailbox. Change it under /mailboxes/{mailbox_id}/api-keys.',
    )
  }
  requireSubset(principal, key.permissions)
}

/** @throws ProductError insufficient_permissions when a key creates or changes one with more permissions than its own */
export function requireSubset({ permissions }: TeamPrincipal, wanted: readonly string[]): void {
  const missing = wanted.find((one) => !isSubset([one], permissions))
  if (missing === undefined) return
  throw new ProductError('insufficient_permissions', `The permission ${missing} is missing. Use a key that has it.`)
}

export const apiKeys = [listKeys, createKey, readKey, updateKey, rotateKey, deleteKey]
