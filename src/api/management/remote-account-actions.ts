// Actions on an outside account: pause, resume, sync, confirm a removal (docs/design/outside-accounts.md §3).

import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { type Route, type RouteLimits, route } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import type { RemoteAccount, RemovalSide } from '../../sync/model/records.ts'
import { record } from '../schemas/record.ts'
import { answerRemoteAccount, RemoteAccountJson, RemovalSideName, versionOf } from '../schemas/remote-account.ts'

const params = Type.Object({ remote_account_id: Id('remoteAccount') })
const SYNC_RATE = { times: 1, seconds: 10 }
/** Each is a sign-in at the server of others, which may lock the account. */
const RESUME_RATE = { times: 10, seconds: 60 }

type Check = (current: RemoteAccount) => void
type Act = (app: Context, teamId: string, id: string, check: Check) => Promise<RemoteAccount>
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
      const matches = (current: RemoteAccount) => request.matches(versionOf(current))
      return answerRemoteAccount(await act(app, principal.teamId, id, matches))
    },
  })
}

const RemovalDecision = record(
  'RemovalDecision',
  'Which removal is meant.',
  { at: Type.Optional(RemovalSideName) },
  { at: 'here' },
)

type Decide = (
  app: Context,
  teamId: string,
  id: string,
  at: RemovalSide | undefined,
  check: Check,
) => Promise<RemoteAccount>

/** A decision on a removal that is held back. */
function decision(verb: string, docs: ActionDocs, decide: Decide): Route {
  return route({
    method: 'POST',
    path: `/remote-accounts/{remote_account_id}/${verb}`,
    docs: { ...docs, tag: 'Outside accounts' },
    access: { as: 'team', permission: 'remote.manage' },
    params,
    body: { schema: RemovalDecision, optional: true },
    reply: { schema: RemoteAccountJson, etag: true },
    async handle({ params: { remote_account_id: id }, body, principal, app, request }) {
      const matches: Check = (current) => request.matches(versionOf(current))
      return answerRemoteAccount(await decide(app, principal.teamId, id, body?.at, matches))
    },
  })
}

const confirmRemoval = decision(
  'confirm-removal',
  {
    operation: 'confirmRemoteRemoval',
    summary: 'Let a held removal of many messages happen',
    description:
      'Many messages that vanish at the server within a day are kept here until this, or for 24 hours; those that are ' +
      'deleted here within a day are kept at the server until this. `held_removals` says what is held. 409 when nothing is, or when ' +
      'something is held on both sides and `at` is left out.',
  },
  (app, teamId, id, at, check) => app.sync.accounts.confirmRemoval(teamId, id, at, check),
)

const undoRemoval = decision(
  'undo-removal',
  {
    operation: 'cancelRemoteRemoval',
    summary: 'Keep the messages of a held removal, and put them back',
    description:
      'Messages that are gone at the server (`here`) are stored there again from the copies here, in the same folders. Messages that were ' +
      'deleted here (`server`) are fetched again, with new ids. 409 when nothing is held, or when something is held on both sides and ' +
      '`at` is left out.',
  },
  (app, teamId, id, at, check) => app.sync.accounts.undoRemoval(teamId, id, at, check),
)

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
    { throttle: RESUME_RATE },
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
  confirmRemoval,
  undoRemoval,
]
