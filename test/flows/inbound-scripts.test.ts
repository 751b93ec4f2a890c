// The Sieve script of a mailbox files its messages: created over the API, run for received messages, shown in the log.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import { NOTIFICATIONS_PER_SOURCE } from '../../src/store/mailbox/script-notifications.ts'
import { data, receive } from '../api/expect.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { logOf, storedMessages, sweepContent } from '../support/stored.ts'

const clock = new ManualClock()
const appliance = await startAppliance({
  clock,
  zone: {
    'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    'junk.test': { TXT: ['v=spf1 -all'] },
    '_dmarc.junk.test': { TXT: ['v=DMARC1; p=quarantine'] },
  },
})
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
})
const team = await appliance.team()
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
  return data<{ id: string }>(await appliance.call('POST', '/mailbox/sieve-scripts', box.key, body), 201).id
}

async function folder(box: Box, name: string, parent: string | null = null): Promise<string> {
  const body = { name, parent_id: parent }
  return data<FolderJson>(await appliance.call('POST', '/mailbox/folders', box.key, body), 201).id
}

interface Found {
  subject: string
  in: string
  keywords: string
}

/** The messages of a mailbox, oldest first, with the paths of their folders. */
async function found(box: Box): Promise<Found[]> {
  const folders = data<FolderJson[]>(await appliance.get('/mailbox/folders?limit=100', box.key))
  const paths = new Map(folders.map(({ id, path }) => [id, path]))
  const messages = data<Json[]>(
    await appliance.get('/mailbox/messages?in_trash_or_junk=true&sort_direction=asc&limit=100', box.key),
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
  receive(appliance, { from: 'bob@out.test', to: box.email.replace('@', `${tag}@`), ...mail })

async function eventsOf(box: Box): Promise<{ type: string; data: Json }[]> {
  const sql = 'SELECT type, body FROM events WHERE mailbox_id = ? ORDER BY n'
  const rows = await appliance.app.db.scan.all<{ type: string; body: string }>(sql, [box.id])
  return rows.map(({ type, body }) => ({ type, data: JSON.parse(body).data }))
}

async function rowsOf(box: Box) {
  return (await logOf(appliance, team.id)).filter((row) => row.mailbox_id === box.id)
}

test('messages are filed, flagged and discarded by the script, and events name their folders', async () => {
  const box = await mailbox(`require ["fileinto", "imap4flags", "mailbox", "copy", "envelope", "subaddress"];
    if header :contains "subject" "offer" { discard; }
    elsif envelope :detail "to" "lists" { fileinto :create :flags ["\\\\Seen", "$Work"] "Lists/2030"; }
    elsif header :is "x-level" "high" { addflag "\\\\Flagged"; fileinto :copy "Archive"; }`)
  await arrive(box, { subject: 'an offer' })
  assert.deepEqual([await only(box), await eventsOf(box)], ['nothing', []])
  assert.deepEqual(await appliance.app.store.blobs.hashes(), [], 'its content is not stored')
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
  const folders = data<FolderJson[]>(await appliance.get('/mailbox/folders?limit=100', box.key))
  const counts = folders.filter((one) => one.total_messages > 0)
  assert.deepEqual(
    counts.map((one) => [one.path, one.total_messages, one.unread_messages, one.total_threads]),
    [
      ['Inbox', 2, 2, 2],
      ['Archive', 1, 1, 1],
      ['Lists/2030', 2, 0, 1],
    ],
  )
  const reported = await eventsOf(box)
  assert.deepEqual(
    reported.map(({ type, data: { subject, folder_ids } }) => [type, subject, folder_ids.length]),
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
  const shown = data<Json[]>(await appliance.get('/inbound/logs?status=discarded', team.key))
  const detail = data<Json>(await appliance.get(`/inbound/logs/${shown[0].id}`, team.key))
  assert.equal(detail.evidence.script.outcome, 'discarded')
})

test('folders are found by path, by role, and the Inbox in any case', async () => {
  const box = await mailbox('keep;')
  const inbox = data<FolderJson[]>(await appliance.get('/mailbox/folders?role=inbox', box.key))[0]!
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
    for (const { id } of data<Json[]>(await appliance.get('/mailbox/sieve-scripts', box.key))) {
      await appliance.call('POST', `/mailbox/sieve-scripts/${id}/deactivate`, box.key)
      await appliance.call('DELETE', `/mailbox/sieve-scripts/${id}`, box.key)
    }
  }
})

test('a failing script changes nothing, and the log shows the reason', async () => {
  for (const [content, error] of [
    ['addflag "x"; fileinto "INBOX"; fileinto "Nowhere";', 'Folder "Nowhere" does not exist.'],
    ['fileinto :create "a/../b";', 'The folder cannot be created: A folder name must not consist of dots only.'],
    [`fileinto :create "${'x/'.repeat(10)}x";`, 'Folders can be nested at most 10 levels deep.'],
    ['fileinto :create "new"; fileinto "Nowhere";', 'Folder "Nowhere" does not exist.'],
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
    const { outcome, error: reported } = row!.evidence.script as Json
    assert.deepEqual([outcome, reported], ['failed', error])
    assert.equal(data<Json>(await appliance.get('/mailbox/folders?limit=100', box.key)).length, 6, 'no folder was made')
  }
})

test('spam stays in Junk unless the script files or discards it', async () => {
  const spam = { from: 'boss@junk.test' }
  const filed = async (content: string, mail: { from?: string } = spam) => {
    const box = await mailbox(`require ["fileinto", "imap4flags"]; ${content}`)
    await arrive(box, mail)
    const [row] = await rowsOf(box)
    return [await only(box), row!.status, row!.reason, (await eventsOf(box)).map(({ type }) => type).join()]
  }
  assert.deepEqual(await filed(''), ['Junk $junk', 'junk', 'spam', 'message.received.spam'])
  assert.deepEqual(await filed('addflag "x"; keep;'), ['Junk $junk x', 'junk', 'spam', 'message.received.spam'])
  assert.deepEqual(await filed('fileinto "Nowhere";'), ['Junk $junk', 'junk', 'spam', 'message.received.spam'])
  assert.deepEqual(await filed('fileinto "INBOX";'), ['Inbox', 'stored', null, 'message.received'])
  assert.deepEqual(await filed('discard;'), ['nothing', 'discarded', null, ''])
  // Messages that are not spam can also be filed there.
  assert.deepEqual(await filed('fileinto "Junk";', {}), ['Junk $junk', 'junk', null, 'message.received.spam'])
})

test('with several recipients each script applies to its own recipient', async () => {
  const one = await mailbox('require "fileinto"; fileinto "Archive";')
  const two = await mailbox('discard;')
  const none = await team.mailbox('plain@in.test')
  const own = await team.mailbox('own@in.test')
  await script(own, 'require ["envelope", "imap4flags"]; if envelope :localpart "to" "own" { addflag "mine"; }')
  const to = [one, two, none, own].map(({ email }) => email)
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  const reply = await client.mail({
    from: 'bob@out.test',
    to,
    content: plainMail({ from: 'bob@out.test', to: to[0]! }),
  })
  assert.equal(reply.code, 250)
  assert.deepEqual(await Promise.all([one, two, none, own].map(only)), ['Archive', 'nothing', 'Inbox', 'Inbox mine'])
})

test('a message repeated within the hour is stored and filed once', async () => {
  const box = await mailbox('require ["fileinto", "mailbox"]; fileinto :create "x"; keep;')
  const content = plainMail({ from: 'bob@out.test', to: box.email })
  for (const outcome of ['stored', 'duplicate']) {
    await using client = await SmtpClient.greet(appliance.ports.smtp)
    assert.equal((await client.mail({ from: 'bob@out.test', to: box.email, content })).code, 250)
    assert.equal((await rowsOf(box)).at(-1)!.status, outcome)
  }
  assert.equal(await only(box), 'Inbox, x')
})

test('a script can test whether folders exist', async () => {
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

test('a newly activated script applies from the next message on', async () => {
  const box = await mailbox('require "fileinto"; fileinto "Archive";')
  await arrive(box, { subject: '1' })
  const id = await script(box, 'require "imap4flags"; addflag "second";')
  await arrive(box, { subject: '2' })
  const next = { name: 'next', content: 'require "imap4flags"; addflag "third";' }
  data(await appliance.call('PUT', `/mailbox/sieve-scripts/${id}`, box.key, next))
  await arrive(box, { subject: '3' })
  data(await appliance.call('POST', `/mailbox/sieve-scripts/${id}/deactivate`, box.key))
  await arrive(box, { subject: '4' })
  assert.deepEqual(
    (await found(box)).map((one) => `${one.in} ${one.keywords}`.trim()),
    ['Archive', 'Inbox second', 'Inbox third', 'Inbox'],
  )
})

test('local messages are filed too', async () => {
  const sender = await team.mailbox('sender@in.test')
  const box = await mailbox(`require ["fileinto", "body"];
    if body :contains "thrown" { discard; } elsif body :contains "inside" { fileinto "Archive"; }`)
  const send = async (text: string) => {
    const body = { to: [{ email: box.email }], subject: text, text_body: text }
    data(await appliance.call('POST', '/mailbox/messages/send', sender.key, body), 202)
    await appliance.settle()
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

test('a mailbox without a script needs no additional statement', async () => {
  const box = await team.mailbox('quiet@in.test')
  const { sieveScripts } = appliance.app.directory
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
  assert.equal((await storedMessages(appliance, box.id)).length, 1)
})

test('the header is stored as the script has changed it, for each recipient', async () => {
  const box = await mailbox(
    'require "editheader"; addheader "X-Sorted" "yes"; deleteheader "Subject"; addheader "Subject" "Changed";',
  )
  const other = await mailbox('keep;')
  await receive(appliance, { from: 'bob@out.test', to: [box.email, other.email], subject: 'First' })
  const [[changed], [same]] = [await found(box), await found(other)]
  assert.deepEqual([changed!.subject, same!.subject], ['Changed', 'First'])
  const [message] = data<Json[]>(await appliance.get('/mailbox/messages', box.key))
  const detail = data<Json>(await appliance.get(`/mailbox/messages/${message.id}?include=headers`, box.key))
  assert.ok(JSON.stringify(detail).includes('X-Sorted'))
  assert.equal((await eventsOf(box)).at(-1)!.data.subject, 'Changed')
})

test('a script sees ids again, once stored, within their time, also of messages that arrive together', async () => {
  const box = await mailbox(
    'require ["duplicate", "fileinto", "mailbox"]; if duplicate :seconds 3600 { fileinto :create "Again"; }',
  )
  const id = 'same@client.test'
  await Promise.all([1, 2, 3].map((n) => arrive(box, { id, subject: `at once ${n}` })))
  assert.deepEqual((await found(box)).map((one) => one.in).sort(), ['Again', 'Again', 'Inbox'])
  clock.advance(3_600_001)
  await arrive(box, { id, subject: 'late' })
  assert.equal((await found(box)).at(-1)!.in, 'Inbox')
})

test('a script refuses in the SMTP reply, for all recipients or for each apart', async () => {
  const strict = await mailbox(
    'require "reject"; if header :contains "subject" "offer" { reject "No offers, please"; }',
  )
  const open = await mailbox('keep;')
  await assert.rejects(arrive(strict, { subject: 'An offer' }), /550 5\.7\.1 No offers, please/)
  await arrive(strict, { subject: 'A letter' })
  assert.deepEqual(
    (await found(strict)).map(({ subject }) => subject),
    ['A letter'],
  )
  const rows = (await logOf(appliance, team.id)).filter(({ rcpt_to }) => rcpt_to === strict.email)
  assert.deepEqual(
    rows.map(({ reason }) => reason),
    ['script_refused', null],
  )
  const both = async (to: string[]) => {
    await using client = await SmtpClient.greet(appliance.ports.smtp, 'mx.out.test')
    await client.command('MAIL FROM:<bob@out.test>', 250)
    const codes = []
    for (const address of to) codes.push((await client.command(`RCPT TO:<${address}>`)).code)
    await client.command('DATA', 354)
    const content = plainMail({ from: 'bob@out.test', to: to.join(', '), subject: 'An offer for two' })
    client.write(`${content}\r\n.\r\n`)
    return [...codes, (await client.reply()).code]
  }
  assert.deepEqual(await both([strict.email, open.email]), [250, 250, 451], 'they disagree')
  assert.deepEqual(await both([strict.email, open.email]), [250, 452, 550], 'each in a transaction of its own')
  assert.deepEqual(await both([open.email]), [250, 250])
  assert.equal((await found(open)).length, 1)
})

test('a script refuses messages of this server, and no script refuses and files', async () => {
  const box = await mailbox('require "ereject"; ereject "Nothing at all";')
  const sender = await mailbox('keep;')
  const mail = { to: [{ email: box.email }], subject: 'Inside', text_body: 'x' }
  data(await appliance.call('POST', '/mailbox/messages/send', sender.key, mail), 202)
  await appliance.settle()
  assert.deepEqual(await found(box), [])
  assert.match((await found(sender)).map(({ subject }) => subject).join(), /Not delivered: Inside/)
  const confused = await mailbox('require ["reject", "fileinto"]; reject "No"; fileinto "Archive";')
  await arrive(confused, { subject: 'kept' })
  assert.equal(await only(confused), 'Inbox', 'an error keeps the message')
})

test('a script sorts by the level of spam, which is known when the message is stored', async () => {
  const box = await mailbox(
    [
      'require ["spamtest", "fileinto", "mailbox", "relational", "comparator-i;ascii-numeric"];',
      'if spamtest :value "ge" :comparator "i;ascii-numeric" "6" { fileinto :create "Spam"; }',
      'elsif spamtest :value "ge" :comparator "i;ascii-numeric" "3" { fileinto :create "Perhaps"; }',
    ].join('\n'),
  )
  await arrive(box, { subject: 'clean' })
  await arrive(box, { subject: 'SHOUTED AND LATE', from: 'bob@plain.example' })
  await arrive(box, { subject: 'forged', from: 'bob@junk.test' })
  assert.deepEqual(
    (await found(box)).map((one) => [one.subject, one.in]),
    [
      ['clean', 'Inbox'],
      ['SHOUTED AND LATE', 'Perhaps'],
      ['forged', 'Spam'],
    ],
  )
})

test('a script files by the id of a folder, whatever it is called, and by its name when it is gone', async () => {
  const box = await team.mailbox(`m${count++}@in.test`)
  const id = await folder(box, 'Bills')
  await script(
    box,
    [
      'require ["mailboxid", "fileinto", "mailbox", "imap4flags"];',
      `if mailboxidexists "${id}" { addflag "$there"; }`,
      'if mailboxidexists "fld_none" { discard; }',
      `fileinto :mailboxid "${id}" :create "Bills of old";`,
    ].join('\n'),
  )
  data(await appliance.call('PATCH', `/mailbox/folders/${id}`, box.key, { name: 'Invoices' }))
  await arrive(box, { subject: 'renamed' })
  data(await appliance.call('DELETE', `/mailbox/folders/${id}?on_messages=trash`, box.key))
  await arrive(box, { subject: 'gone' })
  const last = (await found(box)).filter((one) => one.in !== 'Trash')
  assert.deepEqual(
    last.map((one) => [one.subject, one.in, one.keywords]),
    [['gone', 'Bills of old', '']],
  )
  const [renamed] = (await found(box)).filter(({ subject }) => subject === 'renamed')
  assert.equal(renamed!.keywords, '$there')
})

const NOTIFY = [
  'require ["enotify", "variables", "fileinto", "foreverypart", "mime"];',
  'if header :matches "subject" "*" { set :encodeurl "about" "${1}"; }',
]

/** The messages of a mailbox as they are stored and shown, oldest first. */
async function textsIn(box: Box): Promise<string[]> {
  const listed = '/mailbox/messages?sort_direction=asc&limit=100'
  const messages = data<Json[]>(await appliance.get(listed, box.key))
  return Promise.all(
    messages.map(async ({ id }) => {
      const { raw } = data<Json>(await appliance.get(`/mailbox/messages/${id}/raw`, box.key))
      const { subject, text_body } = data<Json>(await appliance.get(`/mailbox/messages/${id}`, box.key))
      return `${Buffer.from(raw, 'base64')}\r\nShown: ${subject}\r\n${text_body}`
    }),
  )
}

test('a script notifies an address, in the name of the mailbox and without the links of strangers', async () => {
  const watch = await team.mailbox(`watch${count++}@in.test`)
  const box = await mailbox(
    [
      ...NOTIFY,
      `if header :contains "subject" "deploy" { notify :importance "1" :from "boss@in.test" "mailto:${watch.email}"; }`,
      `else { notify :message "Mail: \${1}" "mailto:${watch.email}?body=About%20\${about}&to=evil%40out.test"; stop; }`,
      'foreverypart { if header :mime :param "filename" :matches "content-disposition" "*.log" { fileinto "Archive"; } }',
    ].join('\n'),
  )
  await arrive(box, { subject: 'deploy finished, see https://bad.example/x' })
  await arrive(box, { subject: 'hello www.bad.example & more' })
  await appliance.settle()
  const [first, second, ...more] = await textsIn(watch)
  assert.deepEqual(more, [])
  for (const line of [
    new RegExp(`^From: ${box.email}\r$`, 'm'),
    /^Shown: New message: deploy finished, see …\r$/m,
    /^Importance: high\r$/m,
    new RegExp(`^Auto-Submitted: auto-notified; owner-email="${box.email}"\r$`, 'm'),
    /^Return-Path: <>\r$/m,
    /^From: bob@out\.test$/m,
  ]) {
    assert.match(first!, line)
  }
  assert.match(second!, /^Shown: Mail: hello … & more\r$/m)
  assert.match(second!, /^About hello … & more$/m)
  assert.ok(!`${first}${second}`.includes('bad.example'))
})

test('nothing automatic, no spam and no loop notifies anyone, and a sender has a share of the day', async () => {
  const watch = await team.mailbox(`watch${count++}@in.test`)
  const box = await mailbox(`${NOTIFY[0]} notify "mailto:${watch.email}"; discard;`)
  // Its own notifications come back to it.
  await script(watch, `${NOTIFY[0]} notify "mailto:${box.email}"; notify "mailto:${watch.email}";`)
  await arrive(box, { subject: 'automatic', more: ['Auto-Submitted: auto-generated'] })
  await arrive(box, { subject: 'forged', from: 'bob@junk.test' })
  await appliance.settle()
  assert.deepEqual(await found(watch), [])
  for (let n = 0; n < NOTIFICATIONS_PER_SOURCE + 2; n++) await arrive(box, { subject: `n${n}` })
  await arrive(box, { subject: 'other', from: 'ann@plain.example' })
  await appliance.settle()
  const subjects = (await found(watch)).map(({ subject }) => subject)
  assert.deepEqual([subjects.length, subjects.at(-1)], [NOTIFICATIONS_PER_SOURCE + 1, 'New message: other'])
  assert.deepEqual(await found(box), [])
  clock.leap(86_400_000)
  await arrive(box, { subject: 'next day' })
  await appliance.settle()
  assert.equal((await found(watch)).at(-1)!.subject, 'New message: next day')
})

test('an included script counts as it is now', async () => {
  const box = await team.mailbox(`m${count++}@in.test`)
  const put = async (name: string, content: string) =>
    data<Json>(await appliance.call('POST', '/mailbox/sieve-scripts', box.key, { name, content }), 201)
  await script(box, 'require "include"; include :optional "rules";')
  await arrive(box, { subject: '1' })
  const { id } = await put('rules', 'require "imap4flags"; keep :flags "$one";')
  await arrive(box, { subject: '2' })
  const path = `/mailbox/sieve-scripts/${id}`
  data(
    await appliance.call('PUT', path, box.key, { name: 'rules', content: 'require "imap4flags"; keep :flags "$two";' }),
  )
  await arrive(box, { subject: '3' })
  data(await appliance.call('DELETE', path, box.key))
  await arrive(box, { subject: '4' })
  assert.deepEqual(
    (await found(box)).map((one) => one.keywords),
    ['', '$one', '$two', ''],
  )
})
