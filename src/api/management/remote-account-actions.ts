// Actions on an outside account: pause, resume, sync, confirm a removal (decisions-imap §10.3).

import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { type Route, type RouteLimits, route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import type { RemoteAccount } from '../../sync/records.ts'
import { presentRemoteAccount, RemoteAccountJson } from '../schemas/remote-account.ts'

const params = Type.Object({ remote_account_id: Id('remoteAccount') })
const SYNC_RATE = { times: 1, seconds: 10 }

type Act = (app: Context, teamId: string, id: string, check: (current: RemoteAccount) => void) => Promise<RemoteAccount>
interface ActionDocs {
  operation: string
  summary: string
  description: string
}

function action(verb: string, docs: ActionDocs, act: Act, limits?: RouteLimits): Route {
  return route({
    method: 'POST',
    path: `/remote-accounts/{remote_account_id}/${verb}`,
    docs: { ...docs, tag: 'Outside accounts' },
    access: { as: 'team', permission: 'remote.manage' },
    params,
    ...(limits === undefined ? {} : { limits }),
    reply: { schema: RemoteAccountJson, etag: true },
    async handle({ params: { remote_account_id: id }, principal, app, request }) {
      const matches = (current: RemoteAccount) => request.matches(presentRemoteAccount(current))
      return presentRemoteAccount(await act(app, principal.teamId, id, matches))
    },
  })
}

export const remoteAccountActions = [
  action(
    'pause',
    {
      operation: 'pauseRemoteAccount',
      summary: 'Stop following an outside account',
      description:
        'Its connection ends. Changes made here are kept, and carried out after it is resumed. 409 when it is paused.',
    },
    (app, teamId, id, check) => app.sync.accounts.pause(teamId, id, check),
  ),
  action(
    'resume',
    {
      operation: 'resumeRemoteAccount',
      summary: 'Sign in to an outside account again',
      description: '409 unless it is paused or in error.',
    },
    (app, teamId, id, check) => app.sync.accounts.resume(teamId, id, check),
  ),
  action(
    'sync',
    {
      operation: 'syncRemoteAccount',
      summary: 'Compare both sides now',
      description:
        'Returns at once; `last_synced_at` changes when it is done. Once in 10 seconds. 409 while it is paused or in error.',
    },
    (app, teamId, id, check) => app.sync.accounts.sync(teamId, id, check),
    { throttle: SYNC_RATE },
  ),
  action(
    'confirm-removal',
    {
      operation: 'confirmRemoteRemoval',
      summary: 'Let a held removal of many messages happen here',
      description:
        'More than 1,000 messages that vanish at the other side at once are kept here until this, or for 24 hours. 409 when none is held.',
    },
    (app, teamId, id, check) => app.sync.accounts.confirmRemoval(teamId, id, check),
  ),
]
