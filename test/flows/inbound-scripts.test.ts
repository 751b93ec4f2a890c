// The script of a mailbox decides where its mail goes: kept over the API, run over what comes in, told in the log.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Folder } from '../../src/api/schemas/folder.ts'
import { data, receive } from '../api/expect.ts'
import { ManualClock } from '../support/clock.ts'
import { type Json, startHouse } from '../support/house.ts'
import { keptIn, logOf, sweepContent } from '../support/kept.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'

const clock = new ManualClock()
const house = await startHouse({
  clock,
  zone: {
    'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    'junk.test': { TXT: ['v=spf1 -all'] },
    '_dmarc.junk.test': { TXT: ['v=DMARC1; p=quarantine'] },
  },
})
after(async () => {
  await sweepContent(house, clock)
  await house.close()
})
const team = await house.team()
await team.domain('in.test')

type Box = Awaited<ReturnType<typeof team.mailbox>>

let count = 0
/** A mailbox with an active script. */
async function mailbox(content: string): Promise<Box> {
  const box = await team.mailbox(`m${count++}@in.test`)
  await script(box, content)
  return box
}

async function script(box: Box, content: string): Promise<string> {
  const body = { name: `s${count++}`, content, activate: true }
  return data<{ id: string }>(await house.call('POST', '/mailbox/sieve-scripts', box.key, body), 201).id
}

async function folder(box: Box, name: string, parent: string | null = null): Promise<string> {
  const body = { name, parent_id: parent }
  return data<Folder>(await house.call('POST', '/mailbox/folders', box.key, body), 201).id
}

interface Found {
  subject: string
  in: string
  keywords: string
}

/** The messages of a mailbox, oldest first, with the paths of their folders. */
async function found(box: Box): Promise<Found[]> {
  const folders = data<Folder[]>(await house.get('/mailbox/folders?limit=100', box.key))
  const paths = new Map(folders.map(({ id, path }) => [id, path]))
  const messages = data<Json[]>(
    await house.get('/mailbox/messages?in_trash_or_junk=true&sort_direction=asc&limit=100', box.key),
  )
  return messages.map(({ subject, folder_ids, keywords }) => ({
    subject,
    in: folder_ids.map((id: string) => paths.get(id)).join(', '),
    keywords: keywords.join(' '),
  }))
}

const only = async (box: Box): Promise<string> => {
  const [first, ...more] = await found(box)
  assert.deepEqual(more, [])
  return first ? [first.in, first.keywords].join(' ').trim() : 'nothing'
}

const arrive = (box: Box, mail: { from?: string; subject?: string; id?: string; more?: string[] } = {}, tag = '') =>
  receive(house, { from: 'bob@out.test', to: box.email.replace('@', `${tag}@`), ...mail })

async function eventsOf(box: Box): Promise<{ type: string; data: Json }[]> {
  const sql = 'SELECT type, body FROM events WHERE mailbox_id = ? ORDER BY n'
  const rows = await house.app.db.scan.all<{ type: string; body: string }>(sql, [box.id])
  return rows.map(({ type, body }) => ({ type, data: JSON.parse(body).data }))
}

async function rowsOf(box: Box) {
  return (await logOf(house, team.id)).filter((row) => row.mailbox_id === box.id)
}

test('mail is filed, flagged and thrown away as the script says, and told as it lies', async () => {
  const box = await mailbox(`require ["fileinto", "imap4flags", "mailbox", "copy", "envelope", "subaddress"];
    if header :contains "subject" "offer" { discard; }
    elsif envelope :detail "to" "lists" { fileinto :create :flags ["\\\\Seen", "$Work"] "Lists/2030"; }
    elsif header :is "x-level" "high" { addflag "\\\\Flagged"; fileinto :copy "Archive"; }`)
  await arrive(box, { subject: 'an offer' })
  assert.deepEqual([await only(box), await eventsOf(box)], ['nothing', []])
  assert.deepEqual(await house.app.store.blobs.hashes(), [], 'nobody keeps its content')
  const [thrown] = await rowsOf(box)
  assert.deepEqual([thrown!.status, thrown!.reason, thrown!.message_id], ['discarded', null, null])
  assert.match(thrown!.smtp_reply, /^250 2\.0\.0 /)
  assert.deepEqual(thrown!.evidence.script, { outcome: 'discarded', folder_ids: [], error: null })

  await arrive(box, { subject: 'news', id: 'news@client.test' }, '+lists')
  await arrive(box, { subject: 'Re: news', more: ['In-Reply-To: <news@client.test>'] }, '+lists')
  await arrive(box, { subject: 'urgent', more: ['X-Level: high'] })
  await arrive(box, { subject: 'plain' })
  assert.deepEqual(await found(box), [
    { subject: 'news', in: 'Lists/2030', keywords: '$seen $work' },
    { subject: 'Re: news', in: 'Lists/2030', keywords: '$seen $work' },
    { subject: 'urgent', in: 'Inbox, Archive', keywords: '$flagged' },
    { subject: 'plain', in: 'Inbox', keywords: '' },
  ])
  const folders = data<Folder[]>(await house.get('/mailbox/folders?limit=100', box.key))
  const counts = folders.filter((one) => one.total_messages > 0)
  assert.deepEqual(
    counts.map((one) => [one.path, one.total_messages, one.unread_messages, one.total_threads]),
    [
      ['Inbox', 2, 2, 2],
      ['Archive', 1, 1, 1],
      ['Lists/2030', 2, 0, 1],
    ],
  )
  const told = await eventsOf(box)
  assert.deepEqual(
    told.map(({ type, data: { subject, folder_ids } }) => [type, subject, folder_ids.length]),
    [
      ['message.received', 'news', 1],
      ['message.received', 'Re: news', 1],
      ['message.received', 'urgent', 2],
      ['message.received', 'plain', 1],
    ],
  )
  const rows = await rowsOf(box)
  assert.deepEqual(
    rows.slice(1).map((row) => [row.status, (row.evidence.script as Json).outcome]),
    Array(4).fill(['stored', 'filed']),
  )
  const shown = data<Json[]>(await house.get('/inbound/logs?status=discarded', team.key))
  const detail = data<Json>(await house.get(`/inbound/logs/${shown[0].id}`, team.key))
  assert.equal(detail.evidence.script.outcome, 'discarded')
})

test('folders are found by path, by role, and the Inbox by any spelling', async () => {
  const box = await mailbox('keep;')
  const inbox = data<Folder[]>(await house.get('/mailbox/folders?role=inbox', box.key))[0]!
  await folder(box, 'Caf\u00e9', inbox.id)
  for (const [written, path] of [
    ['iNbOx', 'Inbox'],
    ['INBOX/Cafe\u0301', 'Inbox/Caf\u00e9'],
    ['archive', 'Archive'],
    ['Sent', 'Sent'],
    ['TRASH', 'Trash'],
  ] as const) {
    await script(box, `require "fileinto"; fileinto "${written}";`)
    await arrive(box, { subject: written })
    assert.equal((await found(box)).at(-1)!.in, path, written)
    for (const { id } of data<Json[]>(await house.get('/mailbox/sieve-scripts', box.key))) {
      await house.call('POST', `/mailbox/sieve-scripts/${id}/deactivate`, box.key)
      await house.call('DELETE', `/mailbox/sieve-scripts/${id}`, box.key)
    }
  }
})

test('a script that fails changes nothing, and the log says why', async () => {
  for (const [content, error] of [
    ['addflag "x"; fileinto "INBOX"; fileinto "Nowhere";', 'There is no folder "Nowhere".'],
    ['fileinto :create "a/../b";', 'No folder can be made of that name: A name is not made of dots alone.'],
    [`fileinto :create "${'x/'.repeat(10)}x";`, 'Folders lie in one another 10 deep at most.'],
    ['fileinto :create "new"; fileinto "Nowhere";', 'There is no folder "Nowhere".'],
    [
      Array.from({ length: 11 }, (_, n) => `fileinto :create "${n}";`).join(''),
      'A message can be filed into at most 10 folders.',
    ],
  ] as const) {
    const box = await mailbox(`require ["fileinto", "mailbox", "imap4flags"]; ${content}`)
    await arrive(box)
    assert.equal(await only(box), 'Inbox')
    const [row] = await rowsOf(box)
    assert.equal(row!.status, 'stored')
    const { outcome, error: told } = row!.evidence.script as Json
    assert.deepEqual([outcome, told], ['failed', error])
    assert.equal(data<Json>(await house.get('/mailbox/folders?limit=100', box.key)).length, 6, 'no folder was made')
  }
})

test('mail taken for spam stays in Junk unless the script files or discards it', async () => {
  const spam = { from: 'boss@junk.test' }
  const lies = async (content: string, mail: { from?: string } = spam) => {
    const box = await mailbox(`require ["fileinto", "imap4flags"]; ${content}`)
    await arrive(box, mail)
    const [row] = await rowsOf(box)
    return [await only(box), row!.status, row!.reason, (await eventsOf(box)).map(({ type }) => type).join()]
  }
  assert.deepEqual(await lies(''), ['Junk $junk', 'junk', 'spam', 'message.received.spam'])
  assert.deepEqual(await lies('addflag "x"; keep;'), ['Junk $junk x', 'junk', 'spam', 'message.received.spam'])
  assert.deepEqual(await lies('fileinto "Nowhere";'), ['Junk $junk', 'junk', 'spam', 'message.received.spam'])
  assert.deepEqual(await lies('fileinto "INBOX";'), ['Inbox', 'stored', null, 'message.received'])
  assert.deepEqual(await lies('discard;'), ['nothing', 'discarded', null, ''])
  // And what nobody took for spam may be filed there.
  assert.deepEqual(await lies('fileinto "Junk";', {}), ['Junk $junk', 'junk', null, 'message.received.spam'])
})

test('of many recipients each has its own script, one its own outcome', async () => {
  const one = await mailbox('require "fileinto"; fileinto "Archive";')
  const two = await mailbox('discard;')
  const none = await team.mailbox('plain@in.test')
  const own = await team.mailbox('own@in.test')
  await script(own, 'require ["envelope", "imap4flags"]; if envelope :localpart "to" "own" { addflag "mine"; }')
  const to = [one, two, none, own].map(({ email }) => email)
  await using client = await SmtpClient.greet(house.ports.smtp)
  const reply = await client.mail({
    from: 'bob@out.test',
    to,
    content: plainMail({ from: 'bob@out.test', to: to[0]! }),
  })
  assert.equal(reply.code, 250)
  assert.deepEqual(await Promise.all([one, two, none, own].map(only)), ['Archive', 'nothing', 'Inbox', 'Inbox mine'])
})

test('a mail repeated within the hour is one message, filed once', async () => {
  const box = await mailbox('require ["fileinto", "mailbox"]; fileinto :create "x"; keep;')
  const content = plainMail({ from: 'bob@out.test', to: box.email })
  for (const outcome of ['stored', 'duplicate']) {
    await using client = await SmtpClient.greet(house.ports.smtp)
    assert.equal((await client.mail({ from: 'bob@out.test', to: box.email, content })).code, 250)
    assert.equal((await rowsOf(box)).at(-1)!.status, outcome)
  }
  assert.equal(await only(box), 'Inbox, x')
})

test('a script may ask for folders', async () => {
  const box = await mailbox(
    'require ["fileinto", "mailbox"]; if mailboxexists ["Work/One", "inbox"] { fileinto "Work/One"; } else { fileinto "Archive"; }',
  )
  await arrive(box, { subject: 'before' })
  const work = await folder(box, 'Work')
  await folder(box, 'One', work)
  await arrive(box, { subject: 'after' })
  assert.deepEqual(
    (await found(box)).map((one) => one.in),
    ['Archive', 'Work/One'],
  )
})

test('from the next mail on the script that is active then counts', async () => {
  const box = await mailbox('require "fileinto"; fileinto "Archive";')
  await arrive(box, { subject: '1' })
  const id = await script(box, 'require "imap4flags"; addflag "second";')
  await arrive(box, { subject: '2' })
  const next = { name: 'next', content: 'require "imap4flags"; addflag "third";' }
  data(await house.call('PUT', `/mailbox/sieve-scripts/${id}`, box.key, next))
  await arrive(box, { subject: '3' })
  data(await house.call('POST', `/mailbox/sieve-scripts/${id}/deactivate`, box.key))
  await arrive(box, { subject: '4' })
  assert.deepEqual(
    (await found(box)).map((one) => `${one.in} ${one.keywords}`.trim()),
    ['Archive', 'Inbox second', 'Inbox third', 'Inbox'],
  )
})

test('mail from inside the appliance is filed too', async () => {
  const sender = await team.mailbox('sender@in.test')
  const box = await mailbox(`require ["fileinto", "body"];
    if body :contains "thrown" { discard; } elsif body :contains "inside" { fileinto "Archive"; }`)
  const send = async (text: string) => {
    const body = { to: [{ email: box.email }], subject: text, text_body: text }
    data(await house.call('POST', '/mailbox/messages/send', sender.key, body), 202)
    await house.settle()
  }
  await send('from inside')
  await send('to be thrown away')
  assert.equal(await only(box), 'Archive')
  assert.deepEqual(
    (await rowsOf(box)).map((row) => [row.status, (row.evidence.script as Json).outcome, row.detail]),
    [
      ['stored', 'filed', 'Stored; it was sent from this appliance.'],
      ['discarded', 'discarded', 'Taken; it was sent from this appliance.'],
    ],
  )
  assert.deepEqual(
    (await eventsOf(box)).map(({ type, data: { subject } }) => [type, subject]),
    [['message.received', 'from inside']],
  )
})

test('a mailbox without a script costs no statement more', async () => {
  const box = await team.mailbox('quiet@in.test')
  const { sieveScripts } = house.app.directory
  const active = sieveScripts.active
  const asked: string[] = []
  sieveScripts.active = (mailbox) => {
    asked.push(mailbox.id)
    return active.call(sieveScripts, mailbox)
  }
  try {
    await arrive(box)
    assert.deepEqual(asked, [])
  } finally {
    sieveScripts.active = active
  }
  assert.equal((await keptIn(house, box.id)).length, 1)
})
