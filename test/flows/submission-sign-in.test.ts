// Submission before and around the sign-in: what is offered when, mechanisms, refusals, limits, deadlines, and how sessions end.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { selfSigned } from '../../src/config/certificate.ts'
import { COMMAND_MS } from '../../src/smtp/limits.ts'
import { CONNECTIONS_PER_MAILBOX_MAX, SIGN_IN_MS } from '../../src/submission/limits.ts'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { scramClient } from '../support/mail-program.ts'
import { SmtpClient } from '../support/smtp.ts'
import { connectSubmission, plainCredentials, signInToSubmit } from '../support/submission.ts'

/** Reports the delay of a failed sign-in, so that the test can let it pass. */
class DelayClock extends ManualClock {
  onDelay: (ms: number) => void = () => {}

  override after(ms: number, run: () => void) {
    const timer = super.after(ms, run)
    if (ms >= 1000 && ms <= 16_000) this.onDelay(ms)
    return timer
  }
}

const clock = new DelayClock()
const PROXY = '127.0.0.9'
const MAX_PER_ADDRESS = 40
let folder: string
let appliance: TestAppliance
let team: TestTeam
let ada: { id: string; email: string; key: string }
let password: string
let mailboxes = 0

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-submission-'))
  await renewCertificate()
  appliance = await startAppliance({
    clock,
    env: {
      ...EASY_WORK,
      TLS_CERT_FILE: join(folder, 'cert.pem'),
      TLS_KEY_FILE: join(folder, 'key.pem'),
      PROXY_PROTOCOL_FROM: PROXY,
      SUBMISSION_MAX_PER_ADDRESS: String(MAX_PER_ADDRESS),
    },
  })
  team = await appliance.team()
  await team.domain('acme.test')
  ada = await team.mailbox('ada@acme.test')
  password = await appPassword(ada.id)
})
after(async () => {
  await appliance.close()
  await rm(folder, { recursive: true })
})

async function renewCertificate(): Promise<void> {
  const { cert, key } = await selfSigned('mx.mailstead.test', Date.UTC(2020, 0), Date.UTC(2040, 0))
  await writeFile(join(folder, 'cert.pem'), cert)
  await writeFile(join(folder, 'key.pem'), key)
}

async function appPassword(mailboxId: string, more: object = {}): Promise<string> {
  const input = { name: 'Telephone', createdBy: 'operator', ...more }
  return (await appliance.app.directory.appPasswords.issue(team.id, mailboxId, input)).secret
}

const newMailbox = () => team.mailbox(`user${++mailboxes}@acme.test`)
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Runs a command whose reply is delayed, and lets the delay pass. */
async function delayed<T>(work: Promise<T>): Promise<T> {
  clock.onDelay = (ms) => setImmediate(() => clock.advance(ms))
  return work.finally(() => {
    clock.onDelay = () => {}
  })
}

async function wrong(client: SmtpClient, name: string, secret = 'wrong'): Promise<string> {
  return (await delayed(client.command(`AUTH PLAIN ${plainCredentials(name, secret)}`))).text
}

/** Runs a mechanism with the responses of `answer`. @returns the last reply */
async function exchange(client: SmtpClient, mechanism: string, answer: (said: string) => string): Promise<string> {
  let reply = await client.command(`AUTH ${mechanism}`)
  while (reply.code === 334) {
    reply = await client.command(base64(answer(Buffer.from(reply.lines[0]!, 'base64').toString())))
  }
  return reply.text
}

describe('what is offered', () => {
  it('with TLS: mechanisms, sizes and limits, and nothing to sign in with after it', async () => {
    const { client, offered } = await connectSubmission(appliance)
    const always = ['PIPELINING', 'SIZE 41943040', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES', 'LIMITS RCPTMAX=500']
    const mechanisms = 'AUTH PLAIN LOGIN SCRAM-SHA-256 SCRAM-SHA-256-PLUS OAUTHBEARER XOAUTH2'
    assert.deepEqual(offered, [...always, mechanisms])
    await client.command(`AUTH PLAIN ${plainCredentials(ada.email, ada.key)}`, 235)
    assert.deepEqual((await client.command('EHLO client.test', 250)).lines.slice(1), always)
    assert.match((await client.command(`AUTH PLAIN ${plainCredentials(ada.email, ada.key)}`)).text, /^503 5\.5\.1/)
    client.drop()
  })

  it('without TLS: STARTTLS, and no mechanism before it', async () => {
    const client = await SmtpClient.greet(appliance.ports.submission)
    const { lines } = await client.command('EHLO client.test', 250)
    assert.ok(lines.includes('STARTTLS'))
    assert.ok(!lines.some((line) => line.startsWith('AUTH')))
    assert.match((await client.command(`AUTH PLAIN ${plainCredentials(ada.email, ada.key)}`)).text, /^538 5\.7\.11/)
    assert.match((await client.command('MAIL FROM:<ada@acme.test>')).text, /^530 5\.7\.0/)
    await client.startTls()
    const secured = await client.command('EHLO client.test', 250)
    assert.ok(secured.lines.some((line) => line.startsWith('AUTH PLAIN')))
    assert.ok(!secured.lines.includes('STARTTLS'))
    await client.command(`AUTH PLAIN ${plainCredentials(ada.email, ada.key)}`, 235)
    client.drop()
  })

  it('what follows STARTTLS in plain text is not run', async () => {
    const client = await SmtpClient.greet(appliance.ports.submission)
    await client.startTls(`AUTH PLAIN ${plainCredentials(ada.email, ada.key)}\r\nMAIL FROM:<ada@acme.test>\r\n`)
    const { lines } = await client.command('EHLO client.test', 250)
    assert.ok(
      lines.some((line) => line.startsWith('AUTH')),
      'a session that has not signed in',
    )
    client.drop()
  })

  it('before the sign-in nothing but greetings, NOOP, RSET and QUIT', async () => {
    const { client } = await connectSubmission(appliance)
    for (const command of ['MAIL FROM:<>', 'RCPT TO:<bob@out.test>', 'DATA', 'VRFY ada', 'HELP']) {
      assert.match((await client.command(command)).text, /^530 5\.7\.0/, command)
    }
    for (const command of ['NOOP', 'RSET']) await client.command(command, 250)
    for (const command of ['EXPN x', 'ETRN x', 'TURN', 'BDAT 3', 'BURL x', 'XCLIENT NAME=x']) {
      assert.match((await client.command(command)).text, /^500 /, command)
    }
    await client.command('QUIT', 221)
    await client.closed()
  })
})

describe('mechanisms', () => {
  it('PLAIN in one step or two, and LOGIN with either', async () => {
    for (const secret of [ada.key, password, password.toUpperCase().replace(/(.{5})/g, '$1-')]) {
      const { client } = await connectSubmission(appliance)
      assert.match(await exchange(client, 'PLAIN', () => `\0${ada.email}\0${secret}`), /^235 2\.7\.0/)
      client.drop()
    }
    for (const initial of ['', ` ${base64(ada.email)}`]) {
      const { client } = await connectSubmission(appliance)
      const answer = (said: string) => (said === 'Username:' ? ada.email : password)
      assert.match(await exchange(client, `login${initial}`, answer), /^235 /)
      client.drop()
    }
  })

  it('SCRAM-SHA-256, and -PLUS bound to the TLS connection', async () => {
    const { client } = await connectSubmission(appliance)
    const scram = scramClient(ada.email, password)
    assert.match(await exchange(client, 'SCRAM-SHA-256', scram.answer), /^235 /)
    client.drop()
    const { client: second } = await connectSubmission(appliance)
    const binding = { type: 'tls-exporter', data: second.exporter }
    const plus = scramClient(ada.email, password, binding)
    assert.match(await exchange(second, 'SCRAM-SHA-256-PLUS', plus.answer), /^235 /)
    second.drop()
    const { client: third } = await connectSubmission(appliance)
    const stolen = scramClient(ada.email, password, binding)
    assert.match(await exchange(third, 'SCRAM-SHA-256-PLUS', stolen.answer), /^501 5\.5\.2/)
    third.drop()
  })

  it('OAUTHBEARER and XOAUTH2 with a key; a failure says why first', async () => {
    const bearer = (token: string) => `n,a=${ada.email},\u0001auth=Bearer ${token}\u0001\u0001`
    const xoauth2 = (token: string) => `user=${ada.email}\u0001auth=Bearer ${token}\u0001\u0001`
    for (const [mechanism, message] of [
      ['OAUTHBEARER', bearer],
      ['XOAUTH2', xoauth2],
    ] as const) {
      const { client } = await connectSubmission(appliance)
      assert.match((await client.command(`AUTH ${mechanism} ${base64(message(ada.key))}`)).text, /^235 /)
      client.drop()
      const { client: other } = await connectSubmission(appliance)
      const { lines } = await delayed(other.command(`AUTH ${mechanism} ${base64(message(password))}`))
      assert.match(Buffer.from(lines[0]!, 'base64').toString(), /"status":"(?:invalid_token|401)"/)
      assert.match((await other.command('')).text, /^535 5\.7\.8/)
      other.drop()
    }
  })

  it('cancelled, malformed and unknown ones', async () => {
    const { client } = await connectSubmission(appliance)
    assert.match((await client.command('AUTH')).text, /^501 5\.5\.4/)
    assert.match((await client.command('AUTH GSSAPI')).text, /^504 5\.5\.4/)
    assert.match((await client.command('AUTH PLAIN not*base64')).text, /^501 5\.5\.2/)
    await client.command('AUTH PLAIN', 334)
    assert.match((await client.command('*')).text, /^501 5\.7\.0/)
    assert.match((await client.command('AUTH PLAIN =')).text, /^501 5\.5\.2/)
    await client.command('AUTH LOGIN', 334)
    assert.match((await client.command(base64('x'.repeat(5000)))).text, /^501 5\.5\.2/)
    assert.match((await client.expect(421)).text, /Too many failed sign-ins/)
    await client.closed()
  })

  it('a line above 12,288 bytes ends the connection', async () => {
    const { client } = await connectSubmission(appliance)
    assert.match((await client.command(`AUTH PLAIN ${'A'.repeat(12_300)}`)).text, /^500 5\.5\.2/)
    await client.closed()
  })
})

describe('who may not submit', () => {
  it('a credential for another protocol, or without the permission to send', async () => {
    const reading = await appPassword(ada.id, { protocols: ['imap'] })
    const readOnly = await appPassword(ada.id, { permissions: ['mailbox.read'] })
    for (const secret of [reading, readOnly]) {
      const { client } = await connectSubmission(appliance)
      assert.match((await client.command(`AUTH PLAIN ${plainCredentials(ada.email, secret)}`)).text, /^535 5\.7\.8/)
      client.drop()
    }
  })

  it('a root key and a key of another mailbox: wrong, as any other secret', async () => {
    const other = await newMailbox()
    const { client } = await connectSubmission(appliance)
    assert.match(await wrong(client, ada.email, team.key), /^535 5\.7\.8 Wrong/)
    assert.match(await wrong(client, ada.email, other.key), /^535 5\.7\.8 Wrong/)
    client.drop()
    clock.advance(600_000)
  })

  it('agents', async () => {
    const agent = new AgentClient(appliance)
    const registered = await agent.register({ client_name: 'Scout' })
    const token = await agent.readToken(registered.identity_assertion)
    const { client } = await connectSubmission(appliance)
    const message = `user=${registered.mailbox.email}\u0001auth=Bearer ${token}\u0001\u0001`
    const reply = await client.command(`AUTH XOAUTH2 ${base64(message)}`)
    assert.equal(reply.code, 334)
    assert.match((await client.command('')).text, /^535 5\.7\.8/)
    client.drop()
  })

  it('a suspended mailbox signs in and sends nothing; a suspended team does not sign in', async () => {
    const other = await newMailbox()
    const client = await signInToSubmit(appliance, other)
    const sending = await signInToSubmit(appliance, other)
    await sending.command(`MAIL FROM:<${other.email}>`, 250)
    await sending.command('RCPT TO:<ada@acme.test>', 250)
    const suspended = await appliance.call('POST', `/mailboxes/${other.id}/suspend`, team.key, {})
    assert.equal(suspended.status, 200, JSON.stringify(suspended.body))
    // What a session knows of its mailbox is looked up every twenty seconds, and by each transaction.
    assert.match((await client.command(`MAIL FROM:<${other.email}>`)).text, /^550 5\.7\.1 The mailbox is suspended/)
    assert.match((await sending.command('RCPT TO:<bob@out.test>')).text, /^550 5\.7\.1/)
    await sending.command('DATA', 354)
    assert.match((await sending.command(`From: ${other.email}\r\n\r\nHello\r\n.`)).text, /^550 5\.7\.1/)
    for (const one of [client, sending]) one.drop()
    const second = await appliance.team('Second')
    await second.domain('second.test')
    const ben = await second.mailbox('ben@second.test')
    await appliance.app.directory.teams.setStatus(second.id, 'suspended')
    const { client: third } = await connectSubmission(appliance)
    assert.match((await third.command(`AUTH PLAIN ${plainCredentials(ben.email, ben.key)}`)).text, /^535 5\.7\.13/)
    third.drop()
  })
})

describe('guessing', () => {
  /** Signs in from an address with a secret that is wrong, three times a connection. */
  async function guess(from: string, name: string, tries: number): Promise<string[]> {
    const replies: string[] = []
    while (replies.length < tries) {
      const client = await enter(from)
      for (let at = 0; at < 3 && replies.length < tries; at++) replies.push(await wrong(client, name))
      client.drop()
    }
    return replies
  }

  async function enter(from: string): Promise<SmtpClient> {
    const client = await SmtpClient.secure(appliance.ports.submissions, from)
    await client.expect(220)
    await client.command('EHLO client.test', 250)
    return client
  }

  it('three failures end a connection', async () => {
    const client = await enter('127.0.0.3')
    for (let at = 0; at < 3; at++) assert.match(await wrong(client, 'nobody@acme.test'), /^535 5\.7\.8/)
    assert.match((await client.expect(421)).text, /Too many failed sign-ins/)
    await client.closed()
  })

  it('twenty failures refuse their source, also with the right secret, and not the owner', async () => {
    const owner = await newMailbox()
    const right = `AUTH PLAIN ${plainCredentials(owner.email, owner.key)}`
    const replies = await guess('127.0.0.2', owner.email, 22)
    const codes = replies.map((text) => text.slice(0, 9))
    assert.deepEqual(codes, [...Array(20).fill('535 5.7.8'), ...Array(2).fill('454 4.7.0')])
    const blocked = await enter('127.0.0.2')
    assert.match((await blocked.command(right)).text, /^454 4\.7\.0/)
    const home = await enter('127.0.0.4')
    assert.match((await home.command(right)).text, /^235 /)
    for (const one of [blocked, home]) one.drop()
  })
})

describe('connections', () => {
  it('of one mailbox are limited', async () => {
    const other = await newMailbox()
    const signIns = Array.from({ length: CONNECTIONS_PER_MAILBOX_MAX }, () => signInToSubmit(appliance, other))
    const clients = await Promise.all(signIns)
    const { client } = await connectSubmission(appliance)
    const auth = `AUTH PLAIN ${plainCredentials(other.email, other.key)}`
    assert.match((await client.command(auth)).text, /^454 4\.7\.0 Too many connections/)
    clients.pop()!.drop()
    while ((await client.command(auth)).code !== 235);
    for (const one of [client, ...clients]) one.drop()
  })

  it('of one address are limited', async () => {
    const from = '127.0.0.50'
    const connecting = Array.from({ length: MAX_PER_ADDRESS }, () =>
      SmtpClient.connect(appliance.ports.submission, from),
    )
    const clients = await Promise.all(connecting)
    for (const client of clients) await client.expect(220)
    const refused = await SmtpClient.connect(appliance.ports.submission, from)
    assert.match((await refused.expect(421)).text, /Too many connections from your address/)
    for (const one of clients) one.drop()
  })

  it('that do not sign in, or are silent, end', async () => {
    const { client: idle } = await connectSubmission(appliance)
    for (let at = 0; at * 60_000 <= SIGN_IN_MS; at++) {
      clock.advance(60_000)
      if (at * 60_000 < SIGN_IN_MS - 60_000) await idle.command('NOOP', 250)
    }
    assert.match((await idle.expect(421)).text, /^421 4\.4\.2/)
    const silent = await signInToSubmit(appliance, ada)
    clock.advance(COMMAND_MS + 31_000)
    assert.match((await silent.expect(421)).text, /^421 4\.4\.2/)
  })

  it('behind a proxy that ended TLS are secure, and from the client it names', async () => {
    const header = Buffer.from('0d0a0d0a000d0a515549540a21110014', 'hex')
    const addresses = Buffer.from([198, 51, 100, 7, 127, 0, 0, 1, 0, 99, 1, 209])
    const tlv = Buffer.from([0x20, 0, 5, 1, 0, 0, 0, 0])
    const client = await SmtpClient.connect(appliance.ports.submissions, PROXY)
    client.write(Buffer.concat([header, addresses, tlv]))
    await client.expect(220)
    const { lines } = await client.command('EHLO client.test', 250)
    assert.ok(lines.some((line) => line.startsWith('AUTH ')))
    assert.ok(!lines.some((line) => /STARTTLS|-PLUS/.test(line)))
    await client.command(`AUTH PLAIN ${plainCredentials(ada.email, password)}`, 235)
    client.drop()
    const { body } = await appliance.get(`/mailboxes/${ada.id}/sign-ins?protocol=submission`, team.key)
    assert.equal(body.data[0].source, '198.51.100.7')
    const bare = await SmtpClient.connect(appliance.ports.submission, PROXY)
    bare.write('EHLO client.test\r\n')
    assert.match((await bare.expect(421)).text, /PROXY/)
  })

  it('get a renewed certificate without a restart', async () => {
    const served = async () => {
      const [{ client: tls }, starts] = [
        await connectSubmission(appliance),
        await SmtpClient.greet(appliance.ports.submission),
      ]
      await starts.startTls()
      const found = [tls.certificate, starts.certificate]
      tls.drop()
      starts.drop()
      return found
    }
    const before = await served()
    await renewCertificate()
    await appliance.app.certificate.look()
    const [implicit, upgraded] = await served()
    assert.equal(implicit, upgraded)
    assert.ok(!before.includes(implicit!))
  })
})

describe('the end', () => {
  it('of a credential ends its sessions within 30 s', async () => {
    const other = await newMailbox()
    const issued = await appliance.app.directory.appPasswords.issue(team.id, other.id, {
      name: 'x',
      createdBy: 'operator',
    })
    const client = await signInToSubmit(appliance, { email: other.email, key: issued.secret })
    const sending = await signInToSubmit(appliance, { email: other.email, key: issued.secret })
    await sending.command(`MAIL FROM:<${other.email}>`, 250)
    await sending.command('RCPT TO:<ada@acme.test>', 250)
    await sending.command('DATA', 354)
    sending.write(`From: ${other.email}\r\n`)
    const gone = await appliance.call('DELETE', `/mailboxes/${other.id}/app-passwords/${issued.record.id}`, team.key)
    assert.equal(gone.status, 200)
    clock.advance(30_000)
    assert.match((await client.expect(421)).text, /^421 4\.7\.0/)
    await client.closed()
    assert.match((await sending.expect(421)).text, /^421 4\.7\.0/, 'also while a message is on its way')
  })

  it('of the appliance is said to idle sessions', async () => {
    const own = await startAppliance()
    const acme = await own.team()
    await acme.domain('acme.test')
    const zoe = await acme.mailbox('zoe@acme.test')
    const client = await signInToSubmit(own, zoe)
    const { client: other } = await connectSubmission(own)
    const closed = own.close()
    for (const one of [client, other]) assert.match((await one.expect(421)).text, /^421 4\.3\.2/)
    await closed
  })
})
