// What an outside account does when something is wrong or unusual: states, removals held back, full mailboxes, collecting, labels.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ServerError } from '../../src/sync/model/server.ts'
import type { Json } from '../support/appliance.ts'
import { eventually } from '../support/eventually.ts'
import { ModelAccount } from '../support/model-account.ts'
import { type ModelMailbox, type ModelSetup, modelMessage, startModels } from '../support/outside-model.ts'
import { signInMember } from '../support/person.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let models: ModelSetup
before(async () => {
  models = await startModels()
})
after(() => models[Symbol.asyncDispose]())

const act = (mailbox: ModelMailbox, action: string) =>
  models.appliance.call('POST', `/remote-accounts/${mailbox.id}/${action}`, models.team.key)

async function eventsOf(mailbox: ModelMailbox): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const sql = 'SELECT body FROM events WHERE mailbox_id = ? ORDER BY n'
  const rows = await models.appliance.app.db.scan.all<{ body: string }>(sql, [mailbox.mailboxId])
  return rows.map(({ body }) => JSON.parse(body))
}

/** An account with messages in its Inbox, imported. */
async function filled(count: number): Promise<ModelMailbox> {
  const mailbox = await models.attach({}, (account) => {
    for (let n = 0; n < count; n++) account.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
  })
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, count)
  return mailbox
}

test('a wrong password is tried twice, then the account waits for a change', async () => {
  const mailbox = await filled(1)
  mailbox.account.fault = (command) => {
    const kind = command === 'LOGIN' ? { kind: 'credentials' as const } : {}
    throw new ServerError(command === 'LOGIN' ? 'failed' : 'delay', `${command} fails.`, kind)
  }
  await act(mailbox, 'sync')
  await models.appliance.settle()
  const first = await mailbox.record()
  assert.equal(first.status, 'delayed')
  models.clock.advance(20_000)
  await models.appliance.settle()
  assert.equal((await mailbox.record()).status, 'delayed')
  models.clock.advance(60_000)
  await models.appliance.settle()
  assert.equal((await mailbox.record()).status, 'error')
  assert.deepEqual(
    (await eventsOf(mailbox)).map(({ type, data }) => [type, data.reason]),
    [
      ['remote_account.imported', undefined],
      ['remote_account.failed', 'credentials'],
    ],
  )
  models.clock.advance(DAY)
  await models.appliance.settle()
  assert.equal((await mailbox.record()).status, 'error')
  mailbox.account.fault = () => {}
  await mailbox.import(modelMessage(), mailbox.store.read.folders.byRole(mailbox.mail.n, 'inbox').id)
  await act(mailbox, 'resume')
  await mailbox.settle(1)
  assert.equal((await mailbox.record()).status, 'active')
  mailbox.assertEqual('what was stored meanwhile is there')
})

test('accounts of suspended mailboxes do not keep the others from being followed', async () => {
  const held = await filled(1)
  const { app } = models.appliance
  assert.equal(
    (await models.appliance.call('POST', `/mailboxes/${held.mailboxId}/suspend`, models.team.key, {})).status,
    200,
  )
  const before = app.db.read.get('SELECT * FROM remote_accounts WHERE id = ?', [held.id])!
  await app.db.write((tx) => {
    for (let n = 0; n < 120; n++) {
      const { n: _, ...row } = before
      const id = `racc_${String(n).padStart(24, '0')}`
      tx.insert('remote_accounts', {
        ...row,
        id,
        mode: 'collect',
        email: `held${n}@elsewhere.test`,
        synced_at: 0,
        lease_until: null,
      })
    }
  })
  const other = await filled(2)
  assert.equal((await other.record()).status, 'active')
  other.account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  await act(other, 'pause')
  await act(other, 'resume')
  await other.settle(1)
  assert.equal(other.here().length, 3)
  await app.db.write((tx) => tx.run(`DELETE FROM remote_accounts WHERE email LIKE 'held%'`))
})

test('messages are counted when they are stored here, and at the server', async () => {
  const { accounts } = models.appliance.app.sync
  const counts = () => accounts.carried().map(({ messages }) => messages)
  const [here, there] = counts()
  const mailbox = await filled(3)
  const inbox = mailbox.store.read.folders.byRole(mailbox.mail.n, 'inbox').id
  await mailbox.import(modelMessage(), inbox)
  mailbox.account.setFlags('INBOX', 1, { add: ['\\Seen'], remove: [] })
  await mailbox.settle(2)
  mailbox.assertEqual('one of each')
  assert.deepEqual(counts(), [here! + 3, there! + 1])
})

test('changes that are made while an account is paused are sent when it is resumed', async () => {
  const mailbox = await filled(3)
  await act(mailbox, 'pause')
  await models.appliance.settle()
  const [one] = mailbox.numbers()
  const { id } = mailbox.store.programs.mail.placements(mailbox.mail, [one!]).get(one!)!
  await mailbox.store.edit.messages.change(mailbox.mail, [id], { keywords: { add: ['$flagged'] } })
  mailbox.account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.settle(1)
  assert.notDeepEqual(mailbox.here(), mailbox.there())
  await act(mailbox, 'resume')
  await mailbox.settle(1)
  mailbox.assertEqual('after it was resumed')
})

test('a connection that the server ends after a minute is made again at once, an earlier one after a delay', async () => {
  const mailbox = await filled(1)
  const { account } = mailbox
  let signIns = 0
  const endsOnce = () => {
    let isDue = true
    account.fault = (command, moment) => {
      if (command === 'LOGIN') signIns++
      else if (isDue && moment === 'before') {
        isDue = false
        throw new ServerError('delay', 'The server ended the connection.', { isEnd: true })
      }
    }
  }
  await act(mailbox, 'pause')
  await models.appliance.settle()
  await act(mailbox, 'resume')
  await models.appliance.settle()
  models.clock.advance(59_000)
  await models.appliance.settle()
  endsOnce()
  models.clock.advance(1000)
  await act(mailbox, 'sync')
  await models.appliance.settle()
  assert.deepEqual([(await mailbox.record()).status, signIns], ['active', 1])
  endsOnce()
  models.clock.advance(11_000)
  await act(mailbox, 'sync')
  await models.appliance.settle()
  assert.deepEqual([(await mailbox.record()).status, signIns], ['delayed', 1])
})

test('a folder that is suddenly empty keeps its messages here for 15 minutes', async () => {
  const mailbox = await filled(150)
  const { messages } = mailbox.account.folder('INBOX')
  for (const uid of [...messages.keys()].slice(0, 140)) mailbox.account.remove('INBOX', uid)
  await models.appliance.settle()
  await mailbox.settle(2)
  assert.equal(mailbox.here().length, 150)
  models.clock.advance(16 * MINUTE)
  await mailbox.settle(2)
  mailbox.assertEqual('after a second look')
})

test('more than 1,000 messages wait for a confirmation', async () => {
  const mailbox = await filled(1100)
  const { messages } = mailbox.account.folder('INBOX')
  for (const uid of [...messages.keys()].slice(0, 1050)) mailbox.account.remove('INBOX', uid)
  await mailbox.settle(2)
  models.clock.advance(16 * MINUTE)
  await mailbox.settle(2)
  assert.equal(mailbox.here().length, 1100)
  const failed = (await eventsOf(mailbox)).filter(({ type }) => type === 'remote_account.failed')
  assert.deepEqual(
    failed.map(({ data }) => data.reason),
    ['mass_removal'],
  )
  assert.equal((await act(mailbox, 'confirm-removal')).status, 200)
  await mailbox.settle(2)
  mailbox.assertEqual('after the confirmation')
  assert.equal((await act(mailbox, 'confirm-removal')).status, 409)
})

test('what is gone after a confirmation is held back by itself', async () => {
  const mailbox = await filled(1300)
  const uids = [...mailbox.account.folder('INBOX').messages.keys()]
  for (const uid of uids.slice(0, 1050)) mailbox.account.remove('INBOX', uid)
  await mailbox.settle(2)
  models.clock.advance(16 * MINUTE)
  await mailbox.settle(2)
  const held = async () => (await mailbox.record()).held_removals.map(({ messages }: Json) => messages)
  assert.deepEqual(await held(), [1050])
  assert.equal((await act(mailbox, 'pause')).status, 200)
  await models.appliance.settle()
  assert.equal((await act(mailbox, 'confirm-removal')).status, 200)
  for (const uid of uids.slice(1050, 1200)) mailbox.account.remove('INBOX', uid)
  assert.equal((await act(mailbox, 'resume')).status, 200)
  await mailbox.settle(1)
  assert.deepEqual([mailbox.here().length, await held()], [250, []])
  models.clock.advance(16 * MINUTE)
  await mailbox.settle(2)
  mailbox.assertEqual('after a second look')
})

test('messages that come back in time are the same as before', async () => {
  const mailbox = await filled(130)
  const { account } = mailbox
  const folder = account.folder('INBOX')
  const kept = [...folder.messages.values()]
  for (const { uid } of kept) account.remove('INBOX', uid)
  await mailbox.settle(2)
  const before = mailbox.numbers()
  const { fetched } = account
  for (const message of kept)
    folder.messages.set(folder.uidNext, { ...message, uid: folder.uidNext++, modSeq: account.touch() })
  account.touch(folder)
  await mailbox.settle(2)
  assert.deepEqual(mailbox.numbers(), before)
  assert.equal(account.fetched, fetched)
  mailbox.assertEqual('after they came back')
})

test('UIDs that mean other messages: nothing is fetched again', async () => {
  const mailbox = await filled(60)
  const before = mailbox.numbers()
  const { fetched } = mailbox.account
  mailbox.account.renumber('INBOX')
  await mailbox.settle(2)
  mailbox.assertEqual('after the change of UIDVALIDITY')
  assert.deepEqual([mailbox.numbers(), mailbox.account.fetched], [before, fetched])
})

test('the import of a full mailbox waits for room', async () => {
  const large = 'x'.repeat(3_200_000)
  const mailbox = await models.attach(
    {},
    (account) => {
      for (let n = 0; n < 5; n++) account.add('INBOX', modelMessage(large), { receivedAt: n * 1000 })
    },
    { quota_bytes: 10_485_760 },
  )
  await models.appliance.settle()
  const record = await mailbox.record()
  assert.equal(record.status, 'delayed')
  assert.match(record.status_reason, /full/)
  assert.equal(mailbox.here().length, 3)
  const path = `/mailboxes/${mailbox.mailboxId}`
  const raised = await models.appliance.call('PATCH', path, models.team.key, { quota_bytes: 104_857_600 })
  assert.equal(raised.status, 200, JSON.stringify(raised.body))
  await mailbox.settle(4)
  mailbox.assertEqual('with room')
})

test('in a full mailbox new messages wait, and changes made here are sent', async () => {
  const large = 'x'.repeat(3_200_000)
  const fill = (account: ModelAccount) => {
    for (let n = 0; n < 2; n++) account.add('INBOX', modelMessage(large), { receivedAt: n * 1000 })
  }
  const mailbox = await models.attach({}, fill, { quota_bytes: 10_485_760 })
  await mailbox.settle(1)
  mailbox.assertEqual('after the import')
  fill(mailbox.account)
  const [n] = mailbox.numbers()
  const { id } = mailbox.store.programs.mail.placements(mailbox.mail, [n!]).get(n!)!
  await mailbox.store.edit.messages.change(mailbox.mail, [id], { keywords: { add: ['$flagged'] } })
  await mailbox.settle(2)
  const { fetched } = mailbox.account
  await mailbox.settle(2)
  assert.equal(mailbox.account.fetched, fetched, 'what does not fit is not fetched again and again')
  const { status, status_reason: reason } = await mailbox.record()
  assert.equal(status, 'active')
  assert.match(reason, /^The mailbox is full: new messages wait at the server\./)
  assert.equal(mailbox.there().filter((line) => line.includes('$flagged')).length, 1)
  const path = `/mailboxes/${mailbox.mailboxId}`
  await models.appliance.call('PATCH', path, models.team.key, { quota_bytes: 104_857_600 })
  await mailbox.settle(2)
  mailbox.assertEqual('with room')
  assert.equal((await mailbox.record()).status_reason, null)
})

/** Counts the rows that are read of a table outside of units of work, until it is disposed. */
function countRows(table: string): { count: number } & Disposable {
  const { read } = models.appliance.app.db
  const { all } = read
  const rows = { count: 0, [Symbol.dispose]: () => void Object.assign(read, { all }) }
  const counting: typeof all = (sql, values) => {
    const found = all.call(read, sql, values)
    if (sql.includes(table)) rows.count += found.length
    return found as never
  }
  Object.assign(read, { all: counting })
  return rows
}

test('what a full server does not take is not sent one by one, and costs the same for each message', async () => {
  const mailbox = await filled(1)
  const inbox = mailbox.store.read.folders.byRole(mailbox.mail.n, 'inbox').id
  for (let n = 0; n < 250; n++) await mailbox.import(modelMessage(), inbox)
  let refused = 0
  mailbox.account.fault = (command, moment) => {
    if (command !== 'APPEND' || moment !== 'before') return
    refused++
    throw new ServerError('refused', 'The account is full.', { kind: 'quota' })
  }
  using rows = countRows('remote_intents')
  await mailbox.settle(1)
  assert.equal(refused, 1)
  const sentence = '250 messages were changed here, and are not so at the server. The account is full.'
  assert.equal((await mailbox.record()).status_reason, sentence)
  models.clock.advance(61 * MINUTE)
  await mailbox.settle(1)
  assert.equal(refused, 2)
  mailbox.account.fault = () => {}
  models.clock.advance(61 * MINUTE)
  await mailbox.settle(1)
  mailbox.assertEqual('with room')
  assert.ok(rows.count <= 10 * 250, `${rows.count} rows`)
})

test('a message that a server dates in the future was received now', async () => {
  const mailbox = await models.attach({}, (account) => {
    account.add('INBOX', modelMessage(), { receivedAt: Date.UTC(9999, 11, 31) })
  })
  await mailbox.settle(1)
  const [placed] = mailbox.store.programs.mail.placements(mailbox.mail, mailbox.numbers()).values()
  assert.ok(placed!.receivedAt <= models.clock.now())
  const before = mailbox.numbers()
  mailbox.account.renumber('INBOX')
  await mailbox.settle(2)
  assert.deepEqual(mailbox.numbers(), before)
})

test('accounts that may not be read now do not keep others from working', async () => {
  const pace = Promise.withResolvers<void>()
  const slow: ModelMailbox[] = []
  const add = (account: ModelAccount) => void account.add('INBOX', modelMessage(), { receivedAt: 1000 })
  for (let n = 0; n < 7; n++) {
    const mailbox = await models.attach({}, (account) => {
      add(account)
      account.pace = () => pace.promise
    })
    slow.push(mailbox)
  }
  const other = await models.attach({}, add)
  await eventually(
    () => other.here().length,
    (count) => count === 1,
  )
  assert.deepEqual(
    slow.flatMap((mailbox) => mailbox.here()),
    [],
  )
  pace.resolve()
  await models.appliance.settle()
  for (const mailbox of slow) assert.equal(mailbox.here().length, 1)
})

test('with one connection for all, two accounts take turns', async () => {
  await using setup = await startModels({ REMOTE_CONNECTIONS: '1' })
  const add = (account: ModelAccount) => void account.add('INBOX', modelMessage(), { receivedAt: 1000 })
  const mailboxes = [await setup.attach({}, add), await setup.attach({}, add)]
  const counts = () => {
    setup.clock.advance(10_000)
    return mailboxes.map((mailbox) => mailbox.here().length)
  }
  await eventually(counts, (found) => found.every((count) => count === 1))
  for (const { account } of mailboxes) add(account)
  await eventually(counts, (found) => found.every((count) => count === 2))
  assert.equal(setup.connections.most, 1)
})

test('after the import the UIDs of mail programs are in the order of receipt', async () => {
  const mailbox = await filled(40)
  const inbox = mailbox.store.read.folders.byRole(mailbox.mail.n, 'inbox').n
  const entries = mailbox.store.programs.views.entries(inbox, [{ first: 1, last: 2 ** 32 }], 100)
  assert.equal(entries.length, 40)
  assert.deepEqual(
    entries,
    entries.toSorted((a, b) => a.receivedAt - b.receivedAt),
  )
  assert.ok(entries[0]!.uid > 40)
})

test('a mailbox collects each message once, and changes nothing there', async () => {
  const domain = 'collects.test'
  await models.team.domain(domain)
  const hosted = await models.team.mailbox(`me@${domain}`)
  const mailbox = await models.attach(
    {},
    (account) => {
      account.create('Work')
      account.create('Junk', 'junk')
      account.add('INBOX', modelMessage(), { flags: ['\\Seen'] })
      account.add('Work', modelMessage())
      account.add('Junk', modelMessage())
      // Without Message-ID, of one size and time: two messages.
      for (const [path, word] of [
        ['INBOX', 'one'],
        ['Work', 'two'],
      ] as const)
        account.add(path, Buffer.from(`Subject: ${word}\r\n\r\n`), { flags: ['\\Flagged'] })
    },
    { mode: 'collect', mailbox_id: hosted.id },
  )
  await mailbox.settle(1)
  const there = mailbox.there()
  const list = async () => (await models.appliance.get('/mailbox/messages', hosted.key)).body.data
  const everything = await list()
  const nameless = everything.filter(({ flags }: { flags: { flagged: boolean } }) => flags.flagged)
  assert.deepEqual(nameless.map(({ subject }: { subject: string }) => subject).sort(), ['one', 'two'])
  for (const { id } of nameless)
    await models.appliance.call('DELETE', `/mailbox/messages/${id}?permanent=true`, hosted.key)
  const collected = await list()
  assert.equal(collected.length, 2)
  assert.deepEqual(collected.map(({ flags }: { flags: { seen: boolean } }) => flags.seen).sort(), [false, true])
  await models.appliance.call('DELETE', `/mailbox/messages/${collected[0].id}?permanent=true`, hosted.key)
  mailbox.account.move('Work', 1, 'INBOX')
  await mailbox.settle(2)
  assert.equal((await list()).length, 1)
  assert.equal(mailbox.there().length, there.length)
  mailbox.account.add('INBOX', modelMessage(), { receivedAt: models.clock.now() })
  await mailbox.settle(2)
  assert.equal((await list()).length, 2)
})

test('labels are folders, and a message may be in several', async () => {
  const ALL = '[Gmail]/All Mail'
  const mailbox = await models.attach({ labels: true }, (account) => {
    account.create('Work')
    account.create('Travel')
    account.add(ALL, modelMessage(), { labels: ['\\Inbox', 'Work'] })
    account.add(ALL, modelMessage(), { labels: [], flags: ['\\Seen'] })
    account.add(ALL, modelMessage(), { labels: ['\\Important', '\\Inbox'] })
    account.add('[Gmail]/Trash', modelMessage())
  })
  await mailbox.settle(1)
  const paths = () =>
    mailbox.here().map((line) =>
      line
        .split(' ')
        .filter((part) => !/^[0-9a-f]{12}$/.test(part))
        .join(' '),
    )
  const all = ['Archive $seen', 'INBOX', 'INBOX $important', 'Trash', 'Work']
  assert.deepEqual(paths().sort(), all)
  const { account } = mailbox
  account.setLabels(ALL, 1, { add: ['Travel'], remove: ['Work'] })
  account.setLabels(ALL, 2, { add: ['\\Inbox'], remove: [] })
  await mailbox.settle(2)
  assert.deepEqual(paths().sort(), ['INBOX', 'INBOX $important', 'INBOX $seen', 'Trash', 'Travel'])
  const folder = (path: string) => mailbox.store.read.folders.paths(mailbox.mail).find((one) => one.path === path)!
  const numbers = mailbox.numbers()
  const placed = mailbox.store.programs.mail.placements(mailbox.mail, numbers)
  const inTravel = [...placed.values()].find(({ entries }) =>
    entries.some((entry) => entry.folder === folder('Travel').n),
  )!
  await mailbox.store.edit.messages.change(mailbox.mail, [inTravel.id], { folders: { set: [folder('Work').id] } })
  await mailbox.settle(1)
  assert.deepEqual([...account.folder(ALL).messages.get(1)!.labels], ['Work'])
  await mailbox.store.edit.messages.change(mailbox.mail, [inTravel.id], { folders: { set: [folder('Archive').id] } })
  await mailbox.settle(1)
  assert.deepEqual([...account.folder(ALL).messages.get(1)!.labels], [])
  await mailbox.store.edit.messages.change(mailbox.mail, [inTravel.id], { folders: { set: [folder('Trash').id] } })
  await mailbox.settle(2)
  assert.equal(account.folder('[Gmail]/Trash').messages.size, 2)
  assert.equal(account.folder(ALL).messages.size, 2)
  await mailbox.store.edit.messages.change(mailbox.mail, [inTravel.id], { folders: { set: [folder('Inbox').id] } })
  await mailbox.settle(1)
  const back = [...account.folder(ALL).messages.values()].at(-1)!
  assert.deepEqual([account.folder(ALL).messages.size, [...back.labels]], [3, ['\\Inbox']], 'out of Trash')
  await mailbox.store.edit.messages.change(mailbox.mail, [inTravel.id], { folders: { set: [folder('Trash').id] } })
  await mailbox.settle(2)
  assert.equal(account.folder(ALL).messages.size, 2)
  await mailbox.import(modelMessage(), folder('Work').id)
  await mailbox.settle(2)
  const [last] = [...account.folder(ALL).messages.values()].slice(-1)
  assert.deepEqual([...last!.labels], ['Work'])
  assert.equal(mailbox.numbers().length, 5)
})

test('what was known of an account is gone after it was deleted', async () => {
  const mailbox = await filled(3)
  const [row] = models.appliance.app.db.read.all<{ n: number }>('SELECT n FROM remote_accounts WHERE id = ?', [
    mailbox.id,
  ])
  const known = () =>
    models.appliance.app.db.read.get<{ folders: number; messages: number }>(
      `SELECT count(DISTINCT f.n) AS folders, count(m.uid) AS messages
       FROM remote_folders f LEFT JOIN remote_messages m ON m.remote_folder = f.n WHERE f.remote = ?`,
      [row!.n],
    )
  assert.equal(known()!.messages, 3)
  const path = `/remote-accounts/${mailbox.id}?on_messages=erase`
  assert.equal((await models.appliance.call('DELETE', path, models.team.key)).status, 200)
  await models.appliance.settle()
  assert.deepEqual({ ...known() }, { folders: 0, messages: 0 })
})

test('with another server the account goes on; at another account nothing is matched, removed or sent', async () => {
  const { appliance, team } = models
  const mailbox = await filled(30)
  const { account } = mailbox
  const inbox = account.folder('INBOX')
  const change = (body: object) =>
    appliance.call('PATCH', `/remote-accounts/${mailbox.id}`, team.key, { password: 'a password', ...body })

  const { fetched } = account
  assert.equal((await change({ imap_host: '127.0.0.2' })).body.data.status, 'pending')
  account.remove('INBOX', 3)
  await mailbox.settle(2)
  assert.deepEqual([(await mailbox.record()).status, account.fetched], ['active', fetched])
  mailbox.assertEqual('at the new server')

  // Equal numbers, other messages: fewer than would be held back.
  const before = mailbox.here()
  const other = new ModelAccount()
  for (let n = 0; n < 25; n++) other.add('INBOX', modelMessage(), { receivedAt: n * 1000 })
  const { uidValidity, uidNext } = inbox
  account.folders.set('INBOX', Object.assign(other.folder('INBOX'), { uidValidity, uidNext }))
  const there = mailbox.there()
  await change({ imap_username: 'ben@elsewhere.test' })
  await mailbox.settle(3)
  const { status, status_reason: reason } = await mailbox.record()
  assert.equal(status, 'error')
  assert.match(reason, /it is another account/)
  assert.deepEqual([mailbox.here(), mailbox.there()], [before, there])

  const [n] = mailbox.numbers()
  const { id } = mailbox.store.programs.mail.placements(mailbox.mail, [n!]).get(n!)!
  await mailbox.store.edit.messages.change(mailbox.mail, [id], { keywords: { add: ['later'] } })
  account.folders.set('INBOX', inbox)
  await change({ imap_username: 'm@elsewhere.test' })
  await mailbox.settle(3)
  mailbox.assertEqual('with the former account')
})

test('a stored password is not sent without TLS', async () => {
  const mailbox = await filled(1)
  const change = (body: object) =>
    models.appliance.call('PATCH', `/remote-accounts/${mailbox.id}`, models.team.key, body)
  assert.equal((await change({ imap_protocol: 'ssl' })).status, 200)
  const refused = await change({ imap_protocol: 'none' })
  assert.deepEqual([refused.status, refused.body.error.param], [422, 'password'])
  assert.equal((await change({ imap_protocol: 'none', password: 'a password' })).status, 200)
})

const reasonsOf = async (mailbox: ModelMailbox) => {
  const path = `/remote-accounts/${mailbox.id}/folders`
  const { body } = await models.appliance.get(path, models.team.key)
  return body.data.map(({ reason }: Json) => reason).filter((reason: string | null) => reason !== null)
}

test('a message with more labels than it can have folders keeps its labels there, and people are told', async () => {
  const ALL = '[Gmail]/All Mail'
  const labels = Array.from({ length: 11 }, (_, n) => `L${n}`)
  const mailbox = await models.attach({ labels: true }, (account) => {
    for (const label of labels) account.create(label)
    account.add(ALL, modelMessage(), { labels: labels.slice(0, 10) })
  })
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, 10)
  mailbox.account.setLabels(ALL, 1, { add: ['L10'], remove: [] })
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, 10)
  assert.match((await reasonsOf(mailbox)).join(), /in more than 10 folders/)
  const [placed] = mailbox.store.programs.mail.placements(mailbox.mail, mailbox.numbers()).values()
  await mailbox.store.edit.messages.change(mailbox.mail, [placed!.id], { keywords: { add: ['$flagged'] } })
  await mailbox.settle(1)
  const [there] = mailbox.account.folder(ALL).messages.values()
  assert.deepEqual([[...there!.flags], there!.labels.size], [['\\Flagged'], 11])
  mailbox.account.setLabels(ALL, 1, { add: [], remove: ['L0', 'L1'] })
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, 9)
  // One that came with all of them can still be changed here.
  mailbox.account.add(ALL, modelMessage(), { labels, receivedAt: models.clock.now() })
  await mailbox.settle(1)
  const last = mailbox.store.programs.mail.placements(mailbox.mail, mailbox.numbers().slice(-1)).values().next().value!
  await mailbox.store.edit.messages.change(mailbox.mail, [last.id], { keywords: { add: ['$flagged'] } })
  await mailbox.settle(1)
  const [, second] = mailbox.account.folder(ALL).messages.values()
  assert.deepEqual([[...second!.flags], second!.labels.size], [['\\Flagged'], 11])
})

test('a copy in an eleventh folder stays there, and people are told', async () => {
  const paths = Array.from({ length: 11 }, (_, n) => `F${n}`)
  const mailbox = await models.attach({ objectIds: true }, (account) => {
    for (const path of paths) account.create(path)
    account.add('F0', modelMessage())
    for (const path of paths.slice(1, 10)) account.copy('F0', 1, path)
  })
  await mailbox.settle(1)
  assert.deepEqual([mailbox.numbers().length, mailbox.here().length], [1, 10])
  mailbox.account.copy('F0', 1, 'F10')
  await mailbox.settle(2)
  const [placed] = mailbox.store.programs.mail.placements(mailbox.mail, mailbox.numbers()).values()
  await mailbox.store.edit.messages.change(mailbox.mail, [placed!.id], { keywords: { add: ['$flagged'] } })
  await mailbox.settle(2)
  assert.deepEqual([mailbox.there().length, mailbox.numbers().length, mailbox.here().length], [11, 1, 10])
  assert.match((await reasonsOf(mailbox)).join(), /in more than 10 folders/)
})

test('a sign-in link that arrives in a mirror is revoked, and no more are mailed to its address', async () => {
  const { appliance, team } = models
  const { people, db } = appliance.app
  const mailbox = await filled(1)
  const { email } = await mailbox.record()
  const person = await signInMember(appliance, team.id, 'admin', email)
  const isOffered = async () => (await person.get('/me/v1/self')).body.data.sign_in.links
  // Anyone may attach an address at a server of their own.
  assert.equal(await isOffered(), true)

  const token = people.links.newToken()
  await db.write((tx) => people.links.make(tx, token, { email, teamId: null, mailboxId: null, shownBy: null }, 900_000))
  assert.notEqual(people.links.read(token), undefined)
  const text = `From: a@example.com\r\nSubject: Sign in\r\n\r\n${people.links.urlOf(token)}\r\n`
  mailbox.account.add('INBOX', Buffer.from(text), { receivedAt: models.clock.now() })
  await mailbox.settle(1)
  assert.equal(mailbox.here().length, 2)
  assert.equal(people.links.read(token), undefined)
  assert.equal(await isOffered(), false)
  assert.deepEqual(people.linkMailPolicy(email.toUpperCase()), { mailed: false })

  const path = `/remote-accounts/${mailbox.id}?on_messages=erase`
  assert.equal((await appliance.call('DELETE', path, team.key)).status, 200)
  assert.equal(people.linkMailPolicy(email).mailed, true)
})
