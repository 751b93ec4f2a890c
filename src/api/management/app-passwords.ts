// The app passwords and sign-ins of a mailbox, for its own credentials and for its team.

import { invalid, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { isSubset, MAILBOX_SCOPES } from '../../directory/names/permissions.ts'
import { createdBy, type MailboxPrincipal } from '../../directory/names/principal.ts'
import { answer, type Route, type RouteAccess, route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { openedByMailboxKey } from '../../people/opens.ts'
import { writableAccountOf } from '../rules/account.ts'
import { KeyStatus } from '../schemas/api-key.ts'
import {
  AppPasswordCreate,
  AppPasswordJson,
  AppPasswordUpdate,
  NewAppPassword,
  presentAppPassword,
  presentNewAppPassword,
  readAppPassword,
  readAppPasswordChange,
} from '../schemas/app-password.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import {
  ClientSettingsJson,
  presentClientSettings,
  presentSignIn,
  SignInJson,
  SignInOutcomeText,
  SignInProtocol,
} from '../schemas/sign-in.ts'
import { withNotices } from './credential-notices.ts'
import { mailboxMatch } from './mailbox-match.ts'
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

interface AppPasswordVariant extends RouteVariant {
  list: Access
  change: Access
  /** Of the sign-ins and the settings of mail programs. */
  read: Access
}

const OWN: AppPasswordVariant = {
  ...OWN_MAILBOX,
  list: { as: 'mailbox', permission: 'mailbox.read', gate: 'app_passwords' },
  change: { as: 'mailbox', permission: 'mailbox.write', gate: 'app_passwords' },
  read: { as: 'mailbox', permission: 'mailbox.read' },
}
const MANAGE: Access = { as: 'team', permission: 'mailbox.admin.manage' }
const TEAM: AppPasswordVariant = {
  ...{ ...TEAM_MAILBOX, list: MANAGE, change: MANAGE },
  read: { as: 'team', permission: 'mailbox.admin.read' },
}
const PATH = '/app-passwords'
const OF_ONE = { app_password_id: Id('appPassword') }
const TEAM_MATCH = '`If-Match` takes the ETag of the mailbox.'
const CREATION = {
  mailbox:
    'A secret for one mail program, shown in this response only. Its permissions must be among those of the key, and it does not ' +
    'outlive the expiry of the key. At most 25 active ones (409).',
  team:
    'A secret for one mail program, shown in this response only. At most 25 active ones for each mailbox (409); 403 for the inbox of ' +
    `an agent. ${TEAM_MATCH}`,
}

function listAppPasswords(variant: AppPasswordVariant): Route {
  return route({
    method: 'GET',
    path: variant.path + PATH,
    docs: {
      ...{ operation: `list${variant.infix}AppPasswords`, tag: variant.tag, description: 'Secrets are not included.' },
      summary: `List app passwords${variant.of}, newest first${variant.noAgents}`,
    },
    access: variant.list,
    params: paramsOf(variant, {}),
    query: pageQuery({ limit: MANAGEMENT_PAGE, status: KeyStatus }),
    reply: { schema: listOf(AppPasswordJson) },
    handle({ params, query: { status, limit }, after, principal, app }) {
      const { id } = appPasswordsIn(app, principal, params)
      const page = app.directory.appPasswords.list(id, { status, limit, after })
      return { items: page.items.map(presentAppPassword), next: page.next }
    },
  })
}

function createAppPassword(variant: AppPasswordVariant): Route {
  return route({
    method: 'POST',
    path: variant.path + PATH,
    docs: {
      ...{ operation: `create${variant.infix}AppPassword`, tag: variant.tag, description: CREATION[variant.as] },
      summary: `Create an app password${variant.of}${variant.noAgents}`,
    },
    access: { ...variant.change, fresh: true },
    idempotent: true,
    params: paramsOf(variant, {}),
    body: { schema: AppPasswordCreate },
    reply: { secret: true, schema: NewAppPassword, status: 201, etag: variant.isTeam },
    async handle({ params, body, principal, app, request }) {
      const mailbox = appPasswordsIn(app, principal, params)
      const input = readAppPassword(body, createdBy(principal))
      const { teamId, id, email } = mailbox
      const { appPasswords } = app.directory
      const issued =
        principal.kind === 'mailbox'
          ? await appPasswords.issue(teamId, id, withinKey(app, changing(app, principal), input))
          : await withNotices(app, principal, { mailboxId: id, what: 'An app password' }, () =>
              appPasswords.issue(teamId, id, input, mailboxMatch(app, id, request)),
            )
      request.opens(openedByMailboxKey(email, issued.record.permissions))
      const Location = `/api/v1${(variant.path + PATH).replace('{mailbox_id}', id)}/${issued.record.id}`
      return answer({ data: presentNewAppPassword(issued), headers: { Location } })
    },
  })
}

function updateAppPassword(variant: AppPasswordVariant): Route {
  return route({
    method: 'PATCH',
    path: `${variant.path}${PATH}/{app_password_id}`,
    docs: {
      ...{ operation: `update${variant.infix}AppPassword`, tag: variant.tag },
      summary: `Update an app password${variant.of}${variant.noAgents}`,
      description:
        'Its name and the end of its lifetime; the password itself is shown once, when it is created. 409 when it is not active.',
    },
    access: variant.change,
    params: paramsOf(variant, OF_ONE),
    body: { schema: AppPasswordUpdate },
    reply: { schema: AppPasswordJson },
    async handle({ params, body, principal, app }) {
      const mailbox = appPasswordsIn(app, principal, params)
      if (principal.kind === 'mailbox') changing(app, principal)
      const { appPasswords } = app.directory
      return presentAppPassword(
        await appPasswords.update(mailbox.id, params.app_password_id, readAppPasswordChange(body)),
      )
    },
  })
}

function deleteAppPassword(variant: AppPasswordVariant): Route {
  return route({
    method: 'DELETE',
    path: `${variant.path}${PATH}/{app_password_id}`,
    docs: {
      ...{ operation: `delete${variant.infix}AppPassword`, tag: variant.tag },
      summary: `Revoke an app password${variant.of}${variant.noAgents}`,
      description: `Its open connections end within 30 s; mail programs that use it are asked for another one.${variant.isTeam ? ` ${TEAM_MATCH}` : ''}`,
    },
    access: variant.change,
    params: paramsOf(variant, OF_ONE),
    reply: { schema: DeletedOf('appPassword'), etag: variant.isTeam },
    async handle({ params, principal, app, request }) {
      const { app_password_id: id } = params
      const mailbox = appPasswordsIn(app, principal, params)
      const { appPasswords, mailboxes } = app.directory
      const matches = variant.isTeam ? mailboxMatch(app, mailbox.id, request) : () => {}
      await appPasswords.revoke(mailbox.id, id, (tx) => matches(mailboxes.byId(mailbox.id, tx)!, tx))
      return { deleted: true, id }
    },
  })
}

function listSignIns(variant: AppPasswordVariant): Route {
  return route({
    method: 'GET',
    path: `${variant.path}/sign-ins`,
    docs: {
      ...{ operation: `list${variant.infix}SignIns`, tag: variant.tag },
      summary: `List sign-ins of mail programs${variant.of}, newest first`,
      description: 'Successful and failed ones of the last `SIGN_IN_RETENTION_DAYS`; at most 1,000.',
    },
    access: variant.read,
    params: paramsOf(variant, {}),
    query: pageQuery({ limit: MANAGEMENT_PAGE, outcome: SignInOutcomeText, protocol: SignInProtocol }),
    reply: { schema: listOf(SignInJson) },
    handle({ params, query: { outcome, protocol, limit }, after, principal, app }) {
      const { id } = mailboxIn(app, principal, params)
      const page = app.directory.signIns.list(id, { outcome, protocol, limit, after })
      return { items: page.items.map(presentSignIn), next: page.next }
    },
  })
}

function readClientSettings(variant: AppPasswordVariant): Route {
  return route({
    method: 'GET',
    path: `${variant.path}/client-settings`,
    docs: {
      ...{ operation: `get${variant.infix}ClientSettings`, tag: variant.tag },
      summary: `Get the settings${variant.of} for mail programs`,
      description: 'Servers, ports and user name for IMAP, SMTP and ManageSieve, as autoconfiguration announces them.',
    },
    access: variant.read,
    params: paramsOf(variant, {}),
    reply: { schema: ClientSettingsJson },
    handle: ({ params, principal, app }) => presentClientSettings(app.config, mailboxIn(app, principal, params).email),
  })
}

/** @throws ProductError not_found; insufficient_permissions for the inbox of an agent, whichever key of its own is used for it */
function appPasswordsIn(app: Context, principal: MailboxCaller, params: { mailbox_id?: string }): Mailbox {
  const mailbox = mailboxIn(app, principal, params)
  if (principal.kind === 'team' || !mailbox.isAgent) return mailbox
  throw new ProductError('insufficient_permissions', 'The inbox of an agent has no app passwords; it uses its tokens.')
}

/** @throws ProductError conflict while the mailbox is suspended, service_unavailable while it is being set up */
function changing(app: Context, principal: MailboxPrincipal): MailboxPrincipal {
  writableAccountOf(app, principal)
  return principal
}

/** Input that gives no more than the key has: its scopes, and its time. @throws ProductError validation_error */
function withinKey(
  app: Context,
  { teamId, keyId, permissions }: MailboxPrincipal,
  input: ReturnType<typeof readAppPassword>,
): ReturnType<typeof readAppPassword> {
  const wanted = input.permissions ?? permissions
  if (!isSubset(wanted, permissions)) {
    throw invalid('permissions', 'forbidden_value', 'An app password cannot have permissions the key does not have.')
  }
  const keyEnds = app.directory.keys.get(teamId, keyId)?.expiresAt ?? null
  if (keyEnds !== null && input.expiresAt !== null && input.expiresAt > keyEnds) {
    throw invalid('expires_at', 'too_big', 'An app password cannot expire later than the key it is created with.')
  }
  const scopes = MAILBOX_SCOPES.filter((scope) => wanted.includes(scope))
  return { ...input, permissions: scopes, expiresAt: input.expiresAt ?? keyEnds }
}

const ROUTES = [
  listAppPasswords,
  createAppPassword,
  updateAppPassword,
  deleteAppPassword,
  listSignIns,
  readClientSettings,
]

export const appPasswords = ROUTES.map((of) => of(OWN))
export const mailboxAppPasswords = ROUTES.map((of) => of(TEAM))
