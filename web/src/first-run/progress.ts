// How far the first run has come: asked from the server and read from the address, so that a reload goes on where it was.

import { apiAs, takeList } from '../api/client.ts'
import { loadSelf, self } from '../api/session.ts'
import type { Domain, MailboxAdmin } from '../api/types.ts'

export type StepName = 'owner' | 'server' | 'domain' | 'mailbox' | 'message'

export interface Progress {
  step: StepName
  domain: Domain | null
  mailbox: MailboxAdmin | null
  /** Whether the test message has left. */
  isSent: boolean
}

/** Before there is an owner. */
export const BEGINNING: Progress = { step: 'owner', domain: null, mailbox: null, isSent: false }

/** The progress of the signed-in owner; null for others, and when nothing is left to continue. */
export async function findProgress(): Promise<Progress | null> {
  const team = (await loadSelf())?.teams[0]
  if (team?.role !== 'owner') return null
  const api = apiAs(team.id)
  const newest = { params: { query: { limit: 1 } } }
  const [domains, mailboxes] = await Promise.all([
    takeList(api.GET('/domains', newest)),
    takeList(api.GET('/mailboxes', newest)),
  ])
  const [domain = null, mailbox = null] = [domains.items[0], mailboxes.items[0]]
  const address = new URLSearchParams(location.search)
  const left = address.get('step')
  if (mailbox !== null && left === null) return null
  return { step: stepAfter(left, domain, mailbox), domain, mailbox, isSent: address.has('sent') }
}

/** The step of the address, or an earlier one when something that it needs does not exist. */
function stepAfter(left: string | null, domain: Domain | null, mailbox: MailboxAdmin | null): StepName {
  if (left === 'server' || (domain === null && left === null)) return firstStep()
  if (domain === null || left === 'domain') return 'domain'
  return mailbox === null || left === 'mailbox' ? 'mailbox' : 'message'
}

/** The step after the owner is made: those of the server need the pages of the operator (`OPERATOR_WEB`). */
export const firstStep = (): StepName => (self.value?.is_operator === true ? 'server' : 'domain')

/** Keeps the step in the address; the token, which works once, does not stay there. */
export function noteProgress({ step, isSent }: Progress): void {
  if (step === 'owner') return
  const query = new URLSearchParams({ step, ...(isSent ? { sent: '1' } : {}) })
  history.replaceState(history.state, '', `${location.pathname}?${query}`)
}
