// `mailstead send` and `log tail` as processes, beside a running appliance.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Message } from '../../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../../src/api/schemas/message-summary.ts'
import { data, walk } from '../../api/expect.ts'
import { type Json, startAppliance } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'
import { PROGRAM_ENV } from '../../support/program-env.ts'

const CLI = fileURLToPath(new URL('../../../src/cli/cli.ts', import.meta.url))
const appliance = await startAppliance()
const folder = await mkdtemp(join(tmpdir(), 'mailstead-send-'))
after(async () => {
  await appliance.close()
  await rm(folder, { recursive: true })
})
const team = await appliance.team('Shop')
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const ben = await team.mailbox('ben@shop.test')
const env = { DATA_DIR: appliance.dataDir, DNS_SERVERS: appliance.dns.address, MAIL_HOSTS: 'mx.mailstead.test' }
const cli = new Commands(env)

function start(...argv: string[]): ChildProcess {
  return spawn(process.execPath, [CLI, ...argv], { cwd: folder, env: { ...PROGRAM_ENV, ...env } })
}

async function piped(
  input: string | Uint8Array,
  ...argv: string[]
): Promise<{ code: number; out: string; err: string }> {
  const child = start(...argv)
  child.stdin!.end(input)
  const [out, err, [code]] = await Promise.all([
    child.stdout!.setEncoding('utf8').toArray(),
    child.stderr!.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ])
  return { code, out: out.join(''), err: err.join('') }
}

async function received(subject: string, { key } = ben): Promise<Message> {
  await appliance.settle()
  const [found] = await walk<MessageSummaryJson>(appliance, `/mailbox/messages?q=subject:${subject}`, key)
  return data(
    await appliance.get(`/mailbox/messages/${found!.id}?include=headers,attachments,text_body,html_body`, key),
  )
}

test('a message from a pipe arrives with its files, recipients, headers and tags', async () => {
  await writeFile(join(folder, 'notes and more.txt'), 'ä file')
  const { code, out, err } = await piped(
    'Grüße\n',
    ...[
      'send',
      ben.email,
      'Ana <ana@shop.test>',
      '--team',
      'Shop',
      '--from',
      'News <news@shop.test>',
      '--subject',
      'Pipe',
    ],
    ...['--attach', 'notes and more.txt', '--header', 'List-Id: <a.b>', '--tag', 'campaign=may', '--json'],
  )
  assert.deepEqual([code, err], [0, ''])
  const sent = JSON.parse(out)
  const message = await received('Pipe')
  assert.deepEqual(message.from, { email: 'news@shop.test', name: 'News' })
  assert.deepEqual(
    message.to.map(({ email }) => email),
    [ben.email, ana.email],
  )
  assert.equal(message.text_body?.trim(), 'Grüße')
  assert.deepEqual(
    message.attachments!.map(({ filename }) => filename),
    ['notes and more.txt'],
  )
  const rows = await walk<Json>(appliance, '/emails/logs?tag=campaign:may', team.key)
  assert.deepEqual(new Set(rows.map(({ message_id }) => message_id)), new Set([sent.message_id]))
})

test('a mailbox sends as itself and keeps a copy; HTML comes from a file', async () => {
  const html = join(folder, 'page.html')
  await writeFile(html, '<p>Hello</p>')
  const sent = await cli.json('send', ben.email, '--from', ana.email, '--subject', 'Page', '--html', html)
  assert.equal(sent.status, 'queued')
  assert.match((await received('Page')).html_body!, /<p>Hello<\/p>/)
  assert.equal((await received('Page', ana)).subject, 'Page')
  const at = new Date(Date.now() + 86_400_000).toISOString()
  const later = ['send', ben.email, '--from', ana.email, '--subject', 'Later', '--at', at]
  assert.ok((await cli.given('x').run(...later)).out[0]!.endsWith(` is scheduled for ${at}.`))
  await cli.given('x').refused([...later.slice(0, -1), '2099-01-01'], '--at')
  const gone = ['--team', 'Shop', '--from', 'news@shop.test', '--subject', 'Gone']
  await cli.json('suppression', 'add', 'gone@else.test', '--team', 'Shop')
  const failed = await cli.given('x').run('send', 'gone@else.test', ...gone)
  assert.deepEqual([failed.code, /every recipient is suppressed/.test(failed.err[0]!)], [1, true])
})

test('what is wrong with a message is said in the words of the command, and nothing is queued', async () => {
  const before = (await walk(appliance, '/emails/logs', team.key)).length
  const base = ['send', ben.email, '--from', 'news@shop.test', '--subject', 'Wrong']
  const refused = (more: string[], says: string, input = 'x') => cli.given(input).refused([...base, ...more], says)
  await refused([], 'The text is missing. Pipe it in', ' \n')
  await cli.given('x').refused(['send', ben.email, '--from', 'a@shop.test'], '--subject is missing')
  await cli.given('x').refused(['send', '--from', 'a@shop.test', '--subject', 'x'], 'The recipient is missing')
  await cli
    .given('x')
    .refused(['send', 'nobody', '--from', ana.email, '--subject', 'x'], 'nobody: This is not an address')
  await refused(['--cc', 'nobody here'], 'nobody here')
  await refused(['--attach', join(folder, 'none.txt')], 'There is no file')
  await refused(['--attach', folder], 'is not a file')
  await writeFile(join(folder, 'run.exe'), 'x')
  await refused(['--attach', join(folder, 'run.exe')], 'run.exe')
  await refused(['--tag', 'may'], 'name=value')
  await refused(['--header', 'From: x'], 'From')
  await refused(['--header', 'X-Batch: 1', '--header', 'X-Batch: 2'], '--header X-Batch is given more than once')
  await refused(['--tag', 'a=1', '--tag', 'b=2', '--tag', 'a=3'], '--tag a is given more than once')
  await refused(['--at', 'tomorrow'], 'tomorrow is not a time')
  await refused(['--sbject', 'x'], 'Did you mean --subject?')
  await refused(['--team', 'Nobody'], 'There is no team Nobody')
  await cli.given('x').refused(['send', ben.email, '--from', 'a@else.test', '--subject', 'x'], 'else.test')
  await cli.json('team', 'suspend', 'Shop')
  await refused([], 'The team Shop is suspended')
  await cli.given('x').refused(['send', ben.email, '--from', ana.email, '--subject', 'x'], 'The team Shop is suspended')
  await cli.json('team', 'reactivate', 'Shop')
  const binary = await piped(Buffer.from([0xff, 0xfe]), ...base)
  assert.deepEqual(
    [binary.code, binary.err],
    [1, 'mailstead: The text is not UTF-8 text. Convert it first, for example with iconv.\n'],
  )
  await writeFile(join(folder, 'latin.html'), Buffer.from([0x3c, 0x70, 0x3e, 0xe4]))
  await refused(['--html', join(folder, 'latin.html')], 'latin.html is not UTF-8 text')
  assert.equal((await walk(appliance, '/emails/logs', team.key)).length, before)
})

test('log tail shows the newest rows, follows both logs, and ends with 0 at Ctrl-C', async () => {
  await cli.given('x').json('send', ben.email, '--team', 'Shop', '--from', 'news@shop.test', '--subject', 'Before')
  await appliance.settle()
  const child = start('log', 'tail', '--team', 'Shop', '--lines', '1', '--json')
  const ended = once(child, 'exit')
  const shown: string[] = []
  let isSent = false
  for await (const line of createInterface({ input: child.stdout! })) {
    const { log, status, row } = JSON.parse(line)
    shown.push(`${log} ${status} ${row.subject}`)
    if (!isSent) {
      isSent = true
      const message = {
        from: 'news@shop.test',
        to: [ben.email, 'x@nowhere.shop.test'],
        subject: 'After',
        text_body: 'x',
      }
      const reply = await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send`, team.key, message)
      assert.equal(reply.status, 202)
      await appliance.settle()
    }
    if (shown.some((one) => one.startsWith('delivery delivered'))) break
  }
  child.kill('SIGINT')
  assert.deepEqual(await ended, [0, null])
  assert.match(shown[0]!, /Before$/)
  assert.equal(shown.filter((one) => one === 'delivery queued After').length, 2)
  assert.ok(shown.includes('delivery delivered After'), shown.join('\n'))
})

test('log tail narrows to a direction and a mailbox, and its lines carry nothing that controls a terminal', async () => {
  const mail = { from: ana.email, to: 'ben@shop.test', subject: 'Red \u009b31m\u202e', text_body: 'x' }
  await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send`, ana.key, mail)
  const once_ = async (...argv: string[]) => (await cli.run('log', 'tail', '--once', '--lines', '50', ...argv)).out
  const own = await once_('--mailbox', ana.email, '--direction', 'out')
  assert.ok(own.length > 0 && own.every((line) => / out {2}\w+ +ana@shop\.test -> /.test(line)), own.join('\n'))
  assert.ok(own.every((line) => !/[\p{Cc}\p{Cf}]/u.test(line)))
  assert.ok((await once_('--team', 'Shop', '--direction', 'in')).every((line) => / in {3}/.test(line)))
  assert.deepEqual(await once_('--team', 'Shop', '--lines', '0'), [])
  await appliance.team('Other')
  await cli.refused(['log', 'tail', '--once'], 'There are several teams')
  await cli.refused(['log', 'tail', '--mailbox', ana.email, '--team', 'Other'], 'is not of the team Other')
  await cli.refused(['log', 'tail', '--lines', '-1'], '--lines')
  await cli.refused(['log', 'tail', '--lines', '1e9'], '--lines must be a whole number from 0 to 1000')
})
