// `If-Match` on requests that change a mailbox, as the team that owns it sees it.

import type { Context } from '../../context.ts'
import type { Tx } from '../../db/db.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import type { RequestFacts } from '../../http/route.ts'
import { factsOf, usageOf } from '../rules/usage.ts'
import { presentMailboxAdmin } from '../schemas/mailbox.ts'

/** Checks `If-Match` against a mailbox in the unit of work that changes it or its parts. */
export function mailboxMatch(app: Context, id: string, request: RequestFacts): (current: Mailbox, tx: Tx) => void {
  if (!request.conditional) return () => {}
  const usage = usageOf(app, [id])
  return (current, tx) => {
    const facts = factsOf(app, [id], tx)
    request.matches(presentMailboxAdmin(current, usage.get(id), facts(current)))
  }
}
