// Sends a message from one mailbox to another and reads it there.
//
// MAILSTEAD_URL=http://localhost:8080 SENDER_KEY=smk_… RECIPIENT_KEY=smk_… RECIPIENT=me@home.test node examples/send-and-read.ts

import { createClient, idempotencyKey, listAll, MailsteadError, retry, unwrap } from 'mailstead-client'

function setting(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`Set ${name}.`)
  return value
}

const baseUrl = setting('MAILSTEAD_URL')
const to = setting('RECIPIENT')
const sender = createClient({ baseUrl, key: setting('SENDER_KEY') })
const recipient = createClient({ baseUrl, key: setting('RECIPIENT_KEY') })

// One key for all attempts: the message is sent once, however often the request is repeated.
const header = idempotencyKey()
const subject = `Hello ${header['Idempotency-Key'].slice(0, 8)}`
const body = { to: [{ email: to }], subject, text_body: 'Sent with mailstead-client.' }
const { data: sent } = await retry(() => sender.POST('/mailbox/messages/send', { params: { header }, body }))
console.log(`${sent.message_id} ${sent.status}`)

const q = `in:inbox subject:"${subject}"`
const deadline = Date.now() + 20_000
for (let found = false; !found; ) {
  const list = listAll((page) => recipient.GET('/mailbox/messages', { params: { query: { q, ...page } } }))
  for await (const { id } of list) {
    const query = { include: ['text_body' as const] }
    const { data } = await unwrap(
      recipient.GET('/mailbox/messages/{message_id}', { params: { path: { message_id: id }, query } }),
    )
    console.log(`From: ${data.from?.email}\nSubject: ${data.subject}\n\n${data.text_body?.trim()}`)
    found = true
  }
  if (!found && Date.now() > deadline) throw new Error('The message did not arrive within 20 seconds.')
  if (!found) await new Promise((resolve) => setTimeout(resolve, 200))
}

// A refusal is an exception with the code and the field that is wrong.
try {
  await unwrap(sender.POST('/mailbox/messages/send', { body: { ...body, to: [{ email: 'not an address' }] } }))
} catch (error) {
  if (!(error instanceof MailsteadError)) throw error
  console.log(`${error.status} ${error.code} ${error.issues[0]?.field}`)
}
