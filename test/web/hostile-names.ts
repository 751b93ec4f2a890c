// Names and subjects made to deceive, in everything that pages list: what a page shows of them is checked by `WebPage`.

import assert from 'node:assert/strict'
import type { TestAppliance, TestTeam } from '../support/appliance.ts'
import { signInMember } from '../support/person.ts'
import { SmtpClient } from '../support/smtp.ts'

/** Text that turns around, a space of no width, and a word with a Cyrillic letter. */
export const HOSTILE = 'Harbour \u202egnp.exe \u200bPаyPal'
/** Apple with a Cyrillic letter. */
const DISGUISED = 'аpple.com'

const encoded = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`

/** @param ana a mailbox of the team that receives and sends */
export async function seedHostileNames(
  appliance: TestAppliance,
  team: TestTeam,
  ana: { id: string; key: string; email: string },
): Promise<void> {
  const add = async (path: string, body: object, key = team.key) => {
    const { status, body: reply } = await appliance.call('POST', path, key, body)
    assert.ok(status < 300, `${path}: ${JSON.stringify(reply)}`)
    return reply.data
  }
  await add('/mailboxes', { email: 'eve@harbour.test', display_name: HOSTILE })
  const account = { smtp_host: 'smtp.relay.example', smtp_port: 587, smtp_protocol: 'starttls' }
  const provider = await add('/providers', { ...account, name: HOSTILE, smtp_username: 'u', smtp_password: 'p' })
  await add('/delivery-groups', { name: HOSTILE, members: [{ provider_id: provider.id }] })
  await add('/api-keys', { name: HOSTILE, role: 'root:readonly' })
  await add('/suppressions', { email: 'pay@customer.example', note: HOSTILE })
  await add('/webhooks', {
    url: 'https://93.184.215.14/hooks/other',
    description: HOSTILE,
    event_types: ['*'],
    enabled: false,
  })
  await add(`/mailboxes/${ana.id}/app-passwords`, { name: HOSTILE })
  const sent = { to: [{ email: 'office@harbour.test', name: HOSTILE }], subject: HOSTILE, text_body: HOSTILE }
  await add('/mailbox/messages/send', sent, ana.key)
  await receiveHostile(appliance, ana.email)
  const person = await signInMember(appliance, team.id, 'member', 'mallory@people.example')
  // Earlier versions took such a name, and it stays.
  const { persons } = appliance.app.people
  await appliance.app.db.write((tx) =>
    persons.setProfile(tx, person.email, { displayName: HOSTILE, locale: null, timeZone: null }),
  )
}

/** A message whose author, subject and sender are hostile, from a server that says so in its greeting. */
async function receiveHostile(appliance: TestAppliance, to: string): Promise<void> {
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  const lines = [
    `From: ${encoded(HOSTILE)} <bob@${DISGUISED}>`,
    `To: ${to}`,
    `Subject: ${encoded(HOSTILE)}`,
    'Message-ID: <hostile@else.test>',
    '',
    'Hello',
    '',
  ]
  const { code, text } = await client.mail({ from: 'bob@else.test', to, content: Buffer.from(lines.join('\r\n')) })
  assert.equal(code, 250, text)
}
