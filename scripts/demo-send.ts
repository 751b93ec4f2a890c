// The demo's way out: Alice answers, one copy stays in the house, one goes to another server, and the log tells of both.

import { setTimeout as pause } from 'node:timers/promises'
import type { MailServer } from '../test/support/mail-server.ts'
import { heading, line, showRow } from './demo-print.ts'

type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** A row of the delivery log, as far as it is shown. */
export interface LogRow {
  to_email: string
  status: string
  status_reason: string | null
  provider_name: string | null
}

const LOOK_EVERY_MS = 50
const PATIENCE_MS = 10_000

/** Waits until every copy of a mail has come to an end. */
async function logOf(root: Call, id: string): Promise<LogRow[]> {
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_EVERY_MS) {
    const rows = await root<LogRow[]>('GET', `/emails/logs?message_id=${id}`)
    if (rows.every(({ status }) => status !== 'pending')) return rows
    await pause(LOOK_EVERY_MS)
  }
  throw new Error('The mail has not left.')
}

/** @param other the server of everybody outside */
export async function tellSending(root: Call, alice: Call, colleague: string, other: MailServer): Promise<void> {
  heading(
    '6  POST /api/v1/mailbox/messages/send',
    'Alice answers Grace; a mail server beside the house stands for Grace’s',
  )
  const [question] = await alice<{ id: string }[]>('GET', '/mailbox/messages?q=from:grace+subject:lunch')
  const sent = await alice<{ message_id: string }>('POST', '/mailbox/messages/send', {
    to: [{ email: 'grace@harbour.test', name: 'Grace Moreau' }],
    cc: [{ email: colleague }],
    subject: 'Re: Lunch on Thursday?',
    text_body: 'One o’clock it is. See you by the harbour!\n\nAlice',
    in_reply_to_message_id: question!.id,
  })
  for (const row of await logOf(root, sent.message_id)) showRow(row)
  const [mail] = other.mails
  const fields = /^(?:DKIM-Signature|From|In-Reply-To): .*$/gim
  line('and this is what Grace’s server was given, among other fields:')
  for (const [field] of mail!.bytes.toString('latin1').matchAll(fields)) line(`  ${field.trimEnd()}`)
}
