// A mailbox full of invented, plausible messages, and the person who opens it.

import assert from 'node:assert/strict'
import type { PersonClient } from '../support/person.ts'
import { signInMember } from '../support/person.ts'
import type { WebAppliance } from './web-appliance.ts'

export interface SeededMessage {
  from: string
  subject: string
  text: string
  /** Minutes before now. */
  age: number
  html?: string
  to?: string
  inReplyTo?: string
  id?: string
  keywords?: string[]
  file?: { name: string; type: string; content: string }
}

export interface MailWorld {
  person: PersonClient & { memberId: string }
  mailbox: { id: string; email: string; key: string }
  /** Where the mail pages of the mailbox begin. */
  path: string
  add(message: SeededMessage, role?: string): Promise<{ id: string; thread_id: string }>
}

/** Makes a mailbox and a person who owns it. @param local the part before the @ */
export async function makeMailWorld(web: WebAppliance, local: string): Promise<MailWorld> {
  const { appliance, team, owner } = web
  const email = `${local}@harbour.test`
  const { id, key } = await team.mailbox(email)
  const person = await signInMember(appliance, team.id, 'user', `${local}@people.example`)
  const grant = { memberId: person.memberId, createdBy: owner.memberId, access: 'owner' as const }
  await appliance.app.people.sharing.grant(team.id, { id, email }, grant)
  const folders = (await appliance.call('GET', '/mailbox/folders', key)).body.data as { id: string; role: string }[]
  return {
    person,
    mailbox: { id, email, key },
    path: `/mail/${encodeURIComponent(email)}/inbox`,
    async add(message, role = 'inbox') {
      const now = web.clock.now()
      const reply = await appliance.call('POST', '/mailbox/messages/import', key, {
        raw: Buffer.from(sourceOf(message, email, now)).toString('base64'),
        folder_ids: [folders.find((folder) => folder.role === role)!.id],
        keywords: message.keywords ?? [],
        received_at: new Date(now - message.age * 60_000).toISOString(),
      })
      assert.equal(reply.status, 201, JSON.stringify(reply.body))
      return reply.body.data as { id: string; thread_id: string }
    },
  }
}

let count = 0

function sourceOf(message: SeededMessage, owner: string, now: number): string {
  const { from, subject, text, html, inReplyTo, file, to = owner } = message
  const id = message.id ?? `<seed-${++count}@harbour.test>`
  const head = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    `Date: ${new Date(now - message.age * 60_000).toUTCString()}`,
    `Message-ID: ${id}`,
    ...(inReplyTo === undefined ? [] : [`In-Reply-To: ${inReplyTo}`, `References: ${inReplyTo}`]),
    'MIME-Version: 1.0',
  ]
  const body = html === undefined ? part('text/plain', text) : alternative(text, html)
  if (file === undefined) return [...head, ...body].join('\r\n')
  return [
    ...head,
    'Content-Type: multipart/mixed; boundary=mixed',
    '',
    '--mixed',
    ...body,
    '--mixed',
    `Content-Type: ${file.type}; name="${file.name}"`,
    `Content-Disposition: attachment; filename="${file.name}"`,
    '',
    file.content,
    '--mixed--',
    '',
  ].join('\r\n')
}

const part = (type: string, text: string) => [`Content-Type: ${type}; charset=utf-8`, '', ...text.split('\n')]

const alternative = (text: string, html: string) => [
  'Content-Type: multipart/alternative; boundary=alternative',
  '',
  '--alternative',
  ...part('text/plain', text),
  '--alternative',
  ...part('text/html', html),
  '--alternative--',
]

/** Names, subjects and first lines for as many conversations as a test wants. */
const WRITERS = [
  [
    'Ingrid Halvorsen',
    'ingrid@fjordmail.example',
    'Rope for a 38-foot ketch',
    'Thank you, that is clear. Could you also quote the halyards?',
  ],
  [
    'Tom Harbour',
    'tom@tidewater.example',
    'Crane on Thursday, 7:30 or 9:00?',
    'Harbourmaster can give us either. Tide is better at 7:30.',
  ],
  [
    'Quayside Marina',
    'fees@quayside.example',
    'Mooring fees for May',
    'Dear Ana, please find attached the fees for berths 12 to 16.',
  ],
  [
    'Kenji Mori',
    'kenji@survey.example',
    'Survey report for Kittiwake',
    'Perfect, the insurer has everything now. I will come on Friday.',
  ],
  [
    'Solent Sails',
    'loft@solentsails.example',
    'Your mainsail is ready for fitting',
    'Good morning! The loft finished the new main for Solveig.',
  ],
  ['Priya Nair', 'priya@accounts.example', 'April closing', 'Done, apart from the two invoices from Tidewater.'],
  [
    'Marta Oliveira',
    'marta@atelier.example',
    'Shop window for the regatta',
    'Three sketches attached. I like the second one best.',
  ],
  [
    'Joost de Vries',
    'joost@yard.example',
    'Kittiwake: keel bolts',
    'All twelve are out. Two are worse than they looked.',
  ],
] as const

/** Fills the Inbox; the newest is the first of the list. */
export async function fillInbox(world: MailWorld, messages: number, startAge = 30): Promise<void> {
  for (let index = 0; index < messages; index++) {
    const [name, email, subject, text] = WRITERS[index % WRITERS.length]!
    const round = Math.floor(index / WRITERS.length)
    await world.add({
      from: `${name} <${email}>`,
      subject: round === 0 ? subject : `${subject} (${round + 1})`,
      text,
      age: startAge + index * 37,
      keywords: index < 3 ? [] : ['$seen'],
    })
  }
}
