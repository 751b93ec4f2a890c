// Sending in the demo: Alice answers, one copy is delivered locally, one to another server, and the delivery log shows both.

import { setTimeout as pause } from 'node:timers/promises'
import type { Call } from './api.ts'
import { heading, line, showRow } from './print.ts'
import type { World } from './world.ts'

/** A row of the delivery log, as far as it is displayed. */
export interface LogRow {
  to_email: string
  status: string
  status_reason: string | null
  provider_name: string | null
}

const POLL_INTERVAL_MS = 50
const TIMEOUT_MS = 10_000

/** Waits until no delivery of a message is pending. */
async function logOf(root: Call, id: string): Promise<LogRow[]> {
  for (let waited = 0; waited < TIMEOUT_MS; waited += POLL_INTERVAL_MS) {
    const rows = await root<LogRow[]>('GET', `/emails/logs?message_id=${id}`)
    if (rows.every(({ status }) => status !== 'pending')) return rows
    await pause(POLL_INTERVAL_MS)
  }
  throw new Error('The message was not delivered in time.')
}

/** Grace's copy goes straight to her mail server, or through a sending account of the team. */
export async function demoSending(root: Call, alice: Call, colleague: string, { other, relay }: World): Promise<void> {
  heading(
    '6  POST /api/v1/mailbox/messages/send',
    'Alice answers Grace; a local test server stands for the mail server of Grace’s domain',
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
  const mail = [...other.messages, ...relay.messages].find(({ to }) => to.includes('grace@harbour.test'))
  const fields = /^(?:From|In-Reply-To): .*$/gim
  line('Grace’s server received these header fields, among others:')
  for (const [field] of mail!.bytes.toString('latin1').matchAll(fields)) line(`  ${field.trimEnd()}`)
}
