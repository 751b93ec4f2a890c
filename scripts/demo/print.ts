// Terminal output of the demo: headings, aligned lines, and threads as the API returns them.

import { styleText } from 'node:util'

/** The members of a thread (GET /mailbox/threads) that are shown. */
export interface Thread {
  id: string
  subject: string
  message_count: number
  unread_count: number
  has_attachments: boolean
  participants: { name: string; email: string }[]
  last_message: { id: string; preview: string; received_at: string; from: { name: string; email: string } }
}

const WIDTH = 78

export function heading(title: string, remark: string): void {
  console.log(`\n${styleText('bold', title)}  ${styleText('dim', remark)}`)
}

export function line(text: string): void {
  console.log(`   ${text}`)
}

/** A command below its purpose. */
export function command(purpose: string, text: string): void {
  console.log(`   ${styleText('dim', `# ${purpose}`)}\n   ${text}`)
}

/** The reply of the SMTP server to a message. */
export function showAnswer(kind: string, from: string, answer: string, taken: boolean): void {
  const mark = taken ? styleText('green', '✔') : styleText('red', '✖')
  console.log(` ${mark} ${kind} ${styleText('dim', `(${from})`)}`)
  console.log(`     ${taken ? answer : styleText('red', answer)}`)
}

/** The outcome of a message for one recipient. */
export function showRow(row: {
  to_email: string
  status: string
  provider_name: string | null
  status_reason: string | null
}): void {
  const mark = row.status === 'sent' ? styleText('green', '✔') : styleText('red', '✖')
  const detail = styleText('dim', `(${row.status_reason ?? row.provider_name})`)
  console.log(` ${mark} ${row.status} to ${row.to_email} ${detail}`)
}

export function showThread(thread: Thread): void {
  const facts = [
    `${thread.message_count} ${thread.message_count === 1 ? 'message' : 'messages'}`,
    `${thread.unread_count} unread`,
    ...(thread.has_attachments ? ['attachments'] : []),
  ]
  console.log(` • ${styleText('bold', thread.subject)}  ${styleText('dim', facts.join(', '))}`)
  line(`  with ${thread.participants.map(({ name, email }) => name || email).join(', ')}`)
  const { from, preview } = thread.last_message
  const last = `${from.name || from.email}: ${preview}`
  line(`  last ${last.length > WIDTH ? `${last.slice(0, WIDTH)}…` : last}`)
}
