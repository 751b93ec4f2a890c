// The spam filter learns from what the owner of a mailbox does, knows senders by their history, and takes both back.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { SpamLearning } from '../../src/store/mailbox/spam-learning.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { logInImap } from '../support/imap.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { logOf, rawOf, storedMessages } from '../support/stored.ts'

const clock = new ManualClock()
const proven = { TXT: ['v=spf1 ip4:127.0.0.1 -all'] }
const names = ['shop.test', 'friend.test', 'news.test', 'other.test', 'bulk.test', 'mail.test']
const appliance = await startAppliance({
  clock,
  env: { DOMAIN_BLOCKLISTS: 'dbl.test' },
  zone: { ...Object.fromEntries(names.map((name) => [name, proven])), 'bad.example.dbl.test': { A: ['127.0.1.2'] } },
})
after(() => appliance.close())
const team = await appliance.team()
await team.domain('in.test')
const { app } = appliance

let boxes = 0
const mailbox = () => team.mailbox(`m${++boxes}@in.test`)
type Mailbox = Awaited<ReturnType<typeof mailbox>>

let sent = 0
async function receive(box: Mailbox, from: string, subject: string, text: string, envelope = from) {
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  const content = plainMail({ from, to: box.email, subject: `${subject} ${++sent}`, text })
  assert.match((await client.mail({ from: envelope, to: [box.email], content })).text, /^250 /)
  return (await storedMessages(appliance, box.id)).at(-1)!
}

const accountOf = (box: Mailbox) => app.store.accounts.byMailbox(box.id)!
const stateOf = (box: Mailbox) => app.store.spam.learning.state(accountOf(box), team.id)
const labelsOf = (box: Mailbox) =>
  app.store.spam.learning.labels(accountOf(box)).map(({ isSpam, source, sender }) => [isSpam, source, sender])
const learn = () =>
  app.store.spam.learning.run((id) => app.directory.mailboxes.byId(id)?.teamId, new AbortController().signal)
const classify = async (box: Mailbox, id: string, as: string) => {
  const answer = await appliance.call('POST', `/mailbox/messages/${id}/classify`, box.key, { as })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data as { label: string | null; effects: string[]; folder_ids: string[] }
}
const reasonsOf = ({ spam }: { spam: { reasons: string[] } }) => spam.reasons

test('a message that is moved to Junk by a mail program is learned once, and taken back by moving it out', async () => {
  const box = await mailbox()
  await receive(box, 'win@shop.test', 'Offer', 'Cheap watches')
  const imap = await logInImap(appliance, box)
  await imap.run('SELECT INBOX')
  assert.equal((await imap.run('UID MOVE 1 Junk')).status, 'OK')
  assert.deepEqual(labelsOf(box), [[true, 'mail_program', 'win@shop.test']])
  await imap.run('SELECT Junk')
  await imap.run('UID MOVE 1 INBOX')
  assert.deepEqual(labelsOf(box), [[false, 'mail_program', 'win@shop.test']], 'the same content has one label')
  await imap.run('SELECT INBOX')
  await imap.run('UID COPY 2 Junk')
  assert.deepEqual(labelsOf(box), [[true, 'mail_program', 'win@shop.test']])
  await imap.run('UID STORE 2 +FLAGS ($NotJunk)')
  assert.deepEqual(labelsOf(box), [[false, 'mail_program', 'win@shop.test']])
  await imap[Symbol.asyncDispose]()
})

test('deleting from Junk and what is imported teach nothing', async () => {
  const box = await mailbox()
  const imap = await logInImap(appliance, box)
  const text = 'From: a@shop.test\r\nSubject: x\r\n\r\nhello\r\n'
  await imap.run(`APPEND Junk ($Junk) {${text.length}}`, text)
  await imap.run('SELECT Junk')
  await imap.run('UID MOVE 1 Trash')
  assert.deepEqual(labelsOf(box), [])
  await imap[Symbol.asyncDispose]()
})

test('messages of a sender that was moved to Junk go there, and return to the Inbox when it is taken back', async () => {
  const box = await mailbox()
  const first = await receive(box, 'ann@news.test', 'Letter', 'The news of this week')
  assert.equal(first.role, 'inbox')
  assert.ok(reasonsOf(first).includes('first_contact'))
  const { effects } = await classify(box, first.id, 'spam')
  assert.ok(effects.some((sentence) => sentence.includes('ann@news.test')))
  const second = await receive(box, 'ann@news.test', 'Letter', 'The news of the next week')
  assert.deepEqual([second.role, reasonsOf(second).includes('sender_junked')], ['junk', true])
  const forged = await receive(box, 'ann@news.test', 'Letter', 'Not from there', 'x@other.test')
  assert.ok(!reasonsOf(forged).includes('sender_junked'), 'a name that nothing proves has no history')
  assert.equal((await classify(box, first.id, 'none')).label, null)
  const third = await receive(box, 'ann@news.test', 'Letter', 'The news of a third week')
  assert.equal(third.role, 'inbox')
})

test('a link to a domain on a blocklist counts, and says which', async () => {
  const box = await mailbox()
  const { spam } = await receive(box, 'ann@shop.test', 'Hello', 'See http://www.bad.example/page')
  assert.ok(spam.reasons.includes('domain_listed'), spam.reasons.join())
  const clean = await receive(box, 'ann@shop.test', 'Hello', 'See http://www.good.example/page')
  assert.ok(!reasonsOf(clean).includes('domain_listed'))
})

test('a known sender stays in the Inbox, and one that only uses the name is shown as such', async () => {
  const box = await mailbox()
  const first = await receive(box, 'bo@friend.test', 'Hello', 'How are you')
  await classify(box, first.id, 'ham')
  const offer = 'Make money fast! You have been selected for our FREE offer. 100% guaranteed. Click here to order now.'
  const known = await receive(box, 'bo@friend.test', '$5000 a week guaranteed!!!', offer)
  assert.deepEqual([known.role, reasonsOf(known).includes('sender_known')], ['inbox', true])
  const forged = await receive(box, 'bo@friend.test', '$5000 a week guaranteed!!!', offer, 'x@other.test')
  assert.equal(forged.role, 'junk')
  assert.ok(reasonsOf(forged).includes('known_sender_unproven'))
})

test('what was labeled is learned by the mailbox and its team, and forgotten with the mailbox', async () => {
  const [box, colleague] = [await mailbox(), await mailbox()]
  const words = (at: number) => `Crystal lamps number ${at} for your garden, delivered at no cost by Lumora`
  for (const owner of [box, colleague]) {
    for (let at = 0; at < 6; at++) {
      const bad = await receive(owner, `lamp${at}@bulk.test`, 'Crystal lamps', words(at))
      await classify(owner, bad.id, 'spam')
      const good = await receive(owner, `ann${at}@mail.test`, 'Minutes', `The minutes of meeting ${at} are attached`)
      await classify(owner, good.id, 'ham')
    }
  }
  assert.ok((await learn()) >= 2)
  const { mailbox: own, team: shared } = stateOf(box)
  assert.deepEqual([own!.spam, own!.ham], [6, 6])
  assert.ok(shared!.spam >= 12)
  const lamp = await receive(box, 'z@shop.test', 'Crystal lamps', words(99))
  assert.ok(reasonsOf(lamp).includes('learned'), reasonsOf(lamp).join())
  assert.ok(lamp.spam.score > 0)
  const third = await mailbox()
  assert.ok(reasonsOf(await receive(third, 'z@shop.test', 'Crystal lamps', words(98))).includes('learned'))
  const version = stateOf(box).mailbox!.version
  assert.equal(await learn(), 0, 'nothing is due')
  for (let at = 0; at < 5; at++) await receive(third, 'flood@shop.test', 'Minutes', 'The minutes of the meeting')
  assert.equal(await learn(), 0, 'a stranger teaches nothing')
  assert.equal(stateOf(box).mailbox!.version, version)
  await app.store.spam.learning.reset(accountOf(box))
  assert.deepEqual([labelsOf(box), stateOf(box).mailbox], [[], null])
  const rows = await logOf(appliance, team.id)
  assert.ok(rows.some(({ evidence }) => JSON.stringify(evidence).includes('"learned"')))
})

test('the header tells score and reasons, and no recipient reads what the mailbox of another knows', async () => {
  const [box, other] = [await mailbox(), await mailbox()]
  const first = await receive(box, 'cy@friend.test', 'Hello', 'See http://www.bad.example/page')
  const fields = (raw: string) => raw.split('\r\n\r\n')[0]!.match(/^X-Spam-.*(?:\r\n .*)*/gm)
  assert.deepEqual(fields(await rawOf(appliance, first.id)), [
    'X-Spam-Score: 5',
    'X-Spam-Flag: YES',
    'X-Spam-Reasons: domain_listed=4,\r\n dkim_none=0.5,\r\n no_reverse_name=0.5',
  ])
  await classify(box, first.id, 'spam')
  const second = await receive(box, 'cy@friend.test', 'Hello', 'Anything')
  assert.deepEqual(fields(await rawOf(appliance, second.id))!.slice(0, 2), ['X-Spam-Score: 6', 'X-Spam-Flag: YES'])
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  const content = plainMail({ from: 'cy@friend.test', to: other.email, subject: 'Both', text: 'Anything' })
  await client.mail({ from: 'cy@friend.test', to: [box.email, other.email], content })
  const [his, hers] = [await storedMessages(appliance, box.id), await storedMessages(appliance, other.id)]
  assert.deepEqual([his.at(-1)!.role, hers.at(-1)!.role], ['junk', 'inbox'])
  assert.deepEqual(fields(await rawOf(appliance, his.at(-1)!.id)), [
    'X-Spam-Score: 1',
    'X-Spam-Reasons: dkim_none=0.5,\r\n no_reverse_name=0.5',
  ])
})

test('an answer by the API labels the message as good, but not one in Junk', async () => {
  const box = await mailbox()
  const message = await receive(box, 'di@friend.test', 'Question', 'When do we meet')
  const reply = {
    to: [{ email: 'di@friend.test' }],
    subject: 'Re: Question',
    text_body: 'At three.',
    in_reply_to_message_id: message.id,
  }
  const sent = await appliance.call('POST', '/mailbox/messages/send', box.key, reply)
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  assert.deepEqual(labelsOf(box), [[false, 'answer', 'di@friend.test']])
  const junk = await receive(box, 'ed@friend.test', 'Question', 'When do we meet')
  await classify(box, junk.id, 'spam')
  await appliance.call('POST', '/mailbox/messages/send', box.key, { ...reply, in_reply_to_message_id: junk.id })
  assert.equal(labelsOf(box).filter(([isSpam]) => isSpam).length, 1)
})

test('labels of an earlier set of features are read and learned again', async () => {
  const box = await mailbox()
  for (const as of ['spam', 'ham']) {
    const message = await receive(box, 'flo@friend.test', 'Hello', `A message that is ${as}`)
    await classify(box, message.id, as)
  }
  await learn()
  const { n } = accountOf(box)
  const { models } = app.store.spam
  assert.equal(models.of(box.id, team.id).length, 2)
  await app.db.write((tx) => {
    tx.run("UPDATE spam_labels SET feature_set = 0, features = x'00' WHERE account = ?", [n])
    tx.run('UPDATE spam_models SET feature_set = 0 WHERE owner IN (?, ?)', [box.id, team.id])
  })
  assert.equal(models.of(box.id, team.id).length, 0, 'weights of other features say nothing')
  const { db, vault, store } = app
  const restarted = new SpamLearning({ db, clock, vault, blobs: store.blobs, accounts: store.accounts, models })
  await restarted.run((id) => app.directory.mailboxes.byId(id)?.teamId, new AbortController().signal)
  assert.equal(models.of(box.id, team.id).length, 2)
})
