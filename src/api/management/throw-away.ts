// The throw-away addresses of a mailbox, for its own credentials and for its team.

import type { Context } from '../../context.ts'
import { THROW_AWAY_MAX } from '../../directory/mailboxes/aliases-throw-away.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { answer, type Route, type RouteAccess, route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { writableAccountOf } from '../rules/account.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { presentThrowAway, ThrowAwayCreate, ThrowAwayJson, ThrowAwayUpdate } from '../schemas/throw-away.ts'
import { MANAGEMENT_PAGE } from './pages.ts'
import {
  type MailboxCaller,
  mailboxIn,
  OWN_MAILBOX,
  paramsOf,
  type RouteVariant,
  TEAM_MAILBOX,
} from './route-variants.ts'

type Access = RouteAccess<'mailbox' | 'team'>

interface ThrowAwayVariant extends RouteVariant {
  read: Access
  write: Access
}

const OWN: ThrowAwayVariant = {
  ...OWN_MAILBOX,
  read: { as: 'mailbox', permission: 'mailbox.read' },
  write: { as: 'mailbox', permission: 'mailbox.write' },
}
const TEAM: ThrowAwayVariant = {
  ...TEAM_MAILBOX,
  read: { as: 'team', permission: 'mailbox.admin.read' },
  write: { as: 'team', permission: 'mailbox.admin.manage' },
}
const PATH = '/throw-away-addresses'
const ONE = `${PATH}/{throw_away_address_id}`
const OF_ONE = { throw_away_address_id: Id('throwAwayAddress') }

function listAddresses(variant: ThrowAwayVariant): Route {
  return route({
    method: 'GET',
    path: variant.path + PATH,
    docs: {
      ...{ operation: `list${variant.infix}ThrowAwayAddresses`, tag: variant.tag },
      summary: `List the throw-away addresses${variant.of}, newest first`,
      description: 'Paused ones too. Those that ended are among the retired addresses of the domain.',
    },
    access: variant.read,
    params: paramsOf(variant, {}),
    query: pageQuery({ limit: MANAGEMENT_PAGE }),
    reply: { schema: listOf(ThrowAwayJson) },
    handle({ params, query: { limit }, after, principal, app }) {
      const page = app.directory.throwAway.list(mailboxIn(app, principal, params).id, { limit, after })
      return { items: page.items.map(presentThrowAway), next: page.next }
    },
  })
}

function createAddress(variant: ThrowAwayVariant): Route {
  return route({
    method: 'POST',
    path: variant.path + PATH,
    docs: {
      ...{ operation: `create${variant.infix}ThrowAwayAddress`, tag: variant.tag },
      summary: `Make a throw-away address${variant.of}${variant.noAgents}`,
      description:
        'At the domain of the mailbox, for one correspondent: when unwanted mail comes, its address says who passed it on, and ending it ends ' +
        `that mail alone. It receives at once, and the mailbox may write as it. At most ${THROW_AWAY_MAX} for each mailbox. No automatic reply ` +
        'is sent from it, and it is no sign-in name.',
    },
    access: variant.write,
    idempotent: true,
    params: paramsOf(variant, {}),
    body: { schema: ThrowAwayCreate },
    reply: { schema: ThrowAwayJson, status: 201 },
    async handle({ params, body, principal, app }) {
      const { id, teamId } = changeableIn(app, principal, params)
      const made = await app.administration.mailboxes.addThrowAway(teamId, id, body.made_for)
      const Location = `/api/v1${(variant.path + PATH).replace('{mailbox_id}', id)}/${made.id}`
      return answer({ data: presentThrowAway(made), headers: { Location } })
    },
  })
}

function readAddress(variant: ThrowAwayVariant): Route {
  return route({
    method: 'GET',
    path: variant.path + ONE,
    docs: {
      ...{ operation: `get${variant.infix}ThrowAwayAddress`, tag: variant.tag },
      summary: `Get a throw-away address${variant.of}`,
      description: 'With what it was made for, and whether it is paused.',
    },
    access: variant.read,
    params: paramsOf(variant, OF_ONE),
    reply: { schema: ThrowAwayJson },
    handle({ params, principal, app }) {
      const { id } = mailboxIn(app, principal, params)
      return presentThrowAway(app.directory.throwAway.get(id, params.throw_away_address_id))
    },
  })
}

function updateAddress(variant: ThrowAwayVariant): Route {
  return route({
    method: 'PATCH',
    path: variant.path + ONE,
    docs: {
      ...{ operation: `update${variant.infix}ThrowAwayAddress`, tag: variant.tag },
      summary: `Pause a throw-away address${variant.of}, or say what it is for`,
      description: 'A paused address refuses mail, and stays with the mailbox.',
    },
    access: variant.write,
    params: paramsOf(variant, OF_ONE),
    body: { schema: ThrowAwayUpdate },
    reply: { schema: ThrowAwayJson },
    async handle({ params, body, principal, app }) {
      const { id } = changeableIn(app, principal, params)
      const change = { madeFor: body.made_for, isPaused: body.paused }
      return presentThrowAway(
        await app.administration.mailboxes.changeThrowAway(id, params.throw_away_address_id, change),
      )
    },
  })
}

function deleteAddress(variant: ThrowAwayVariant): Route {
  return route({
    method: 'DELETE',
    path: variant.path + ONE,
    docs: {
      ...{ operation: `delete${variant.infix}ThrowAwayAddress`, tag: variant.tag },
      summary: `End a throw-away address${variant.of}: mail to it is refused from then on`,
      description: 'Messages that it has received stay. No pattern of the domain matches it.',
    },
    access: variant.write,
    params: paramsOf(variant, OF_ONE),
    reply: { schema: DeletedOf('throwAwayAddress') },
    async handle({ params, principal, app }) {
      const { throw_away_address_id: id } = params
      const mailbox = changeableIn(app, principal, params)
      await app.administration.mailboxes.endThrowAway(mailbox.teamId, mailbox.id, id)
      return { deleted: true, id }
    },
  })
}

/** With the credentials of the mailbox only while it can be changed. @throws ProductError not_found, conflict (suspended) */
function changeableIn(app: Context, principal: MailboxCaller, params: { mailbox_id?: string }): Mailbox {
  if (principal.kind === 'mailbox') writableAccountOf(app, principal)
  return mailboxIn(app, principal, params)
}

const ROUTES = [listAddresses, createAddress, readAddress, updateAddress, deleteAddress]

export const throwAway = ROUTES.map((of) => of(OWN))
export const mailboxThrowAway = ROUTES.map((of) => of(TEAM))
