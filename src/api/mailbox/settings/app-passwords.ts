// The app passwords and sign-ins of a mailbox, for its own credentials.

import { Type } from 'typebox'
import { invalid, notFound, ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { isSubset, MAILBOX_SCOPES } from '../../../directory/names/permissions.ts'
import { createdBy, type MailboxPrincipal } from '../../../directory/names/principal.ts'
import { answer, route } from '../../../http/route.ts'
import { Id, listOf, pageQuery } from '../../../http/schema.ts'
import { openedByMailboxKey } from '../../../people/opens.ts'
import { writableAccountOf } from '../../rules/account.ts'
import { KeyStatus } from '../../schemas/api-key.ts'
import {
  AppPasswordCreate,
  AppPasswordJson,
  AppPasswordUpdate,
  NewAppPassword,
  presentAppPassword,
  presentNewAppPassword,
  readAppPassword,
  readAppPasswordChange,
} from '../../schemas/app-password.ts'
import { DeletedOf } from '../../schemas/deleted.ts'
import {
  ClientSettingsJson,
  presentClientSettings,
  presentSignIn,
  SignInJson,
  SignInOutcomeText,
  SignInProtocol,
} from '../../schemas/sign-in.ts'

const PAGE = 50
const params = Type.Object({ app_password_id: Id('appPassword') })
const READ = { as: 'mailbox', permission: 'mailbox.read' } as const
const WRITE = { as: 'mailbox', permission: 'mailbox.write' } as const
const PATH = '/mailbox/app-passwords'

const listAppPasswords = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'listAppPasswords',
    tag: 'Mailbox',
    summary: 'List app passwords, newest first; 403 for agents',
    description: 'Secrets are not included.',
  },
  access: { ...READ, gate: 'app_passwords' },
  query: pageQuery({ limit: PAGE, status: KeyStatus }),
  reply: { schema: listOf(AppPasswordJson) },
  handle({ query: { status, limit }, after, principal, app }) {
    refuseAgent(app, principal)
    const page = app.directory.appPasswords.list(principal.mailboxId, { status, limit, after })
    return { items: page.items.map(presentAppPassword), next: page.next }
  },
})

const createAppPassword = route({
  method: 'POST',
  path: PATH,
  docs: {
    operation: 'createAppPassword',
    tag: 'Mailbox',
    summary: 'Create an app password; 403 for agents',
    description:
      'A secret for one mail program, shown in this response only. Its permissions must be among those of the key, and it does not ' +
      'outlive the expiry of the key. At most 25 active ones (409).',
  },
  access: { ...WRITE, fresh: true, gate: 'app_passwords' },
  idempotent: true,
  body: { schema: AppPasswordCreate },
  reply: { secret: true, schema: NewAppPassword, status: 201 },
  async handle({ body, principal, app, request }) {
    refuseAgent(app, principal)
    writableAccountOf(app, principal)
    const input = withinKey(app, principal, readAppPassword(body, createdBy(principal)))
    const issued = await app.directory.appPasswords.issue(principal.teamId, principal.mailboxId, input)
    const { email } = app.directory.mailboxes.byId(principal.mailboxId)!
    request.opens(openedByMailboxKey(email, issued.record.permissions))
    const Location = `/api/v1${PATH}/${issued.record.id}`
    return answer({ data: presentNewAppPassword(issued), headers: { Location } })
  },
})

const updateAppPassword = route({
  method: 'PATCH',
  path: `${PATH}/{app_password_id}`,
  docs: {
    operation: 'updateAppPassword',
    tag: 'Mailbox',
    summary: 'Update an app password; 409 when it is not active, 403 for agents',
    description: 'Its name and the end of its lifetime; the password itself is shown once, when it is created.',
  },
  access: { ...WRITE, gate: 'app_passwords' },
  params,
  body: { schema: AppPasswordUpdate },
  reply: { schema: AppPasswordJson },
  async handle({ params: { app_password_id: id }, body, principal, app }) {
    refuseAgent(app, principal)
    writableAccountOf(app, principal)
    const change = readAppPasswordChange(body)
    return presentAppPassword(await app.directory.appPasswords.update(principal.mailboxId, id, change))
  },
})

const deleteAppPassword = route({
  method: 'DELETE',
  path: `${PATH}/{app_password_id}`,
  docs: {
    operation: 'deleteAppPassword',
    tag: 'Mailbox',
    summary: 'Revoke an app password; its open connections end within 30 s. 403 for agents',
    description: 'Mail programs that use it are asked for another one.',
  },
  access: { ...WRITE, gate: 'app_passwords' },
  params,
  reply: { schema: DeletedOf('appPassword') },
  async handle({ params: { app_password_id: id }, principal, app }) {
    refuseAgent(app, principal)
    await app.directory.appPasswords.revoke(principal.mailboxId, id)
    return { deleted: true, id }
  },
})

const listSignIns = route({
  method: 'GET',
  path: '/mailbox/sign-ins',
  docs: {
    operation: 'listSignIns',
    tag: 'Mailbox',
    summary: 'List sign-ins of mail programs, newest first',
    description: 'Successful and failed ones of the last `SIGN_IN_RETENTION_DAYS`; at most 1,000.',
  },
  access: READ,
  query: pageQuery({ limit: PAGE, outcome: SignInOutcomeText, protocol: SignInProtocol }),
  reply: { schema: listOf(SignInJson) },
  handle({ query: { outcome, protocol, limit }, after, principal, app }) {
    const page = app.directory.signIns.list(principal.mailboxId, { outcome, protocol, limit, after })
    return { items: page.items.map(presentSignIn), next: page.next }
  },
})

const readClientSettings = route({
  method: 'GET',
  path: '/mailbox/client-settings',
  docs: {
    operation: 'getClientSettings',
    tag: 'Mailbox',
    summary: 'Get what to enter in a mail program',
    description: 'Servers, ports and user name for IMAP, SMTP and ManageSieve, as autoconfiguration announces them.',
  },
  access: READ,
  reply: { schema: ClientSettingsJson },
  handle({ principal, app }) {
    const mailbox = app.directory.mailboxes.byId(principal.mailboxId)
    if (mailbox === undefined) throw notFound('mailbox')
    return presentClientSettings(app.config, mailbox.email)
  },
})

/** @throws ProductError insufficient_permissions for the inbox of an agent, whichever key is used for it */
function refuseAgent(app: Context, principal: MailboxPrincipal): void {
  if (app.directory.mailboxes.byId(principal.mailboxId)?.isAgent !== true) return
  throw new ProductError('insufficient_permissions', 'The inbox of an agent has no app passwords; it uses its tokens.')
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

export const appPasswords = [
  listAppPasswords,
  createAppPassword,
  updateAppPassword,
  deleteAppPassword,
  listSignIns,
  readClientSettings,
]
