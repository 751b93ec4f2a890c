// Sending accounts a mailbox can use.

import { type Static, Type } from 'typebox'
import { type Issue, ProductError } from '../../base/errors.ts'
import type { SendScope as KeptScope } from '../../directory/mailboxes/mailbox-input.ts'
import { Words } from '../../http/schema.ts'
import { record } from './record.ts'

const TYPES = ['all', 'providers', 'group'] as const
type IdMember = 'provider_public_ids' | 'group_public_ids'

// The list of ids that belongs to each type.
const MEMBER_OF: Readonly<Record<(typeof TYPES)[number], IdMember | null>> = {
  all: null,
  providers: 'provider_public_ids',
  group: 'group_public_ids',
}

export const SendScopeJson = record(
  'SendScope',
  'Sending accounts the mailbox can use: all of the team, named ones, or those of named delivery groups.',
  {
    type: Words(TYPES, 'Type of the scope.'),
    provider_public_ids: Type.Optional(
      Type.Array(Type.String({ pattern: '^dprov_[a-z0-9]{24}$' }), {
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
        description: 'Required with type `providers`, not allowed otherwise.',
      }),
    ),
    group_public_ids: Type.Optional(
      Type.Array(Type.String({ pattern: '^dgrp_[a-z0-9]{24}$' }), {
        minItems: 1,
        maxItems: 10,
        uniqueItems: true,
        description: 'Required with type `group`, not allowed otherwise.',
      }),
    ),
  },
  { type: 'all' },
)
export type SendScopeJson = Static<typeof SendScopeJson>

export function presentSendScope(scope: KeptScope): SendScopeJson {
  if (scope.type === 'providers') return { type: scope.type, provider_public_ids: [...scope.providerIds] }
  if (scope.type === 'group') return { type: scope.type, group_public_ids: [...scope.groupIds] }
  return { type: scope.type }
}

/** @throws ProductError validation_error when the list of the type is missing, or another one is present (docs/design/directory.md §6.1) */
export function readSendScope(scope: SendScopeJson): KeptScope {
  const issues: Issue[] = []
  for (const member of ['provider_public_ids', 'group_public_ids'] as const) {
    const wanted = MEMBER_OF[scope.type] === member
    if (wanted === (scope[member] !== undefined)) continue
    issues.push({
      field: `send_scope.${member}`,
      code: wanted ? 'required' : 'forbidden_value',
      message: wanted
        ? `A scope of this type needs ${member}.`
        : `A scope of this type has no ${member}. Leave it out.`,
    })
  }
  if (issues.length > 0) throw new ProductError('validation_error', issues[0]!.message, { issues })
  if (scope.type === 'providers') return { type: scope.type, providerIds: scope.provider_public_ids! }
  if (scope.type === 'group') return { type: scope.type, groupIds: scope.group_public_ids! }
  return { type: scope.type }
}
