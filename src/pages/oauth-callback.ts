// The OAuth redirect endpoint for Google and Microsoft when a person connects a sending account (docs/design/sending.md §1) or an outside one.

import { Type } from 'typebox'
import { ProductError } from '../base/errors.ts'
import type { Context } from '../context.ts'
import { allows } from '../directory/names/permissions.ts'
import { type PageAnswer, type RequestFacts, type Route, route } from '../http/route.ts'
import { Words } from '../http/schema.ts'
import { CONNECTED_TYPES } from '../outbound/model/connected-services.ts'
import type {
  BegunConnection,
  ConnectedType,
  OAuth,
  OAuthBrowser,
  OAuthCallbackResult,
} from '../outbound/providers/oauth.ts'
import { STATES_EACH } from '../outbound/providers/states.ts'
import { MEMBER_PERMISSIONS } from '../people/members.ts'
import { openedByAccount } from '../people/opens.ts'
import type { SignInSession } from '../people/sessions.ts'
import { htmlPage, onwardPage, type PageContent } from './html.ts'
import { askToConfirm } from './oauth-confirmation.ts'
import { PAGE_ROUTE, requireFormToken, sessionOf } from './site.ts'

const AGAIN = 'To try again, start the connection again from where you came.'
const NOTHING_CHANGED = 'Nothing has been changed.'
const INTERNAL_ERROR = 'Something went wrong on our side.'

const params = Type.Object({ type: Words(CONNECTED_TYPES) })

const oauthCallback = route({
  method: 'GET',
  path: '/oauth/callback/{type}',
  root: true,
  docs: {
    hidden: true,
    operation: 'showOauthCallback',
    tag: 'Pages',
    summary: 'Completes the connection of an account.',
  },
  access: { as: 'none' },
  params,
  query: Type.Object({
    state: Type.Optional(Type.String()),
    code: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  }),
  reply: { types: ['text/html'], schema: Type.Unknown() },
  async handle({ params: { type }, query, request, app }) {
    const begun = app.outbound.accounts.oauth.toConfirm(type, query, browserOf(app, request))
    return begun === null ? complete(app, type, query, request) : askToConfirm(app, begun, query)
  },
})

const confirmConnection = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/oauth/callback/{type}/confirm',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'confirmOauthConnection',
    summary: 'Connects an account that a link asked for.',
  },
  params,
  body: {
    form: true,
    schema: Type.Object({
      csrf: Type.String({ maxLength: 100 }),
      state: Type.String({ maxLength: 200 }),
      code: Type.String({ maxLength: 10_000 }),
    }),
  },
  async handle({ params: { type }, body: { csrf, state, code }, request, app }) {
    requireFormToken(app, state, csrf)
    return complete(app, type, { state, code }, request)
  },
})

export const oauthCallbackPages: readonly Route[] = [oauthCallback, confirmConnection]

type Connected = Extract<OAuthCallbackResult, { kind: 'connected' }>
type ForMail = Extract<OAuthCallbackResult, { kind: 'mail' }>
type Query = Parameters<OAuth['callback']>[1]

async function complete(app: Context, type: ConnectedType, query: Query, request: RequestFacts): Promise<PageAnswer> {
  const outcome = await completeConnection(app, type, query, request)
  if (outcome.kind === 'mail') return attach(app, outcome, request)
  if (outcome.kind === 'connected') {
    const { provider, createdBy } = outcome
    const target = { type: 'provider', id: provider.id, label: provider.oauthEmail }
    const opens = openedByAccount(null)
    const connection = { teamId: provider.teamId, createdBy, action: 'connectProvider', target, opens }
    await noteConnection(app, connection, request)
  }
  return pageOf(outcome)
}

function browserOf(app: Context, request: RequestFacts): OAuthBrowser {
  const session = sessionOf(app, request)
  return { sessionId: session?.id ?? null, mayConnect: (begun) => mayConnect(app, begun, session) }
}

/** What was begun ends with the key or the role that began it, and while its team is suspended. */
function mayConnect(
  app: Context,
  { teamId, createdBy, sessionId, mail }: BegunConnection,
  session: SignInSession | undefined,
): boolean {
  if (app.directory.teams.get(teamId)?.status !== 'active') return false
  const needed = mail === null ? 'provider.create' : 'remote.create'
  if (sessionId !== null) {
    const member = session && app.people.membershipsOf(session).find((one) => one.teamId === teamId)
    return member !== undefined && allows(MEMBER_PERMISSIONS[member.role], needed)
  }
  if (createdBy === 'operator') return true
  const key = app.directory.keys.get(teamId, createdBy)
  return key?.status === 'active' && allows(key.permissions, needed)
}

/** Calls the OAuth callback; an internal failure becomes a page as well. */
async function completeConnection(
  app: Context,
  type: ConnectedType,
  query: Query,
  request: RequestFacts,
): Promise<OAuthCallbackResult> {
  try {
    return await app.outbound.accounts.oauth.callback(type, query, browserOf(app, request))
  } catch (error) {
    logFailure(app, request, error)
    return { kind: 'failed', reason: INTERNAL_ERROR, redirectAfter: null }
  }
}

interface Connection {
  teamId: string
  createdBy: string
  action: string
  target: { type: string; id: string; label: string | null }
  opens?: string
}

/** The redirect is a GET, which the audit log leaves out otherwise. */
async function noteConnection(app: Context, connection: Connection, request: RequestFacts): Promise<void> {
  const { teamId, createdBy, action, target, opens } = connection
  const isKey = createdBy.startsWith('key_')
  const known = isKey
    ? app.directory.keys.get(teamId, createdBy)?.name
    : app.people.members.get(teamId, createdBy)?.email
  const actor = { kind: isKey ? ('key' as const) : ('person' as const), id: createdBy, label: known ?? createdBy }
  await app.people.audit.record({ teamId, actor, action, target, opens, source: request.source, requestId: request.id })
}

/** Attaches the outside account of a consent. */
async function attach(
  app: Context,
  { consent, redirectAfter, createdBy }: ForMail,
  request: RequestFacts,
): Promise<PageAnswer> {
  const { teamId, email } = consent
  try {
    const { id } = await app.administration.outsideAccounts.connect(consent)
    const target = { type: 'remote_account', id, label: email }
    await noteConnection(app, { teamId, createdBy, action: 'connectRemoteAccount', target }, request)
  } catch (error) {
    if (!(error instanceof ProductError)) logFailure(app, request, error)
    const reason = error instanceof ProductError ? error.message : INTERNAL_ERROR
    return pageOf({ kind: 'failed', reason, redirectAfter })
  }
  const content = returnPath({ redirectAfter }, 'The account is connected', [
    `The mail of ${email} is read as soon as the first sign-in has succeeded.`,
    'You can close this page.',
  ])
  return redirectAfter === null ? htmlPage(content) : onwardPage(content, redirectAfter)
}

function logFailure(app: Context, request: RequestFacts, error: unknown): void {
  const about = { event: 'oauth.callback_failed', err: error, request_id: request.id }
  app.log.error(about, 'Account could not be connected')
}

function pageOf(outcome: Exclude<OAuthCallbackResult, { kind: 'mail' }>): PageAnswer {
  switch (outcome.kind) {
    case 'connected':
      return connected(outcome)
    case 'denied':
      return htmlPage(
        returnPath(outcome, 'The account was not connected', ['You declined the request.', NOTHING_CHANGED, AGAIN]),
      )
    case 'incomplete': {
      const texts = [
        'Not every permission was given. Mailstead needs all of them to send mail and to find sent messages after a lost connection.',
        'To try again, start the connection again from where you came and leave all boxes ticked.',
      ]
      return htmlPage(returnPath(outcome, 'A permission is missing', texts))
    }
    case 'failed':
      return htmlPage(
        returnPath(outcome, 'The account could not be connected', [outcome.reason, NOTHING_CHANGED, AGAIN]),
        502,
      )
    case 'expired':
      return htmlPage({ title: 'This link has expired', texts: ['It is valid for ten minutes.', AGAIN] }, 410)
    case 'used': {
      const only = `It works once, and only the newest ${STATES_EACH} that you begin do.`
      const texts = [only, 'If the account is in your list, it is connected.', AGAIN]
      return htmlPage({ title: 'This link was already used', texts }, 410)
    }
    case 'other_session': {
      const texts = ['Open it in the browser in which you began, where you are signed in.', NOTHING_CHANGED, AGAIN]
      return htmlPage({ title: 'This was begun in another browser', texts }, 403)
    }
    case 'not_allowed': {
      const texts = [
        'The role or the key with which this was begun may no longer connect accounts of the team, or the team is suspended.',
        NOTHING_CHANGED,
      ]
      return htmlPage({ title: 'The account was not connected', texts }, 403)
    }
    case 'unknown':
      return htmlPage({ title: 'Invalid link', texts: ['This appliance did not create it.', AGAIN] }, 400)
  }
}

function connected(outcome: Connected): PageAnswer {
  const { provider, redirectAfter } = outcome
  const content = returnPath(outcome, 'The account is connected', [
    `${provider.oauthEmail} can be sent from as "${provider.name}" as soon as the connection has been checked.`,
    'You can close this page.',
  ])
  return redirectAfter === null ? htmlPage(content) : onwardPage(content, redirectAfter)
}

function returnPath({ redirectAfter }: { redirectAfter: string | null }, title: string, texts: string[]): PageContent {
  return { title, texts, link: redirectAfter === null ? null : { href: redirectAfter, text: 'Continue' } }
}
