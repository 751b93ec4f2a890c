// Copies of sent messages: one in the Sent of the account, which server, mail program or appliance stored (docs/design/outside-accounts.md §7).

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Account } from '../../store/rows/records.ts'
import type { Store } from '../../store/store.ts'
import { bareId } from '../model/message-key.ts'
import type { RemoteAccount } from '../model/records.ts'
import type { RemoteHead } from '../model/server.ts'
import type { SyncSession } from './sync-session.ts'

/** When a message that was stored here may be stored there; `isSent`: it is looked for there before. */
export type AppendDue = { isDue: true; isSent: boolean } | { isDue: false; at: number }

/** The time a server has to save a message that it has sent, ms. */
export const SAVED_WITHIN_MS = MINUTE_MS
/** How long after a submission its copy is joined, ms. */
const JOINED_FOR_MS = 7 * DAY_MS
/** Submissions of one Message-ID that are looked at. */
const CANDIDATES_MAX = 10
/** Gmail's label of sent messages. */
const SENT_LABEL = '\\Sent'

interface Deps {
  clock: Clock
  store: Pick<Store, 'accounts' | 'programs' | 'sending'>
  outbound: { log: { emails: Pick<Outbound['log']['emails'], 'byId' | 'deliveriesOf'> } }
}

/** When the message with a number may be stored at the server: a sent one not before its server had the time to save it. */
export function appendDue({ clock, store, outbound }: Deps, account: RemoteAccount, message: number): AppendDue {
  const mail = store.accounts.byNumber(account.account)
  const id = store.programs.mail.rows([message]).get(message)?.id
  const submission = mail && id !== undefined ? store.sending.submissions.byMessage(mail, id) : undefined
  if (submission === undefined) return { isDue: true, isSent: false }
  const email = outbound.log.emails.byId(submission.emailId)
  const deliveries = email === undefined ? [] : outbound.log.emails.deliveriesOf(email.n)
  const now = clock.now()
  if (deliveries.some(({ status }) => status === 'pending')) return { isDue: false, at: now + SAVED_WITHIN_MS }
  const at = Math.max(0, ...deliveries.map(({ updatedAt }) => updatedAt)) + SAVED_WITHIN_MS
  return at > now ? { isDue: false, at } : { isDue: true, isSent: true }
}

/** The number of the sent message here that a new message in Sent there is a copy of; null when it is none, or known already. */
export function sentHere(session: SyncSession, isSentFolder: boolean, head: RemoteHead): number | null {
  const internetMessageId = bareId(head.messageId)
  if (internetMessageId === null || !(isSentFolder || head.labels?.includes(SENT_LABEL))) return null
  const { store, db, clock, messages } = session.deps
  const since = clock.now() - JOINED_FOR_MS
  const range = { internetMessageId, since, limit: CANDIDATES_MAX }
  const ids = store.sending.submissions
    .withMessageId(db.read, session.mail, range)
    .flatMap(({ messageId }) => messageId ?? [])
  return numbersOf(store, session.mail, ids).find((n) => !messages.of(session.account.n, [n]).has(n)) ?? null
}

function numbersOf({ programs }: Pick<Store, 'programs'>, mail: Account, ids: readonly string[]): number[] {
  return ids.length === 0 ? [] : [...programs.mail.numbers(mail, ids).values()]
}
