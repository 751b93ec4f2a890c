// What a team uses, and its limits.

import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { PER_TEAM_MAX } from '../../events/webhooks/subscriptions.ts'
import { route } from '../../http/route.ts'
import { Nullable, Words } from '../../http/schema.ts'
import { ACCOUNTS_PER_TEAM_MAX } from '../../sync/accounts/accounts.ts'
import { usedBytesOf } from '../rules/usage.ts'
import { record } from '../schemas/record.ts'

const RESOURCES = [
  'domains',
  'mailboxes',
  'members',
  'api_keys',
  'providers',
  'remote_accounts',
  'webhooks',
  'requests_per_minute',
] as const

const readUsage = route({
  method: 'GET',
  path: '/team/usage',
  docs: {
    operation: 'getTeamUsage',
    tag: 'Team',
    summary: 'Get what the team uses of each limit',
    description: 'The limit of the shared Amazon SES account: `GET /providers/shared-amazon-ses-limit-request`.',
  },
  access: { as: 'team', permission: 'team.read' },
  reply: {
    schema: record('TeamUsage', 'Use and limits.', {
      limits: Type.Array(
        record('TeamLimit', 'One limit.', {
          resource: Words(RESOURCES),
          used: Nullable(Type.Integer({ minimum: 0, description: 'Null where it is counted for each key.' })),
          most: Nullable(Type.Integer({ minimum: 0, description: 'Null without a limit.' })),
        }),
      ),
      storage: record('TeamStorage', 'What the mailboxes of the team take together.', {
        used_bytes: Nullable(Type.Integer({ minimum: 0, description: 'Null while the store cannot be read.' })),
        quota_bytes: Type.Integer({ minimum: 0, description: 'The sum of their quotas.' }),
      }),
    }),
  },
  handle({ principal: { teamId }, app }) {
    return { limits: limitsOf(app, teamId), storage: storageOf(app, teamId) }
  },
})

function storageOf(app: Context, teamId: string) {
  const quotas = app.directory.mailboxes.quotas(teamId)
  const quota = [...quotas.values()].reduce((sum, bytes) => sum + bytes, 0)
  return { used_bytes: usedBytesOf(app, quotas.keys()), quota_bytes: quota }
}

function limitsOf({ directory, people, outbound, sync, eventDispatch, config }: Context, teamId: string) {
  const used = (resource: (typeof RESOURCES)[number], count: number | null, most: number | null = null) => ({
    ...{ resource, used: count, most },
  })
  return [
    used('domains', directory.domains.count(teamId)),
    used('mailboxes', directory.mailboxes.count(teamId)),
    used('members', people.members.count(teamId)),
    used('api_keys', directory.keys.count(teamId)),
    used('providers', outbound.accounts.providers.count(teamId)),
    used('remote_accounts', sync.accounts.count(teamId), ACCOUNTS_PER_TEAM_MAX),
    used('webhooks', eventDispatch.webhooks.count(teamId), PER_TEAM_MAX),
    used('requests_per_minute', null, config.RATE_LIMIT_PER_MINUTE),
  ]
}

export const usage = [readUsage]
