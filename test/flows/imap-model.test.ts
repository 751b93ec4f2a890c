// IMAP sessions, the API and deliveries change one mailbox at random: after each step a session knows exactly what the model has.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'
import { MailboxModel, ObservingSession } from '../support/imap-model.ts'
import { Random } from '../support/random.ts'
import { SmtpClient } from '../support/smtp.ts'

// IMAP_MODEL_STEPS=10000 for the long run; `npm test` ends a file after some minutes, `node --test` does not.
const STEPS = Number(process.env.IMAP_MODEL_STEPS ?? 250)
// IMAP_MODEL_SEEDS=3,4 for others.
const SEEDS = (process.env.IMAP_MODEL_SEEDS ?? '1,2').split(',').map(Number)
const FOLDERS = ['INBOX', 'Archive', 'work']
const FLAGS = ['\\Seen', '\\Flagged', '\\Answered', '\\Deleted', '\\Deleted', 'kw1', 'kw2']
const MOST = 40

let appliance: TestAppliance
let team: TestTeam

before(async () => {
  appliance = await startAppliance()
  team = await appliance.team()
  await team.domain('acme.test')
})
after(() => appliance.close())

interface Run {
  random: Random
  model: MailboxModel
  sessions: ObservingSession[]
  writer: ImapClient
  mailbox: { email: string; key: string }
}

/** One random step. @returns what it did */
async function step({ random, model, sessions, writer, mailbox }: Run): Promise<string> {
  const session = random.pick(sessions)
  const { folder } = session
  const uid = session.known.length === 0 ? 0 : random.pick(session.known)
  const flags = [...new Set([random.pick(FLAGS), random.pick(FLAGS)])]
  const kind = uid === 0 ? 0 : random.below(11)
  const target = random.pick(FOLDERS)
  if (kind === 0 && model.entries(target).length < MOST) {
    const shared = flags.filter((flag) => flag !== '\\Deleted')
    const text = `Subject: ${random.below(1e9)}\r\n\r\nx`
    assert.match((await writer.run(`APPEND ${target} (${shared.join(' ')}) {${text.length}}`, text)).tagged, /^OK/)
    model.append(target, shared)
    return `APPEND ${target}`
  }
  if (uid === 0) return 'nothing'
  if (kind <= 4) {
    const mode = random.pick(['+', '-', ''] as const)
    const isSilent = random.chance(0.4)
    const { tagged } = await session.run(
      `UID STORE ${uid} ${mode}FLAGS${isSilent ? '.SILENT' : ''} (${flags.join(' ')})`,
    )
    assert.match(tagged, /^OK/)
    model.store(folder, uid, mode, flags)
    const now = model.entries(folder).find((entry) => entry.uid === uid)
    if (isSilent && now !== undefined) session.assume(uid, now.flags)
    return `STORE ${folder} ${uid} ${mode} ${flags}`
  }
  if (kind === 5 && model.entries(target).length < MOST) {
    await session.run(`UID COPY ${uid} ${target}`)
    model.copy(folder, uid, target)
    return `COPY ${folder} ${uid} ${target}`
  }
  if (kind === 6) {
    await session.run(`UID MOVE ${uid} ${target}`)
    model.move(folder, uid, target)
    return `MOVE ${folder} ${uid} ${target}`
  }
  if (kind === 7) {
    await session.run('EXPUNGE')
    model.expunge(folder)
    return `EXPUNGE ${folder}`
  }
  if (kind === 8) return byApi(session, uid, { random, model, mailbox })
  if (kind === 9 && model.entries('INBOX').length < MOST) return byDelivery({ random, model, mailbox })
  await session.run(
    random.pick([
      'UID FETCH 1:* (FLAGS)',
      'FETCH 1:* (UID FLAGS)',
      'SEARCH ALL',
      'UID SEARCH UNSEEN',
      'STATUS work (MESSAGES)',
    ]),
  )
  return 'reading'
}

/** The API sets or clears a flag of a message. */
async function byApi(
  session: ObservingSession,
  uid: number,
  { random, model, mailbox }: Pick<Run, 'random' | 'model' | 'mailbox'>,
): Promise<string> {
  const { folder } = session
  const { untagged } = await session.run(`UID FETCH ${uid} (EMAILID)`)
  const id = /EMAILID \((\w+)\)/.exec(untagged.join())?.[1]
  if (id === undefined) return 'nothing'
  const flagged = random.chance(0.5)
  const { status } = await appliance.call('PATCH', `/mailbox/messages/${id}`, mailbox.key, { flags: { flagged } })
  assert.equal(status, 200)
  model.store(folder, uid, flagged ? '+' : '-', ['\\Flagged'])
  return `PATCH ${folder} ${uid}`
}

/** A message arrives by SMTP. */
async function byDelivery({ random, model, mailbox }: Pick<Run, 'random' | 'model' | 'mailbox'>): Promise<string> {
  await using smtp = await SmtpClient.greet(appliance.ports.smtp)
  const content = `From: x@y.test\r\nTo: ${mailbox.email}\r\nSubject: ${random.below(1e9)}\r\n\r\ntext`
  const { code, text } = await smtp.mail({ from: 'x@y.test', to: mailbox.email, content })
  assert.equal(code, 250, text)
  model.append('INBOX', [])
  return 'delivery'
}

for (const seed of SEEDS) {
  test(`sessions know what the model has (seed ${seed}, ${STEPS} steps)`, async () => {
    const mailbox = await team.mailbox(`model${seed}@acme.test`)
    const writer = await logInImap(appliance, mailbox)
    await writer.run('CREATE work')
    const model = new MailboxModel()
    const random = new Random(seed)
    const sessions: ObservingSession[] = []
    for (const [folder, enabled, notify] of [
      ['INBOX', null, null],
      ['INBOX', 'QRESYNC', null],
      ['INBOX', 'CONDSTORE', '(selected (MessageNew (UID FLAGS) MessageExpunge FlagChange)) (personal (MailboxName))'],
      ['Archive', 'IMAP4rev2', '(selected-delayed (MessageNew MessageExpunge FlagChange))'],
      ['work', 'CONDSTORE', null],
    ] as const) {
      const client = await logInImap(appliance, mailbox)
      if (enabled !== null) await client.run(`ENABLE ${enabled}`)
      const session = new ObservingSession(client, folder)
      await session.select()
      if (notify !== null) assert.match((await session.run(`NOTIFY SET ${notify}`)).tagged, /^OK/)
      sessions.push(session)
    }
    for (let i = 0; i < STEPS; i++) {
      const done = await step({ random, model, sessions, writer, mailbox })
      await random.pick(sessions).check(model, `step ${i}: ${done}`)
    }
    for (const session of sessions) await session.check(model, 'all steps')
  })
}
