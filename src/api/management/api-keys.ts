// The API keys of a team (decisions §2.2).

import { Type } from 'typebox'
import { notFound, ProductError } from '../../base/errors.ts'
import { checkPermissions } from '../../directory/key-input.ts'
import { GRACE_SECONDS_MAX, type ApiKey as KeyRecord } from '../../directory/keys.ts'
import { isSubset } from '../../directory/permissions.ts'
import type { TeamPrincipal } from '../../directory/principal.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, listOf, pageQuery, parseTime, Words } from '../../http/schema.ts'
import {
  ApiKey,
  ApiKeyCreate,
  KeyExpiry,
  KeyName,
  KeyStatus,
  NewApiKey,
  presentKey,
  presentNewKey,
} from '../schemas/api-key.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { record } from '../schemas/record.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ key_id: Id('key') })
const listKeys = route({
  method: 'GET',
  path: '/api-keys',
  operation: 'listApiKeys',
  tag: 'API keys',
  summary: 'Lists the API keys of the team, newest first; those of its mailboxes too.',
  as: 'team',
  permission: 'apikey.read',
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    status: KeyStatus,
    kind: Words(['root', 'mailbox'], 'Keys of the team itself, or of its mailboxes.'),
  }),
  reply: listOf(ApiKey),
  async handle({ query: { status, kind, limit }, after, principal, app }) {
    const page = await app.directory.keys.list(principal.teamId, { status, kind, limit, after })
    return { items: page.items.map(presentKey), next: page.next }
  },
})

const createKey = route({
  method: 'POST',
  path: '/api-keys',
  operation: 'createApiKey',
  tag: 'API keys',
  summary: 'Issues an API key for the team.',
  description:
    'The secret is shown in this answer only. A key can only make keys that may do no more than itself (403).',
  as: 'team',
  permission: 'apikey.create',
  idempotent: true,
  secret: true,
  body: ApiKeyCreate,
  reply: NewApiKey,
  status: 201,
  async handle({ body, principal, app }) {
    // What does not exist is told as such, before what the caller lacks.
    requireSubset(principal, checkPermissions({ kind: 'root', role: body.role, permissions: body.permissions }))
    const issued = await app.directory.keys.issue({
      teamId: principal.teamId,
      kind: 'root',
      name: body.name,
      role: body.role,
      permissions: body.permissions,
      expiresAt: body.expires_at === undefined ? null : parseTime(body.expires_at),
      createdBy: principal.keyId,
    })
    return answer({ data: presentNewKey(issued), headers: { Location: `/api/v1/api-keys/${issued.record.id}` } })
  },
})

const readKey = route({
  method: 'GET',
  path: '/api-keys/{key_id}',
  operation: 'getApiKey',
  tag: 'API keys',
  summary: 'Shows one API key.',
  as: 'team',
  permission: 'apikey.read',
  params,
  reply: ApiKey,
  etag: true,
  async handle({ params: { key_id: id }, principal, app }) {
    const key = await app.directory.keys.get(principal.teamId, id)
    if (key === undefined) throw notFound('API key')
    return presentKey(key)
  },
})

const updateKey = route({
  method: 'PATCH',
  path: '/api-keys/{key_id}',
  operation: 'updateApiKey',
  tag: 'API keys',
  summary: 'Renames an API key, or has it end earlier.',
  as: 'team',
  permission: 'apikey.update',
  params,
  body: Type.Object(
    {
      name: Type.Optional(KeyName),
      expires_at: Type.Optional({ ...KeyExpiry, description: 'Earlier than before, or the first end it has.' }),
    },
    {
      title: 'ApiKeyUpdate',
      description: 'What is to change.',
      additionalProperties: false,
      minProperties: 1,
      examples: [{ name: 'Shop, reading' }],
    },
  ),
  reply: ApiKey,
  etag: true,
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
  operation: 'rotateApiKey',
  tag: 'API keys',
  summary: 'Gives an API key a new secret.',
  description: 'The new secret is shown in this answer only; 409 when the key is not active, or belongs to a mailbox.',
  as: 'team',
  permission: 'apikey.update',
  idempotent: true,
  secret: true,
  params,
  body: record(
    'ApiKeyRotate',
    'How the old secret ends.',
    {
      grace_seconds: Default(
        Type.Integer({
          minimum: 0,
          maximum: GRACE_SECONDS_MAX,
          description: 'Seconds the old secret goes on working.',
        }),
        0,
      ),
    },
    { grace_seconds: 3600 },
  ),
  bodyOptional: true,
  reply: NewApiKey,
  etag: true,
  async handle({ params: { key_id: id }, body, principal, app, request }) {
    const issued = await app.directory.keys.rotate(principal.teamId, id, body.grace_seconds, (current) => {
      requireOwn(principal, current)
      request.matches(presentKey(current))
    })
    return answer({ data: presentNewKey(issued), version: presentKey(issued.record) })
  },
})

const deleteKey = route({
  method: 'DELETE',
  path: '/api-keys/{key_id}',
  operation: 'deleteApiKey',
  tag: 'API keys',
  summary: 'Revokes an API key, at once and for ever.',
  as: 'team',
  permission: 'apikey.delete',
  params,
  reply: DeletedOf('key'),
  etag: true,
  async handle({ params: { key_id: id }, principal, app, request }) {
    await app.directory.keys.revoke(principal.teamId, id, (current) => {
      requireOwn(principal, current)
      request.matches(presentKey(current))
    })
    return { deleted: true, id }
  },
})

/** Keys of mailboxes are made and ended under their mailbox; a key cannot touch one that may do more than itself. */
function requireOwn(principal: TeamPrincipal, key: KeyRecord): void {
  if (key.kind === 'mailbox') {
    throw new ProductError(
      'conflict',
      'This key belongs to a mailbox: change it under /mailboxes/{mailbox_id}/api-keys.',
    )
  }
  requireSubset(principal, key.permissions)
}

/** @throws ProductError insufficient_permissions when a key gives, or touches, more than it may do itself */
export function requireSubset({ permissions }: TeamPrincipal, wanted: readonly string[]): void {
  const missing = wanted.find((one) => !isSubset([one], permissions))
  if (missing === undefined) return
  throw new ProductError('insufficient_permissions', `The permission ${missing} is missing.`)
}

export const apiKeys = [listKeys, createKey, readKey, updateKey, rotateKey, deleteKey]
