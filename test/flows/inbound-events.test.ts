// Webhook events of received messages: one for each stored copy, with ids a subscriber can request.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Message } from '../../src/api/schemas/message.ts'
import { data } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail, SmtpClient, sendMail } from '../support/smtp.ts'
import { sweepContent } from '../support/stored.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 4))
const appliance = await startAppliance({
  clock,
  zone: {
    'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    '_dmarc.out.test': { TXT: ['v=DMARC1; p=reject'] },
    'prize.test': { TXT: ['v=spf1 -all'] },
    '_dmarc.prize.test': { TXT: ['v=DMARC1; p=quarantine'] },
  },
})
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
})
const team = await appliance.team()
const domainId = await team.domain('in.test')
const ana = await team.mailbox('ana@in.test')
const ben = await team.mailbox('ben@in.test')
const cleo = await team.mailbox('cleo@in.test')
await appliance.app.directory.filters.put(cleo.id, { mode: 'denylist', rules: [{ type: 'deny', pattern: 'out.test' }] })

interface ReportedEvent {
  type: string
  mailbox_id: string
  domain_id: string
  body: {
    created_at: string
    data: {
      mailbox_email: string
      message_id: string
      thread_id: string
      folder_ids: string[]
      envelope: { mail_from: string; rcpt_to: string }
      subject: string
      preview: string
      attachments: { id: string; filename: string; content_type: string; size_bytes: number; inline: boolean }[]
      authentication: { spf: string; dkim: string; dmarc: string }
      spam?: { score: number; reasons: string[] }
    }
  }
}

let seen = 0

/** Events since the last time this was asked. */
function news(): ReportedEvent[] {
  const rows = appliance.app.db.read.all<Omit<ReportedEvent, 'body'> & { body: string }>(
    'SELECT type, mailbox_id, domain_id, body FROM events WHERE team_id = ? ORDER BY n',
    [team.id],
  )
  const since = rows.slice(seen)
  seen = rows.length
  return since.map((row) => ({ ...row, body: JSON.parse(row.body) as ReportedEvent['body'] }))
}

async function hand(mail: { from: string; to: string | string[]; content: string }): Promise<number> {
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  return (await client.mail(mail)).code
}

test('each stored copy causes an event, with ids that resolve', async () => {
  await sendMail(appliance.ports.smtp, {
    envelope: { from: 'ann@out.test', to: ['ana+news@in.test', 'ben@in.test'] },
    from: 'Ann <ann@out.test>',
    to: 'ana@in.test, ben@in.test',
    subject: 'Grüße',
    date: new Date(clock.now()),
    text: 'Hello both',
    attachments: [{ filename: 'größe.txt', content: 'attached' }],
  })
  const reported = news()
  assert.deepEqual(
    reported.map(({ type, mailbox_id, domain_id }) => [type, mailbox_id, domain_id]),
    [
      ['message.received', ana.id, domainId],
      ['message.received', ben.id, domainId],
    ],
  )
  const [forAna, forBen] = reported.map(({ body }) => body.data)
  assert.deepEqual(forAna!.envelope, { mail_from: 'ann@out.test', rcpt_to: 'ana+news@in.test' })
  assert.equal(forAna!.mailbox_email, 'ana@in.test')
  assert.deepEqual(forAna!.authentication, { spf: 'pass', dkim: 'none', dmarc: 'pass' })
  assert.equal(reported[0]!.body.created_at, '2030-01-02T04:00:00.000Z')
  for (const [box, event] of [
    [ana, forAna!],
    [ben, forBen!],
  ] as const) {
    const message = data<Message>(await appliance.get(`/mailbox/messages/${event.message_id}`, box.key))
    assert.deepEqual(
      [event.thread_id, event.folder_ids, event.subject, event.preview],
      [message.thread_id, message.folder_ids, message.subject, message.preview],
    )
    const [file] = message.attachments!
    assert.deepEqual(event.attachments, [
      { id: file!.id, filename: 'größe.txt', content_type: 'text/plain', size_bytes: 8, inline: false },
    ])
  }
  assert.notEqual(forAna!.attachments[0]!.id, forBen!.attachments[0]!.id)
})

test('a message in Junk causes a spam event, with its score', async () => {
  const content = plainMail({ from: 'win@prize.test', to: 'ana@in.test', subject: 'You won' })
  assert.equal(await hand({ from: 'win@prize.test', to: 'ana@in.test', content }), 250)
  const [reported, ...more] = news()
  assert.deepEqual([reported!.type, more], ['message.received.spam', []])
  assert.deepEqual(reported!.body.data.authentication, { spf: 'fail', dkim: 'none', dmarc: 'fail' })
  const { score, reasons } = reported!.body.data.spam!
  assert.ok(score >= appliance.app.config.SPAM_JUNK_SCORE)
  assert.ok(reasons.includes('spf_fail'))
  const folders = data<{ id: string; role: string }[]>(await appliance.get('/mailbox/folders?limit=50', ana.key))
  const junk = folders.find(({ role }) => role === 'junk')!
  assert.deepEqual(reported!.body.data.folder_ids, [junk.id])
})

test('duplicate, filtered and rejected messages cause no event', async () => {
  const content = plainMail({ from: 'ann@out.test', to: 'ana@in.test', subject: 'Once' })
  const mail = { from: 'ann@out.test', to: 'ana@in.test', content }
  assert.equal(await hand(mail), 250)
  assert.equal(news().length, 1)
  assert.equal(await hand(mail), 250)
  assert.equal(await hand({ from: 'ann@out.test', to: 'cleo@in.test', content }), 550)
  assert.equal(await hand({ from: 'ann@out.test', to: 'nobody@in.test', content }), 550)
  assert.deepEqual(news(), [])
})
