// Creates a mailbox with a key, as the operator's commands do.

import type { Context } from '../src/context.ts'
import type { Mailbox } from '../src/directory/mailboxes/mailboxes.ts'

const QUOTA_BYTES = 2 ** 40

export async function seedMailbox(app: Context, email: string): Promise<{ mailbox: Mailbox; key: string }> {
  const { teams, domains, keys } = app.directory
  const team = teams.list()[0] ?? (await teams.create({ name: 'Bench' }))
  const domain = email.slice(email.indexOf('@') + 1)
  const known = domains.list(team.id, { limit: 100, after: null })
  if (!known.items.some(({ name }) => name === domain)) await domains.create(team.id, domain)
  const mailbox = await app.administration.mailboxes.create(team.id, { email, quotaBytes: QUOTA_BYTES })
  const issued = await keys.issue({
    teamId: team.id,
    kind: 'mailbox',
    mailboxId: mailbox.id,
    name: 'bench',
    createdBy: 'operator',
  })
  return { mailbox, key: issued.secret }
}
