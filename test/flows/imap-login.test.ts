// IMAP before and around the login: TLS, STARTTLS, mechanisms, what is announced when, bounds and deadlines, and how sessions end.

import assert from 'node:assert/strict'
import { after, before, describe, it, mock } from 'node:test'
import { LOGIN_MS, PROGRESS_MS, SILENCE_MS, STILL_HERE_MS } from '../../src/imap/grammar/limits.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { connectImap, connectImapPlain, type ImapClient, logInImap } from '../support/imap.ts'

let appliance: TestAppliance
let team: TestTeam
let mailbox: { id: string; email: string; key: string }
const clock = new ManualClock()

before(async () => {
  appliance = await startAppliance({ clock })
  team = await appliance.team()
  await team.domain('acme.test')
  mailbox = await team.mailbox('ada@acme.test')
})
after(() => appliance.close())

/** Reads up to the end of the connection. */
async function rest(client: ImapClient): Promise<string[]> {
  const responses: string[] = []
  for (let one = await client.response(); one !== null; one = await client.response()) responses.push(one)
  return responses
}

const plain = (secret: string) => Buffer.from(`\0${mailbox.email}\0${secret}`).toString('base64')

describe('capabilities', () => {
  it('come with the greeting and the login, and differ', async () => {
    const client = await connectImap(appliance)
    assert.match(client.greeting, /^\* OK \[CAPABILITY IMAP4rev2 IMAP4rev1 .*AUTH=PLAIN.*\]/)
    assert.doesNotMatch(client.greeting, /IDLE|LOGINDISABLED/)
    const { tagged } = await client.run(`LOGIN ${mailbox.email} ${mailbox.key}`)
    assert.match(tagged, /^OK \[CAPABILITY .*\bIDLE\b.*\bQRESYNC\b/)
    assert.doesNotMatch(tagged, /AUTH=/)
    const { untagged } = await client.run('CAPABILITY')
    assert.ok(tagged.includes(untagged[0]!.slice('* '.length)))
    client.close()
  })
})

describe('without TLS', () => {
  it('no secret is taken; STARTTLS encrypts', async () => {
    const client = await connectImapPlain(appliance)
    assert.match(client.greeting, /STARTTLS LOGINDISABLED/)
    assert.match((await client.run(`LOGIN ${mailbox.email} ${mailbox.key}`)).tagged, /^NO \[PRIVACYREQUIRED\]/)
    assert.match((await client.run(`AUTHENTICATE PLAIN ${plain(mailbox.key)}`)).tagged, /^NO \[PRIVACYREQUIRED\]/)
    assert.equal((await client.run('STARTTLS')).status, 'OK')
    await client.secure()
    assert.match((await client.run('CAPABILITY')).untagged[0]!, /AUTH=PLAIN/)
    assert.equal((await client.run(`LOGIN ${mailbox.email} ${mailbox.key}`)).status, 'OK')
    assert.equal((await client.run('STARTTLS')).status, 'BAD')
    client.close()
  })

  it('what follows STARTTLS in plain text is thrown away with the connection', async () => {
    const client = await connectImapPlain(appliance)
    client.write('a STARTTLS\r\nb NOOP\r\n')
    const answers = await rest(client)
    assert.ok(answers.some((one) => one.startsWith('* BYE')))
    assert.ok(!answers.some((one) => one.startsWith('b ')))
  })
})

describe('mechanisms', () => {
  it('PLAIN with and without an initial response, LOGIN, and cancellation', async () => {
    const client = await connectImap(appliance)
    assert.match((await client.run('AUTHENTICATE PLAIN', '*')).tagged, /^BAD/)
    assert.match((await client.run('AUTHENTICATE FOO')).tagged, /^NO \[CANNOT\]/)
    assert.equal((await client.run(`AUTHENTICATE PLAIN ${plain(mailbox.key)}`)).status, 'OK')
    client.close()
    const second = await connectImap(appliance)
    assert.equal((await second.run('AUTHENTICATE PLAIN', plain(mailbox.key))).status, 'OK')
    assert.equal((await second.run(`LOGIN ${mailbox.email} x`)).status, 'BAD')
    second.close()
    const third = await connectImap(appliance)
    third.write('a AUTHENTICATE LOGIN\r\n')
    assert.match((await third.response())!, /^\+ /)
    third.write(`${Buffer.from(mailbox.email).toString('base64')}\r\n`)
    assert.match((await third.response())!, /^\+ /)
    third.write(`${Buffer.from(mailbox.key).toString('base64')}\r\n`)
    assert.match((await third.response())!, /^a OK/)
    third.close()
  })
})

describe('bounds before login', () => {
  it('three errors end the connection', async () => {
    const client = await connectImap(appliance)
    client.write('a FOO\r\nb BAR\r\nc BAZ\r\nd NOOP\r\n')
    const answers = await rest(client)
    assert.deepEqual(
      answers.map((one) => one.slice(0, 5)),
      ['a BAD', 'b BAD', 'c BAD', '* BYE'],
    )
  })

  it('a command that needs a login is BAD, also with a literal', async () => {
    const client = await connectImap(appliance)
    assert.match((await client.run('APPEND INBOX {10}', '0123456789')).tagged, /^BAD/)
    assert.match((await client.run('SELECT INBOX')).tagged, /^BAD/)
    client.close()
  })

  it('literals of 2^63 and lines without end are refused', async () => {
    const client = await connectImap(appliance)
    assert.match((await client.run('LOGIN {9223372036854775808}')).tagged, /^BAD \[TOOBIG\]/)
    client.write(`x NOOP ${'y'.repeat(9000)}\r\n`)
    const answers = await rest(client)
    assert.deepEqual(
      answers.map((one) => one.slice(0, 5)),
      ['x BAD', '* BYE'],
    )
  })

  it('10,000 commands in one packet are answered in order', async () => {
    const client = await connectImap(appliance)
    client.write(Array.from({ length: 10_000 }, (_, i) => `n${i} NOOP\r\n`).join(''))
    for (let i = 0; i < 10_000; i++) assert.equal(await client.response(), `n${i} OK NOOP completed.`)
    client.close()
  })
})

describe('input that ends within a command', () => {
  it('is BAD with the tag of the command, and the session goes on', async () => {
    const client = await logInImap(appliance, mailbox)
    client.write('i IDLE\r\n')
    assert.equal(await client.response(), '+ idling')
    client.write('DO\0NE\r\n')
    assert.match((await client.response())!, /^i BAD/)
    client.write(`a APPEND INBOX {3+}\r\nabc${'x'.repeat(70_000)}\r\n`)
    assert.match((await client.response())!, /^a BAD/)
    assert.equal((await client.run('NOOP')).status, 'OK')
    client.close()
  })
})

describe('deadlines', () => {
  it('a login takes at most a minute', async () => {
    const client = await connectImap(appliance)
    clock.advance(LOGIN_MS + 2000)
    assert.match((await client.response())!, /^\* BYE/)
    assert.equal(await client.response(), null)
  })

  it('silence of 30 minutes ends a session; IDLE hears that the server is there', async () => {
    const client = await logInImap(appliance, mailbox)
    client.write('a IDLE\r\n')
    assert.match((await client.response())!, /^\+ /)
    clock.advance(STILL_HERE_MS + 2000)
    assert.match((await client.response())!, /^\* OK Still here/)
    client.write('DONE\r\n')
    assert.match((await client.response())!, /^a OK/)
    clock.advance(SILENCE_MS + 2000)
    assert.match((await client.response())!, /^\* BYE/)
    assert.equal(await client.response(), null)
  })
})

describe('INPROGRESS', () => {
  it('says every 10 s that a command goes on', async () => {
    const client = await logInImap(appliance, mailbox)
    const { db } = appliance.app
    for (const [tag, shown] of [
      ['a', '"a"'],
      ['b]', 'NIL'],
    ]) {
      const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const write = mock.method(db, 'write', async (work: Parameters<typeof db.write>[0]) => {
        begun.resolve()
        await release.promise
        write.mock.restore()
        return db.write(work)
      })
      client.write(`${tag} CREATE ${tag}\r\n`)
      await begun.promise
      clock.advance(PROGRESS_MS - 1000)
      for (let said = 0; said < 2; said++) {
        clock.advance(PROGRESS_MS)
        assert.equal(await client.response(), `* OK [INPROGRESS (${shown} NIL NIL)] Still working.`)
      }
      release.resolve()
      assert.deepEqual((await client.until(tag!)).untagged, [])
    }
  })
})

describe('the end of a credential', () => {
  it('ends its sessions within 30 s', async () => {
    const other = await team.mailbox('bob@acme.test')
    const client = await logInImap(appliance, other)
    const list = await appliance.get(`/mailboxes/${other.id}/api-keys`, team.key)
    const revoked = await appliance.call('DELETE', `/mailboxes/${other.id}/api-keys/${list.body.data[0].id}`, team.key)
    assert.equal(revoked.status, 200)
    clock.advance(31_000)
    assert.match((await client.response())!, /^\* BYE/)
    assert.equal(await client.response(), null)
  })
})

describe('rights', () => {
  it('a key that may only read opens read-only and changes nothing', async () => {
    const other = await team.mailbox('eve@acme.test')
    const made = await appliance.call('POST', `/mailboxes/${other.id}/api-keys`, team.key, {
      name: 'r',
      permissions: ['mailbox.read'],
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const client = await logInImap(appliance, { email: other.email, key: made.body.data.key ?? made.body.data.secret })
    assert.match((await client.run('SELECT INBOX')).tagged, /^OK \[READ-ONLY\]/)
    for (const text of [
      'STORE 1:* FLAGS ()',
      'EXPUNGE',
      'CREATE x',
      'DELETE x',
      'RENAME Sent x',
      'SUBSCRIBE x',
      'COPY 1 Sent',
      'SETMETADATA "" (/private/comment "x")',
    ])
      assert.match((await client.run(text)).tagged, /^NO \[NOPERM\]/, text)
    assert.match((await client.run('APPEND INBOX {3}')).tagged, /^NO \[NOPERM\]/)
    assert.match((await client.run('APPEND INBOX {3+}\r\nabc')).tagged, /^NO \[NOPERM\]/)
    assert.equal((await client.run('CLOSE')).status, 'OK')
    client.close()
  })
})

describe('the shutdown', () => {
  it('says so to idle sessions and lets nothing hang', async () => {
    const own = await startAppliance()
    const acme = await own.team()
    await acme.domain('acme.test')
    const box = await acme.mailbox('zoe@acme.test')
    const [idle, quiet] = [await logInImap(own, box), await logInImap(own, box)]
    idle.write('a IDLE\r\n')
    assert.match((await idle.response())!, /^\+ /)
    const closed = own.close()
    for (const client of [idle, quiet]) assert.match((await rest(client))[0]!, /^\* BYE \[UNAVAILABLE\]/)
    await closed
  })
})
