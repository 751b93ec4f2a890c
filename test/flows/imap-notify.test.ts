// NOTIFY (RFC 5465): what is announced of the selected mailbox and of others, between commands, by sessions, the API and deliveries.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'
import { sendMail } from '../support/smtp.ts'

let appliance: TestAppliance
let team: TestTeam
let boxes = 0

before(async () => {
  appliance = await startAppliance()
  team = await appliance.team()
  await team.domain('acme.test')
})
after(() => appliance.close())

interface Pair {
  mailbox: { id: string; email: string; key: string }
  /** The session that is notified. */
  client: ImapClient
  /** Another session, which changes things. */
  other: ImapClient
}

/** A mailbox with folders; the first session has set what it wants. */
async function notified(notify: string, ...commands: string[]): Promise<Pair> {
  const mailbox = await team.mailbox(`n${++boxes}@acme.test`)
  const other = await logInImap(appliance, mailbox)
  for (const name of ['Lists', 'Lists/Lemonade', 'Lists/Im2000', 'misc']) await ok(other, `CREATE ${name}`)
  const client = await logInImap(appliance, mailbox)
  for (const one of commands) await ok(client, one)
  await ok(client, `NOTIFY ${notify}`)
  return { mailbox, client, other }
}

async function ok(client: ImapClient, command: string): Promise<string[]> {
  const { tagged, untagged } = await client.run(command)
  assert.match(tagged, /^OK/, `${command}: ${tagged}`)
  return untagged
}

async function append(client: ImapClient, folder: string, subject = 'x'): Promise<void> {
  const text = `From: a@b.test\r\nTo: c@d.test\r\nSubject: ${subject}\r\n\r\ntext`
  assert.equal((await client.run(`APPEND ${folder} {${text.length}}`, text)).status, 'OK')
}

const next = (client: ImapClient) => client.response()

describe('the examples of RFC 5465 §3.1', () => {
  it('STATUS of all watched mailboxes, then new messages of the selected one with their items, and STATUS of others', async () => {
    const { mailbox, client, other } = await notified('NONE')
    await append(other, 'Lists/Lemonade')
    const set =
      'set status (selected (MessageNew (uid body.peek[header.fields (from to subject)]) MessageExpunge)) (subtree Lists (MessageNew MessageExpunge))'
    const statuses = await ok(client, `notify ${set}`)
    assert.deepEqual(statuses.map((one) => one.replace(/UIDVALIDITY \d+/, 'UIDVALIDITY v')).sort(), [
      '* STATUS Lists (MESSAGES 0 UIDNEXT 1 UIDVALIDITY v UNSEEN 0)',
      '* STATUS Lists/Im2000 (MESSAGES 0 UIDNEXT 1 UIDVALIDITY v UNSEEN 0)',
      '* STATUS Lists/Lemonade (MESSAGES 1 UIDNEXT 2 UIDVALIDITY v UNSEEN 1)',
    ])
    await ok(client, 'SELECT INBOX')
    await sendMail(appliance.ports.smtp, { from: 'x@y.test', to: mailbox.email, subject: 'hello', text: 'text' })
    assert.equal(await next(client), '* 1 EXISTS')
    assert.equal(await next(client), '* 1 RECENT')
    const fetched = (await next(client))!
    assert.match(fetched, /^\* 1 FETCH \(UID 1 BODY\[HEADER.FIELDS \(from to subject\)\] \{\d+\}\r\n/i)
    assert.match(fetched, /Subject: hello\r\n/)
    assert.ok(!fetched.includes('FLAGS'))
    await append(other, 'Lists/Lemonade')
    assert.match((await next(client))!, /^\* STATUS Lists\/Lemonade \(MESSAGES 2 UIDNEXT 3 /)
    // One more mailbox: the settings are replaced.
    await ok(
      client,
      'notify set (selected (MessageNew MessageExpunge)) (subtree Lists (MessageNew MessageExpunge)) (mailboxes misc (MessageNew MessageExpunge))',
    )
    await append(other, 'misc')
    assert.match((await next(client))!, /^\* STATUS misc \(MESSAGES 1 UIDNEXT 2 /)
  })
})

describe('the selected mailbox', () => {
  it('selected announces EXPUNGE between commands; flags only when they are wanted', async () => {
    const { client, other } = await notified('SET (selected (MessageNew MessageExpunge))', 'SELECT INBOX')
    await append(other, 'INBOX')
    await append(other, 'INBOX')
    assert.match((await next(client))!, /^\* [12] EXISTS/)
    while ((await next(client)) !== '* 2 RECENT') {}
    await ok(other, 'SELECT INBOX')
    await ok(other, 'STORE 1 +FLAGS (\\Deleted)')
    await ok(other, 'EXPUNGE')
    assert.equal(await next(client), '* 1 EXPUNGE')
    await ok(client, 'NOTIFY SET (selected (MessageNew MessageExpunge FlagChange))')
    await ok(other, 'STORE 1 +FLAGS (\\Flagged)')
    assert.match((await next(client))!, /^\* 1 FETCH \(FLAGS \(\\Flagged( \\Recent)?\)\)$/)
  })

  it('selected-delayed keeps EXPUNGE for a command that allows it', async () => {
    const { client, other } = await notified('SET (selected-delayed (MessageNew MessageExpunge))', 'SELECT INBOX')
    await append(other, 'INBOX')
    assert.equal(await next(client), '* 1 EXISTS')
    assert.equal(await next(client), '* 1 RECENT')
    await ok(other, 'SELECT INBOX')
    await ok(other, 'STORE 1 +FLAGS (\\Deleted)')
    await ok(other, 'EXPUNGE')
    await append(other, 'INBOX')
    assert.equal(await next(client), '* 2 EXISTS')
    assert.deepEqual(
      (await ok(client, 'NOOP')).filter((one) => !one.includes('RECENT')),
      ['* 1 EXPUNGE'],
    )
  })

  it('NONE announces nothing, also with commands, but what the session removes itself; SET catches up', async () => {
    const { client, other } = await notified('NONE', 'SELECT INBOX')
    await append(other, 'INBOX')
    assert.deepEqual(await ok(client, 'NOOP'), [])
    await ok(client, 'SELECT INBOX')
    await append(other, 'INBOX')
    await ok(client, 'STORE 1 +FLAGS.SILENT (\\Deleted)')
    assert.deepEqual(await ok(client, 'EXPUNGE'), ['* 1 EXPUNGE'])
    const caughtUp = await ok(client, 'NOTIFY SET (selected (MessageNew MessageExpunge FlagChange))')
    assert.deepEqual(caughtUp[0], '* 1 EXISTS')
  })

  it('IDLE announces as well, in the forms of UTF8 and QRESYNC sessions', async () => {
    const { client, other } = await notified('NONE', 'ENABLE QRESYNC IMAP4rev2', 'SELECT INBOX')
    await ok(
      client,
      'NOTIFY SET (selected-delayed (MessageNew (UID MODSEQ) MessageExpunge)) (personal (MessageNew MessageExpunge))',
    )
    client.write('i IDLE\r\n')
    assert.equal(await next(client), '+ idling')
    await append(other, 'INBOX')
    assert.equal(await next(client), '* 1 EXISTS')
    assert.match((await next(client))!, /^\* 1 FETCH \(UID 1 MODSEQ \(\d+\)\)$/)
    await append(other, 'misc')
    assert.match(
      (await next(client))!,
      /^\* STATUS misc \(MESSAGES 1 UIDNEXT 2 UIDVALIDITY \d+ UNSEEN 1 HIGHESTMODSEQ \d+\)$/,
    )
    await ok(other, 'SELECT INBOX')
    await ok(other, 'STORE 1 +FLAGS (\\Deleted)')
    await ok(other, 'EXPUNGE')
    assert.equal(await next(client), '* VANISHED 1')
    client.write('DONE\r\n')
    assert.match((await next(client))!, /^i OK/)
  })
})

describe('mailboxes', () => {
  it('creation, renaming, deletion and subscriptions are LIST responses', async () => {
    const { client, other, mailbox } = await notified('SET (personal (MailboxName SubscriptionChange))')
    await ok(other, 'CREATE new')
    assert.equal(await next(client), '* LIST (\\HasNoChildren) "/" new')
    await ok(other, 'RENAME new old')
    assert.equal(await next(client), '* LIST (\\HasNoChildren) "/" old ("OLDNAME" (new))')
    await ok(other, 'SUBSCRIBE old')
    assert.equal(await next(client), '* LIST (\\Subscribed \\HasNoChildren) "/" old')
    await ok(other, 'UNSUBSCRIBE old')
    assert.equal(await next(client), '* LIST (\\HasNoChildren) "/" old')
    await ok(other, 'DELETE old')
    assert.equal(await next(client), '* LIST (\\NonExistent) "/" old')
    // A subscription outlives its mailbox: that is no change of it.
    await ok(other, 'CREATE kept')
    await ok(other, 'SUBSCRIBE kept')
    while (!(await next(client))!.includes('Subscribed')) {}
    await ok(other, 'DELETE kept')
    assert.equal(await next(client), '* LIST (\\NonExistent) "/" kept')
    await ok(other, 'SUBSCRIBE nowhere')
    assert.equal(await next(client), '* LIST (\\NonExistent \\Subscribed) "/" nowhere')
    const created = await appliance.call('POST', '/mailbox/folders', mailbox.key, { name: 'Grüße' })
    assert.equal(created.status, 201)
    assert.equal(await next(client), '* LIST (\\Subscribed \\HasNoChildren) "/" Gr&APwA3w-e')
  })

  it('filters: subscribed, subtree, subtree-one, mailboxes; NONE ends the search for a group', async () => {
    const events = '(MessageNew MessageExpunge)'
    const heard = async (set: string, folders: string[]) => {
      const { client, other } = await notified(`SET ${set}`)
      await ok(other, 'SUBSCRIBE Lists/Im2000')
      await ok(client, 'NOOP')
      for (const folder of [...folders, 'misc']) await append(other, folder)
      const seen: string[] = []
      do seen.push(/^\* STATUS (\S+)/.exec((await next(client))!)![1]!)
      while (seen.at(-1) !== 'misc')
      client.close()
      return [...new Set(seen)].sort()
    }
    const all = ['Lists', 'Lists/Lemonade', 'Lists/Im2000']
    assert.deepEqual(await heard(`(subtree Lists ${events}) (mailboxes misc ${events})`, all), [...all, 'misc'].sort())
    assert.deepEqual(await heard(`(subscribed ${events}) (mailboxes misc ${events})`, all), ['Lists/Im2000', 'misc'])
    assert.deepEqual(await heard(`(mailboxes (Lists misc absent) ${events})`, all), ['Lists', 'misc'])
    assert.deepEqual(await heard(`(subtree Lists NONE) (inboxes ${events})`, all), ['misc'])
  })

  it('a change of flags is a STATUS for sessions with FlagChange', async () => {
    const { client, other } = await notified('NONE')
    await append(other, 'misc')
    await ok(client, 'NOTIFY SET (mailboxes (misc Lists) (MessageNew MessageExpunge FlagChange))')
    await ok(other, 'SELECT misc')
    await ok(other, 'STORE 1 +FLAGS (\\Seen)')
    assert.match((await next(client))!, /^\* STATUS misc \(MESSAGES 1 UIDNEXT 2 UIDVALIDITY \d+ UNSEEN 0\)$/)
    await ok(client, 'NOTIFY SET (mailboxes (misc Lists) (MessageNew MessageExpunge))')
    await ok(other, 'STORE 1 -FLAGS (\\Seen)')
    await append(other, 'Lists')
    assert.match((await next(client))!, /^\* STATUS Lists /)
  })

  it('the first STATUS has HIGHESTMODSEQ with FlagChange, also while CONDSTORE is not enabled', async () => {
    const { client, other } = await notified('NONE')
    const first = await ok(
      client,
      'NOTIFY SET STATUS (mailboxes misc (MessageNew MessageExpunge FlagChange)) (mailboxes Lists (MessageNew MessageExpunge))',
    )
    const items = (name: string) => first.find((line) => line.startsWith(`* STATUS ${name} `))!
    assert.match(items('misc'), / UIDVALIDITY \d+ .*HIGHESTMODSEQ \d+\)$/)
    assert.doesNotMatch(items('Lists'), /HIGHESTMODSEQ/)
    await append(other, 'misc')
    assert.match((await next(client))!, /^\* STATUS misc \(MESSAGES 1 UIDNEXT 2 UIDVALIDITY \d+ UNSEEN 1\)$/)
  })
})

describe('announcements', () => {
  it('do not get into answers and literals of commands, nor commands into theirs', async () => {
    const items = '(UID BODY.PEEK[])'
    const { client, other } = await notified(`SET (selected (MessageNew ${items} MessageExpunge))`, 'SELECT INBOX')
    const large = `Subject: large\r\n\r\n${'0123456789abcdef'.repeat(20_000)}`
    const arrived = (async () => {
      for (let i = 0; i < 3; i++) await other.run(`APPEND INBOX {${large.length}}`, large)
    })()
    const whole: string[] = []
    for (let i = 0; whole.length < 3; i++) {
      const { untagged, tagged } =
        i % 2 === 0 ? await client.run('NOOP') : await client.run('STATUS {5}', 'INBOX (UIDNEXT)')
      assert.match(tagged, /^OK/)
      whole.push(...untagged.filter((one) => one.includes('BODY[]')))
    }
    await arrived
    for (const one of whole) assert.ok(one.includes(`BODY[] {${large.length}}\r\n${large}`))
  })

  it('that fail end with NOTIFICATIONOVERFLOW, and nothing more is announced', async () => {
    const { client, other } = await notified('SET (personal (MessageNew MessageExpunge))', 'SELECT INBOX')
    const names = appliance.app.store.programs.names
    Object.assign(names, {
      list: () => {
        throw new Error('broken')
      },
    })
    await append(other, 'misc')
    assert.match((await next(client))!, /^\* OK \[NOTIFICATIONOVERFLOW\]/)
    Reflect.deleteProperty(names, 'list')
    await append(other, 'INBOX')
    assert.deepEqual(await ok(client, 'NOOP'), [])
  })
})

describe('annotations', () => {
  it('that other sessions of the mailbox set are announced without values, as far as they are wanted', async () => {
    const wanted = '(subtree Lists (MailboxMetadataChange)) (mailboxes INBOX (ServerMetadataChange))'
    const { client, other, mailbox } = await notified(`SET ${wanted}`)
    // A folder of the same name in another mailbox, what the session sets itself, and folders that are not named.
    const { other: stranger } = await notified('NONE')
    await ok(stranger, 'SETMETADATA Lists (/private/comment "theirs")')
    await ok(client, 'SETMETADATA Lists (/private/comment "own")')
    await ok(other, 'SETMETADATA misc (/private/comment "other")')
    await ok(other, 'SETMETADATA Lists/Lemonade (/private/comment "new" /Shared/Comment "x")')
    assert.equal(await next(client), '* METADATA Lists/Lemonade /private/comment /shared/comment')
    await ok(other, 'SETMETADATA "" (/private/vendor/a/b NIL)')
    assert.equal(await next(client), '* METADATA "" /private/vendor/a/b')
    await ok(other, 'CREATE Lists/New')
    await ok(other, 'SETMETADATA Lists/New (/private/comment "x")')
    assert.equal(await next(client), '* METADATA Lists/New /private/comment')
    const { untagged } = await client.run('NOTIFY SET (personal (MailboxName))')
    assert.deepEqual(untagged, [])
    await ok(await logInImap(appliance, mailbox), 'SETMETADATA Lists (/private/comment "x")')
    assert.deepEqual(await ok(client, 'NOOP'), [])
  })

  it('that a client leaves unread are bounded: NOTIFICATIONOVERFLOW', async () => {
    const { client, other } = await notified('SET (personal (MailboxMetadataChange))')
    client.write('x APPEND INBOX {3}\r\n')
    assert.match((await next(client))!, /^\+/)
    const names = (round: number) => Array.from({ length: 40 }, (_, i) => `/private/e${round}x${i} NIL`).join(' ')
    for (let round = 0; round < 26; round++) await ok(other, `SETMETADATA misc (${names(round)})`)
    client.write('x:y\r\n')
    const { tagged } = await client.until('x')
    assert.match(tagged, /^OK/)
    assert.match((await next(client))!, /^\* OK \[NOTIFICATIONOVERFLOW\]/)
  })
})

describe('what cannot be requested', () => {
  it('is BAD by its syntax, BADEVENT for unknown events, and NOTIFICATIONOVERFLOW for too much', async () => {
    const { client } = await notified('NONE')
    const answer = async (text: string) => (await client.run(`NOTIFY ${text}`)).tagged
    for (const text of [
      ...[
        '',
        'SET',
        'SET STATUS',
        'SET ()',
        'SET (personal)',
        'SET (personal (MessageNew))',
        'SET (unknown (MailboxName))',
      ],
      ...['SET (selected (FlagChange))', 'SET (selected (MailboxName))', 'SET (selected NONE) (selected-delayed NONE)'],
      ...['SET (personal (MessageNew (UID) MessageExpunge))', 'SET (subtree (MailboxName))', 'NONE NONE'],
    ])
      assert.match(await answer(text), /^BAD/, text)
    const unknown = 'SET (personal (MessageNew MessageExpunge AnnotationChange))'
    assert.match(
      await answer(unknown),
      /^NO \[BADEVENT \(MessageNew MessageExpunge FlagChange MailboxName SubscriptionChange MailboxMetadataChange ServerMetadataChange\)\]/,
    )
    const names = Array.from({ length: 251 }, (_, i) => `m${i}`).join(' ')
    const many = `SET (mailboxes (${names}) (MailboxName)) (subtree (${names}) (MailboxName))`
    assert.match(await answer(many), /^NO \[NOTIFICATIONOVERFLOW\]/)
    assert.ok((await ok(client, 'CAPABILITY'))[0]!.split(' ').includes('NOTIFY'))
  })
})
