// ManageSieve (RFC 5804): every command with its replies, TLS and sign-in, scopes and gates, bounds, and the end of sessions.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { ERRORS_MAX, LITERAL_BYTES, LOGIN_MS, SILENCE_MS } from '../../src/managesieve/limits.ts'
import { data } from '../api/expect.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { SieveClient } from '../support/managesieve.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
let count = 0
let box: Awaited<ReturnType<typeof team.mailbox>>
beforeEach(async () => {
  box = await team.mailbox(`s${count++}@shop.test`)
})

const signedIn = (secret = box.key) => SieveClient.signedIn(appliance, box.email, secret)
const end = async (client: SieveClient, line: string) => (await client.ask(line)).end
const stored = async () => data<Json[]>(await appliance.get('/mailbox/sieve-scripts', box.key)).map(({ name }) => name)

test('the greeting and STARTTLS announce what there is; no sign-in before TLS', async () => {
  const { client, greeting } = await SieveClient.connect(appliance)
  await using _ = client
  const capabilities = (lines: string[]) =>
    new Map(lines.map((line) => /^"(\S+)" ?(.*)$/.exec(line)!.slice(1) as [string, string]))
  const before = capabilities(greeting.lines)
  assert.deepEqual(
    [...before.keys()],
    ['IMPLEMENTATION', 'SASL', 'SIEVE', 'NOTIFY', 'STARTTLS', 'MAXREDIRECTS', 'UNAUTHENTICATE', 'VERSION'],
  )
  assert.deepEqual([before.get('SASL'), before.get('MAXREDIRECTS'), before.get('VERSION')], ['""', '"5"', '"1.0"'])
  assert.match(before.get('SIEVE')!, /^"fileinto envelope .*comparator-i;ascii-numeric"$/)
  assert.match((await client.login(box.email, box.key)).end, /^NO \(ENCRYPT-NEEDED\) /)
  assert.match(await end(client, 'LISTSCRIPTS'), /^NO "Log in first\."$/)
  const secured = capabilities((await client.startTls()).lines)
  assert.match(secured.get('SASL')!, /^"PLAIN LOGIN SCRAM-SHA-256 SCRAM-SHA-256-PLUS OAUTHBEARER XOAUTH2"$/)
  assert.equal(secured.has('STARTTLS'), false)
  assert.match(await end(client, 'STARTTLS'), /^NO /)
  assert.equal((await client.login(box.email, box.key)).end, 'OK "Logged in."')
  const last = capabilities((await client.ask('CAPABILITY')).lines)
  assert.deepEqual([last.get('OWNER'), last.get('SASL')], [`"${box.email}"`, '""'])
  assert.match(await end(client, 'AUTHENTICATE "PLAIN" "AA=="'), /^NO "Already/)
  assert.match(await end(client, 'UNAUTHENTICATE'), /^OK /)
  assert.match(await end(client, 'LISTSCRIPTS'), /^NO "Log in first\."$/)
  assert.equal((await client.login(box.email, box.key)).end, 'OK "Logged in."')
  assert.match(await end(client, 'LOGOUT'), /^OK /)
  assert.equal(await client.ended(), '')
})

test('commands behind STARTTLS in plain text end the connection', async () => {
  const { client } = await SieveClient.connect(appliance)
  await using _ = client
  client.send('STARTTLS\r\nNOOP\r\n')
  assert.match((await client.answer()).end, /^NO "Nothing may follow STARTTLS\."$/)
  assert.match(await client.ended(), /^BYE /)
})

test('scripts: put, list, get, activate, rename, check and delete, in any form of strings', async () => {
  await using client = await signedIn()
  assert.equal((await client.askWith('PUTSCRIPT "one"', 'keep;\r\n# ü\r\n')).end, 'OK "Stored."')
  assert.equal(await end(client, 'PutScript {8+}\r\nein "\\ö {6+}\r\nstop;\n'), 'OK "Stored."')
  assert.deepEqual(await stored(), ['ein "\\ö', 'one'])
  assert.deepEqual(await client.ask('GETSCRIPT "one"'), {
    lines: [JSON.stringify('keep;\r\n# ü\r\n')],
    end: 'OK "Here it is."',
  })
  assert.match(await end(client, 'GETSCRIPT "none"'), /^NO \(NONEXISTENT\) /)
  assert.equal(await end(client, 'SETACTIVE "one"'), 'OK "Active."')
  assert.deepEqual((await client.ask('LISTSCRIPTS')).lines, ['"ein \\"\\\\ö"', '"one" ACTIVE'])
  assert.match(await end(client, 'DELETESCRIPT "one"'), /^NO \(ACTIVE\) /)
  assert.equal(await end(client, 'RENAMESCRIPT "one" "two"'), 'OK "Renamed."')
  assert.match(await end(client, 'RENAMESCRIPT "two" {8+}\r\nein "\\ö'), /^NO \(ALREADYEXISTS\) /)
  assert.match(await end(client, 'RENAMESCRIPT "one" "three"'), /^NO \(NONEXISTENT\) /)
  assert.match(await end(client, 'RENAMESCRIPT "two" ""'), /^NO "The name/)
  assert.deepEqual((await client.ask('LISTSCRIPTS')).lines, ['"ein \\"\\\\ö"', '"two" ACTIVE'])
  assert.match((await client.askWith('PUTSCRIPT "two"', 'stop;')).end, /^OK /)
  assert.deepEqual((await client.ask('LISTSCRIPTS')).lines[1], '"two" ACTIVE', 'a replaced script stays active')
  assert.match(await end(client, 'SETACTIVE ""'), /^OK /)
  assert.match(await end(client, 'SETACTIVE "none"'), /^NO \(NONEXISTENT\) /)
  assert.match(await end(client, 'DELETESCRIPT "two"'), /^OK /)
  assert.match(await end(client, 'DELETESCRIPT "two"'), /^NO \(NONEXISTENT\) /)
  assert.deepEqual(await client.ask('NOOP'), { lines: [], end: 'OK "Done."' })
  assert.equal(await end(client, 'NOOP "tag \\"1\\""'), 'OK (TAG "tag \\"1\\"") "Done."')
  assert.match((await client.askWith('CHECKSCRIPT', 'keep;')).end, /^OK /)
})

test('a script with commands that have no effect is stored, and the reply warns of them (RFC 5804 §1.3)', async () => {
  await using client = await signedIn()
  const script = 'require "editheader";\r\naddheader "From" "ceo@bank.test";\r\n'
  for (const command of ['CHECKSCRIPT', 'PUTSCRIPT "edits"']) {
    const { end: last } = await client.askWith(command, script)
    assert.match(last, /^OK \(WARNINGS\) "line 2, column 11: Scripts cannot change the field \\"From\\"\./)
  }
  assert.deepEqual(await stored(), ['edits'])
})

test('all faults of a script at once, each with its line; nothing is stored', async () => {
  await using client = await signedIn()
  const wrong = 'keep;\r\n  fileinto "x";\r\nif foo { stop; }\r\n'
  for (const command of ['PUTSCRIPT "bad"', 'CHECKSCRIPT']) {
    const { end: last } = await client.askWith(command, wrong)
    const text = JSON.parse(/^NO (.*)$/.exec(last)![1]!) as string
    assert.deepEqual(text.split('\r\n'), [
      'line 2, column 3: "fileinto" needs require "fileinto" at the start of the script.',
      'line 3, column 4: There is no test "foo" here.',
    ])
  }
  assert.deepEqual(await stored(), [])
})

test('quotas of size and number, asked for and met', async () => {
  await using client = await signedIn()
  for (let n = 0; n < 10; n++) assert.match((await client.askWith(`PUTSCRIPT "n${n}"`, 'keep;')).end, /^OK /)
  assert.match(await end(client, 'HAVESPACE "n1" 1000'), /^OK /)
  assert.match(await end(client, 'HAVESPACE "more" 1000'), /^NO \(QUOTA\/MAXSCRIPTS\) /)
  assert.match(await end(client, 'HAVESPACE "n1" 65537'), /^NO \(QUOTA\/MAXSIZE\) /)
  assert.match((await client.askWith('PUTSCRIPT "more"', 'keep;')).end, /^NO \(QUOTA\/MAXSCRIPTS\) /)
  const comment = (bytes: number) => `#${'x'.repeat(bytes - 2)}\n`
  assert.match((await client.askWith('PUTSCRIPT "n1"', comment(65_536))).end, /^OK /)
  for (const bytes of [65_537, LITERAL_BYTES + 1, 900_000]) {
    assert.match((await client.askWith('PUTSCRIPT "n1"', comment(bytes))).end, /^NO \(QUOTA\/MAXSIZE\) /)
  }
  assert.equal((await client.ask('LISTSCRIPTS')).lines.length, 10)
})

test('every mechanism signs in, SCRAM with its last message in the reply; wrong ones end the connection', async () => {
  const { client } = await SieveClient.connect(appliance)
  await using _ = client
  await client.startTls()
  assert.match(await end(client, 'AUTHENTICATE "CRAM-MD5"'), /^NO "This mechanism/)
  client.send('AUTHENTICATE "LOGIN"\r\n')
  assert.equal(await client.line(), '"VXNlcm5hbWU6"')
  client.send('"*"\r\n')
  assert.match((await client.answer()).end, /^NO "Authentication canceled\."$/)
  client.send('AUTHENTICATE "PLAIN"\r\n')
  assert.equal(await client.line(), '""')
  const response = Buffer.from(`\0${box.email}\0${box.key}`).toString('base64')
  assert.equal(await end(client, `{${response.length}+}\r\n${response}`), 'OK "Logged in."')
  await client.ask('UNAUTHENTICATE')
  const wrong = client.login(box.email, 'wrong')
  for (let turn = 0; turn < 20; turn++) {
    await new Promise(setImmediate)
    clock.advance(1000)
  }
  assert.match((await wrong).end, /^NO "Wrong address or app password\."$/)
})

test('scopes, gates and the suspension of a mailbox as in the REST API', async () => {
  const weak = async (...permissions: string[]) =>
    data<Json>(
      await appliance.call('POST', `/mailboxes/${box.id}/api-keys`, team.key, { name: 'weak', permissions }),
      201,
    ).key as string
  await using reader = await signedIn(await weak('mailbox.read'))
  assert.match((await reader.askWith('PUTSCRIPT "a"', 'keep;')).end, /^NO "The credential does not allow changes\."$/)
  for (const line of ['SETACTIVE ""', 'DELETESCRIPT "a"', 'RENAMESCRIPT "a" "b"'])
    assert.match(await end(reader, line), /^NO "The cred/)
  assert.match((await reader.askWith('CHECKSCRIPT', 'keep;')).end, /^OK /)
  await using writer = await signedIn(await weak('mailbox.read', 'mailbox.write'))
  assert.match(
    (await writer.askWith('PUTSCRIPT "a"', 'redirect "a@else.test";')).end,
    /^NO "A script with redirect or notify sends/,
  )
  await using owner = await signedIn()
  assert.match((await owner.askWith('PUTSCRIPT "a"', 'redirect "a@else.test";')).end, /^OK /)
  assert.match(await end(writer, 'SETACTIVE "a"'), /^NO "A script with redirect or notify sends/)
  const { MAILBOX_GATED: gated } = appliance.app.config
  gated.push('filter_script_writes')
  assert.match(await end(owner, 'SETACTIVE "a"'), /^NO "The operator/)
  assert.match(await end(owner, 'LISTSCRIPTS'), /^OK /)
  gated.pop()
  data(await appliance.call('POST', `/mailboxes/${box.id}/suspend`, team.key, {}))
  clock.advance(20_000)
  await appliance.settle()
  assert.match(await end(owner, 'SETACTIVE "a"'), /^NO "The mailbox is suspended/)
})

test('a session ends with its credential', async () => {
  const made = data<Json>(await appliance.call('POST', `/mailboxes/${box.id}/api-keys`, team.key, { name: 'one' }), 201)
  await using client = await signedIn(made.key)
  data(await appliance.call('DELETE', `/mailboxes/${box.id}/api-keys/${made.id}`, team.key))
  clock.advance(20_000)
  assert.match(await client.ended(), /^BYE "The login is no longer valid\."/)
})

test('what is malformed is answered with NO, and too much of it ends the connection', async () => {
  await using client = await signedIn()
  for (const line of [
    '',
    ' NOOP',
    'FOO',
    'NOOP "a',
    'NOOP "a" "b"',
    'NOOP  ',
    'GETSCRIPT',
    'GETSCRIPT 5',
    'NOOP {1+}\r\n\0',
    'NOOP "\xff"',
    `NOOP "${'x'.repeat(1025)}"`,
    'FOO {5+}\r\nabcde "x" {3+}\r\nabc',
  ]) {
    client.send(Buffer.from(`${line}\r\n`, 'latin1'))
    assert.match((await client.answer()).end, /^NO "/, line)
  }
  for (let n = 12; n < ERRORS_MAX; n++) await client.ask('FOO')
  assert.match(await client.ended(), /^BYE "Too many errors\."/)
  await using long = await signedIn()
  long.send(`NOOP "${'x'.repeat(5000)}`)
  assert.match(await long.ended(), /^BYE "The line is too long\."/)
  await using literal = await signedIn()
  literal.send('PUTSCRIPT "a" {99999999+}\r\n')
  assert.match(await literal.ended(), /^BYE "The literal is too long\."/)
})

test('deadlines of the login and of silence', async () => {
  const { client } = await SieveClient.connect(appliance)
  await using _ = client
  await using idle = await signedIn()
  clock.advance(LOGIN_MS + 2000)
  assert.match(await client.ended(), /^BYE "The login took too long\."/)
  clock.advance(SILENCE_MS + 2000)
  assert.match(await idle.ended(), /^BYE "Silent for too long\."/)
})
