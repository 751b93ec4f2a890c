// Deleted mailboxes of any team, for the operator.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { presentMailboxes } from '../management/mailboxes.ts'
import { MANAGEMENT_PAGE } from '../management/pages.ts'
import { presentRestored } from '../rules/restored-mailbox.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { MailboxAdmin, MailboxRestore, RestoredMailbox } from '../schemas/mailbox.ts'

const team = Type.Object({ team_id: Id('team') })
const params = Type.Object({ team_id: Id('team'), mailbox_id: Id('mailbox') })

/** @throws ProductError not_found */
function requireTeam(app: Context, id: string): void {
  if (app.directory.teams.get(id) === undefined) throw notFound('team')
}

const listDeletedMailboxes = route({
  method: 'GET',
  surface: 'operator',
  path: '/teams/{team_id}/deleted-mailboxes',
  docs: {
    operation: 'listDeletedMailboxes',
    tag: 'Teams',
    summary: 'List the deleted mailboxes of a team that can be restored, the newest mailbox first',
    description: 'Deleted mailboxes are kept for 30 days.',
  },
  access: { as: 'operator' },
  params: team,
  query: pageQuery({ limit: MANAGEMENT_PAGE }),
  reply: { schema: listOf(MailboxAdmin) },
  async handle({ params: { team_id: teamId }, query: { limit }, after, app }) {
    requireTeam(app, teamId)
    const page = await app.directory.mailboxes.list(teamId, { statuses: ['deleted'], limit, after })
    return { items: presentMailboxes(app, page.items), next: page.next }
  },
})

const restoreTeamMailbox = route({
  method: 'POST',
  surface: 'operator',
  path: '/teams/{team_id}/mailboxes/{mailbox_id}/restore',
  docs: {
    operation: 'restoreTeamMailbox',
    tag: 'Teams',
    summary: 'Restore a deleted mailbox of a team, as its owners do; 409 when the address is in use',
    description: 'API keys, app passwords and sign-ins stay ended, as with `restoreMailbox`.',
    errors: ['conflict'],
  },
  access: { as: 'operator' },
  params,
  body: { schema: MailboxRestore, optional: true },
  reply: { schema: RestoredMailbox },
  async handle({ params: { team_id: teamId, mailbox_id: id }, body, app }) {
    requireTeam(app, teamId)
    return presentRestored(app, await app.administration.mailboxes.restore(teamId, id, body.email))
  },
})

const eraseTeamMailbox = route({
  method: 'POST',
  surface: 'operator',
  path: '/teams/{team_id}/mailboxes/{mailbox_id}/erase',
  docs: {
    operation: 'eraseTeamMailbox',
    tag: 'Teams',
    summary: 'Erase a deleted mailbox of a team now: it cannot be restored any more',
    description:
      'The mailbox is not found from now on. Its messages are erased at once, those of a large mailbox within the hour.',
    errors: ['conflict'],
  },
  access: { as: 'operator' },
  params,
  reply: { schema: DeletedOf('mailbox') },
  async handle({ params: { team_id: teamId, mailbox_id: id }, app }) {
    requireTeam(app, teamId)
    await app.administration.mailboxes.erase(teamId, id)
    return { deleted: true, id }
  },
})

export const operatorDeletedMailboxes = [listDeletedMailboxes, restoreTeamMailbox, eraseTeamMailbox]
