// The forwards of a mailbox, for its own credentials and for its team. Forwarding sends: with a credential of the mailbox it needs the
// permission to send beside that to change.

import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { createdBy } from '../../directory/names/principal.ts'
import { answer, type Route, type RouteAccess, route } from '../../http/route.ts'
import { Id, listOf } from '../../http/schema.ts'
import { openedByForward } from '../../people/opens.ts'
import { writableAccountOf } from '../rules/account.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { ForwardCreate, ForwardJson, ForwardUpdate, presentForwardState } from '../schemas/forward.ts'
import { withNotices } from './credential-notices.ts'
import { MAKERS, makersFor } from './makers.ts'
import {
  type MailboxCaller,
  mailboxIn,
  OWN_MAILBOX,
  paramsOf,
  type RouteVariant,
  TEAM_MAILBOX,
} from './route-variants.ts'

type Access = RouteAccess<'mailbox' | 'team'>

interface ForwardVariant extends RouteVariant {
  read: Access
  /** Makes it forward. */
  send: Access
  end: Access
}

const OWN_WRITE: Access = { as: 'mailbox', permission: 'mailbox.write', gate: 'forwarding' }
const OWN: ForwardVariant = {
  ...OWN_MAILBOX,
  read: { as: 'mailbox', permission: 'mailbox.read', gate: 'forwarding' },
  send: { ...OWN_WRITE, alsoNeeds: 'email.send' },
  end: OWN_WRITE,
}
const MANAGE: Access = { as: 'team', permission: 'mailbox.admin.manage' }
const TEAM: ForwardVariant = {
  ...{ ...TEAM_MAILBOX, send: MANAGE, end: MANAGE },
  read: { as: 'team', permission: 'mailbox.admin.read' },
}
const PATH = '/forwards'
const ONE = `${PATH}/{forward_id}`
const OF_ONE = { forward_id: Id('forward') }

function listForwards(variant: ForwardVariant): Route {
  return route({
    method: 'GET',
    path: variant.path + PATH,
    docs: {
      ...{ operation: `list${variant.infix}Forwards`, tag: variant.tag },
      summary: `List the forwards${variant.of}, newest first${variant.noAgents}`,
      description: `Messages are forwarded once the recipient has confirmed.${variant.isTeam ? ` ${MAKERS}` : ''}`,
    },
    access: variant.read,
    params: paramsOf(variant, {}),
    reply: { list: 'whole', schema: listOf(ForwardJson) },
    handle({ params, principal, app }) {
      const states = app.administration.forwards.list(forwardingIn(app, principal, params))
      const items = states.map(presentForwardState)
      if (principal.kind === 'mailbox') return { items, next: null }
      const made = states.map(({ forward }) => forward)
      return { items, next: null, meta: { makers: makersFor(app, principal, made) } }
    },
  })
}

function createForward(variant: ForwardVariant): Route {
  return route({
    method: 'POST',
    path: variant.path + PATH,
    docs: {
      ...{ operation: `create${variant.infix}Forward`, tag: variant.tag },
      summary: `Forward the mail ${variant.isTeam ? 'of a mailbox or alias' : 'of the mailbox, or of one of its aliases,'} to another address`,
      description:
        'Sends a message to the address; forwarding begins when its owner confirms on the page it links to, within 7 days. ' +
        `${variant.isTeam ? '' : 'It does not end with the key. 403 for agents, '}409 when the address is suppressed, its owner has ` +
        'refused, it is pending or active already, or the mailbox has ten. 429 after three such messages to an address in a day.',
    },
    access: { ...variant.send, fresh: true },
    idempotent: true,
    params: paramsOf(variant, {}),
    body: { schema: ForwardCreate },
    reply: { schema: ForwardJson, status: 201 },
    async handle({ params, body, principal, app, request }) {
      const { id, teamId, email } = changeableIn(app, principal, params)
      const { to, alias, keep_copy: keepsCopy } = body
      const input = { to, alias, keepsCopy, createdBy: createdBy(principal) }
      const ask = () => app.administration.forwards.request(teamId, id, input)
      const what = `A forward to ${to}`
      const made = await (principal.kind === 'mailbox'
        ? ask()
        : withNotices(app, principal, { mailboxId: id, what }, ask))
      const data = presentForwardState(made)
      request.opens(openedByForward(data.alias ?? email, data.to))
      const Location = `/api/v1${(variant.path + PATH).replace('{mailbox_id}', id)}/${data.id}`
      return answer({ data, headers: { Location } })
    },
  })
}

function readForward(variant: ForwardVariant): Route {
  return route({
    method: 'GET',
    path: variant.path + ONE,
    docs: {
      ...{ operation: `get${variant.infix}Forward`, tag: variant.tag },
      summary: `Get a forward${variant.of}${variant.noAgents}`,
      description: 'With its state, and until when an unconfirmed one waits.',
    },
    access: variant.read,
    params: paramsOf(variant, OF_ONE),
    reply: { schema: ForwardJson },
    handle({ params, principal, app }) {
      const mailbox = forwardingIn(app, principal, params)
      return presentForwardState(app.administration.forwards.get(mailbox, params.forward_id))
    },
  })
}

function updateForward(variant: ForwardVariant): Route {
  return route({
    method: 'PATCH',
    path: variant.path + ONE,
    docs: {
      ...{ operation: `update${variant.infix}Forward`, tag: variant.tag },
      summary: `Change whether a forward${variant.of} keeps a copy${variant.noAgents}`,
      description: 'Without a copy the mailbox keeps only what cannot be forwarded, such as spam.',
    },
    access: variant.send,
    params: paramsOf(variant, OF_ONE),
    body: { schema: ForwardUpdate },
    reply: { schema: ForwardJson },
    async handle({ params, body, principal, app }) {
      const mailbox = changeableIn(app, principal, params)
      await app.directory.forwards.update(mailbox.id, params.forward_id, { keepsCopy: body.keep_copy })
      return presentForwardState(app.administration.forwards.get(mailbox, params.forward_id))
    },
  })
}

function resendForward(variant: ForwardVariant): Route {
  return route({
    method: 'POST',
    path: `${variant.path}${ONE}/resend`,
    docs: {
      ...{ operation: `send${variant.infix}ForwardConfirmation`, tag: variant.tag },
      summary: `Ask the receiver of a forward${variant.of} again, with a new link${variant.noAgents}`,
      description: '409 unless it is pending or expired; 429 after three messages to the address in a day.',
    },
    access: { ...variant.send, fresh: true },
    params: paramsOf(variant, OF_ONE),
    reply: { schema: ForwardJson },
    async handle({ params, principal, app }) {
      const { id, teamId } = changeableIn(app, principal, params)
      return presentForwardState(await app.administration.forwards.resend(teamId, id, params.forward_id))
    },
  })
}

function deleteForward(variant: ForwardVariant): Route {
  return route({
    method: 'DELETE',
    path: variant.path + ONE,
    docs: {
      ...{ operation: `delete${variant.infix}Forward`, tag: variant.tag },
      summary: `End a forward${variant.of} immediately${variant.noAgents}`,
      description: 'Messages that are queued for the address are still sent.',
    },
    access: variant.end,
    params: paramsOf(variant, OF_ONE),
    reply: { schema: DeletedOf('forward') },
    async handle({ params, principal, app }) {
      const { forward_id: id } = params
      await app.administration.forwards.remove(forwardingIn(app, principal, params).id, id)
      return { deleted: true, id }
    },
  })
}

/** @throws ProductError not_found; insufficient_permissions for the inbox of an agent, whichever key of its own is used for it */
function forwardingIn(app: Context, principal: MailboxCaller, params: { mailbox_id?: string }): Mailbox {
  const mailbox = mailboxIn(app, principal, params)
  if (principal.kind === 'team' || !mailbox.isAgent) return mailbox
  throw new ProductError('insufficient_permissions', 'The inbox of an agent forwards nothing.')
}

/** The same, with the credentials of the mailbox only while it can be changed. @throws ProductError conflict (suspended) */
function changeableIn(app: Context, principal: MailboxCaller, params: { mailbox_id?: string }): Mailbox {
  const mailbox = forwardingIn(app, principal, params)
  if (principal.kind === 'mailbox') writableAccountOf(app, principal)
  return mailbox
}

const ROUTES = [listForwards, createForward, readForward, updateForward, resendForward, deleteForward]

export const forwards = ROUTES.map((of) => of(OWN))
export const mailboxForwards = ROUTES.map((of) => of(TEAM))
