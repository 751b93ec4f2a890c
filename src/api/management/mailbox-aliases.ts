// The aliases of a mailbox.

import { Type } from 'typebox'
import { ALIASES_MAX } from '../../directory/mailboxes/aliases.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { AliasJson, presentAlias } from '../schemas/alias.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { EMAIL_TEXT_MAX } from '../schemas/mailbox.ts'
import { record } from '../schemas/record.ts'
import { mailboxOf } from './mailbox-of.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const ofMailbox = Type.Object({ mailbox_id: Id('mailbox') })

const listAliases = route({
  method: 'GET',
  path: '/mailboxes/{mailbox_id}/aliases',
  docs: {
    operation: 'listMailboxAliases',
    tag: 'Mailboxes',
    summary: 'List the aliases of a mailbox, newest first',
    description: 'An alias receives for the mailbox, and the mailbox may write as it.',
  },
  access: { as: 'team', permission: 'mailbox.admin.read' },
  params: ofMailbox,
  query: pageQuery({ limit: MANAGEMENT_PAGE }),
  reply: { schema: listOf(AliasJson) },
  handle({ params: { mailbox_id: id }, query: { limit }, after, principal, app }) {
    const mailbox = mailboxOf(app, principal.teamId, id)
    const page = app.directory.aliases.list(mailbox.id, { limit, after })
    return { items: page.items.map(presentAlias), next: page.next }
  },
})

const createAlias = route({
  method: 'POST',
  path: '/mailboxes/{mailbox_id}/aliases',
  docs: {
    operation: 'createMailboxAlias',
    tag: 'Mailboxes',
    summary: 'Create an alias of a mailbox',
    description:
      `The mailbox immediately receives mail to the alias and can send from it. At most ${ALIASES_MAX} for each mailbox. 409 when ` +
      'a mailbox or an alias has the address; 422 when the domain is not of the team (`not_found`) or not verified ' +
      '(`unverified_domain`).',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  idempotent: true,
  params: ofMailbox,
  body: {
    schema: record(
      'MailboxAliasCreate',
      'The new alias.',
      {
        email: Type.String({
          minLength: 3,
          maxLength: EMAIL_TEXT_MAX,
          description: 'At a verified domain of the team, in the form of a mailbox address.',
          examples: ['orders@shop.example'],
        }),
      },
      { email: 'orders@shop.example' },
    ),
  },
  reply: { schema: AliasJson, status: 201 },
  async handle({ params: { mailbox_id: id }, body, principal, app }) {
    const alias = await app.administration.mailboxes.addAlias(principal.teamId, id, body.email)
    return answer({
      data: presentAlias(alias),
      headers: { Location: `/api/v1/mailboxes/${id}/aliases/${alias.id}` },
    })
  },
})

const deleteAlias = route({
  method: 'DELETE',
  path: '/mailboxes/{mailbox_id}/aliases/{alias_id}',
  docs: {
    operation: 'deleteMailboxAlias',
    tag: 'Mailboxes',
    summary: 'Delete an alias: mail to it is refused, and the address is free immediately',
    description: 'Messages that it has received stay; its identity goes with it.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params: Type.Object({ mailbox_id: Id('mailbox'), alias_id: Id('alias') }),
  reply: { schema: DeletedOf('alias') },
  async handle({ params: { mailbox_id, alias_id: id }, principal, app }) {
    await app.administration.mailboxes.removeAlias(principal.teamId, mailbox_id, id)
    return { deleted: true, id }
  },
})

export const mailboxAliases = [listAliases, createAlias, deleteAlias]
