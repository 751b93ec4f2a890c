// The app passwords and sign-ins of a mailbox, for its team.

import { Type } from 'typebox'
import { createdBy } from '../../directory/names/principal.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { openedByMailboxKey } from '../../people/opens.ts'
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
import { mailboxOf } from './mailbox-of.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const ofMailbox = Type.Object({ mailbox_id: Id('mailbox') })
const ofAppPassword = Type.Object({ mailbox_id: Id('mailbox'), app_password_id: Id('appPassword') })
const MANAGE = { as: 'team', permission: 'mailbox.admin.manage' } as const
const READ = { as: 'team', permission: 'mailbox.admin.read' } as const
const PATH = '/mailboxes/{mailbox_id}/app-passwords'

const listAppPasswords = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'listMailboxAppPasswords',
    tag: 'Mailboxes',
    summary: 'List the app passwords of a mailbox, newest first',
    description: 'Secrets are not included.',
  },
  access: MANAGE,
  params: ofMailbox,
  query: pageQuery({ limit: MANAGEMENT_PAGE, status: KeyStatus }),
  reply: { schema: listOf(AppPasswordJson) },
  handle({ params: { mailbox_id }, query: { status, limit }, after, principal, app }) {
    const { id } = mailboxOf(app, principal.teamId, mailbox_id)
    const page = app.directory.appPasswords.list(id, { status, limit, after })
    return { items: page.items.map(presentAppPassword), next: page.next }
  },
})

const createAppPassword = route({
  method: 'POST',
  path: PATH,
  docs: {
    operation: 'createMailboxAppPassword',
    tag: 'Mailboxes',
    summary: 'Create an app password of a mailbox',
    description:
      'A secret for one mail program, shown in this response only. At most 25 active ones for each mailbox (409); 403 for the inbox of ' +
      'an agent. `If-Match` takes the ETag of the mailbox.',
  },
  access: { ...MANAGE, fresh: true },
  idempotent: true,
  params: ofMailbox,
  body: { schema: AppPasswordCreate },
  reply: { secret: true, schema: NewAppPassword, status: 201, etag: true },
  async handle({ params: { mailbox_id: id }, body, principal, app, request }) {
    const input = readAppPassword(body, createdBy(principal))
    const matches = mailboxMatch(app, id, request)
    const issued = await withNotices(app, principal, { mailboxId: id, what: 'An app password' }, () =>
      app.directory.appPasswords.issue(principal.teamId, id, input, matches),
    )
    request.opens(openedByMailboxKey(mailboxOf(app, principal.teamId, id).email, issued.record.permissions))
    const Location = `/api/v1/mailboxes/${id}/app-passwords/${issued.record.id}`
    return answer({ data: presentNewAppPassword(issued), headers: { Location } })
  },
})

const updateAppPassword = route({
  method: 'PATCH',
  path: `${PATH}/{app_password_id}`,
  docs: {
    operation: 'updateMailboxAppPassword',
    tag: 'Mailboxes',
    summary: 'Update an app password of a mailbox; 409 when it is not active',
    description: 'Its name and the end of its lifetime; the password itself is shown once, when it is created.',
  },
  access: MANAGE,
  params: ofAppPassword,
  body: { schema: AppPasswordUpdate },
  reply: { schema: AppPasswordJson },
  async handle({ params: { mailbox_id, app_password_id: id }, body, principal, app }) {
    const mailbox = mailboxOf(app, principal.teamId, mailbox_id)
    return presentAppPassword(await app.directory.appPasswords.update(mailbox.id, id, readAppPasswordChange(body)))
  },
})

const deleteAppPassword = route({
  method: 'DELETE',
  path: `${PATH}/{app_password_id}`,
  docs: {
    operation: 'deleteMailboxAppPassword',
    tag: 'Mailboxes',
    summary: 'Revoke an app password of a mailbox; its open connections end within 30 s',
    description: '`If-Match` takes the ETag of the mailbox.',
  },
  access: MANAGE,
  params: ofAppPassword,
  reply: { schema: DeletedOf('appPassword'), etag: true },
  async handle({ params: { mailbox_id, app_password_id: id }, principal, app, request }) {
    const mailbox = mailboxOf(app, principal.teamId, mailbox_id)
    const matches = mailboxMatch(app, mailbox.id, request)
    await app.directory.appPasswords.revoke(mailbox.id, id, (tx) =>
      matches(app.directory.mailboxes.byId(mailbox.id, tx)!, tx),
    )
    return { deleted: true, id }
  },
})

const listSignIns = route({
  method: 'GET',
  path: '/mailboxes/{mailbox_id}/sign-ins',
  docs: {
    operation: 'listMailboxSignIns',
    tag: 'Mailboxes',
    summary: 'List sign-ins of mail programs to a mailbox, newest first',
    description: 'Successful and failed ones of the last `SIGN_IN_RETENTION_DAYS`; at most 1,000.',
  },
  access: READ,
  params: ofMailbox,
  query: pageQuery({ limit: MANAGEMENT_PAGE, outcome: SignInOutcomeText, protocol: SignInProtocol }),
  reply: { schema: listOf(SignInJson) },
  handle({ params: { mailbox_id }, query: { outcome, protocol, limit }, after, principal, app }) {
    const { id } = mailboxOf(app, principal.teamId, mailbox_id)
    const page = app.directory.signIns.list(id, { outcome, protocol, limit, after })
    return { items: page.items.map(presentSignIn), next: page.next }
  },
})

const readClientSettings = route({
  method: 'GET',
  path: '/mailboxes/{mailbox_id}/client-settings',
  docs: {
    operation: 'getMailboxClientSettings',
    tag: 'Mailboxes',
    summary: 'Get what to enter in a mail program for a mailbox',
    description: 'Servers, ports and user name for IMAP, SMTP and ManageSieve, as autoconfiguration announces them.',
  },
  access: READ,
  params: ofMailbox,
  reply: { schema: ClientSettingsJson },
  handle: ({ params: { mailbox_id }, principal, app }) =>
    presentClientSettings(app.config, mailboxOf(app, principal.teamId, mailbox_id).email),
})

export const mailboxAppPasswords = [
  listAppPasswords,
  createAppPassword,
  updateAppPassword,
  deleteAppPassword,
  listSignIns,
  readClientSettings,
]
