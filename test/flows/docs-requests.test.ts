// The requests in the documentation, sent to a real appliance: every curl command, every JSON body below a request line, and the
// members of the answers that are shown.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, test } from 'node:test'
import { type Json, startAppliance } from '../support/appliance.ts'
import { type Block, blocksOf, DOC_NAMES, readText } from '../support/docs.ts'

const RUN_LIMIT_MS = 60_000
/** test/flows/docs-commands.test.ts runs the shell blocks of this page in the order of its story. */
const STORIES = ['getting-started']
/** An id as the documentation writes them. */
const ID = /\b([a-z]{2,6})_[a-z0-9]{24}\b/g

const zone: Record<string, Record<string, unknown[]>> = { 'hooks.example.com': { A: ['93.184.215.14'] } }
const appliance = await startAppliance({ zone: zone as never })
after(() => appliance.close())
const team = await appliance.team()
for (const name of ['example.com', 'home.test']) {
  const id = await team.domain(name)
  const { verification } = appliance.app.directory.domains.get(team.id, id)!.records
  appliance.dns.zone[verification.name] = { TXT: [verification.value] }
  await appliance.call('POST', `/domains/${id}/verify`, team.key)
}
const box = await team.mailbox('me@home.test')
const API = `${appliance.origin}/api/v1`
const SEND = `${appliance.sendOrigin}/api/v1`

/** What the ids of the documentation stand for: a message that can still be canceled, an event, … */
const FRESH: Record<string, () => Promise<string>> = {
  eml: async () => {
    const message = { from: 'me@home.test', to: 'me@home.test', subject: 'Later', text_body: 'x', undo_seconds: 120 }
    return (await appliance.call('POST', `${SEND}/emails/send`, team.key, message)).body.data.message_id
  },
  evt: async () => (await firstOf('/events', team.key)).id,
  msg: async () => (await firstOf('/mailbox/messages', box.key)).id,
  thr: async () => (await firstOf('/mailbox/threads', box.key)).id,
  fld: async () => (await firstOf('/mailbox/folders', box.key)).id,
}

/** Outside accounts that were attached. */
let outside = 0

/** What the shell variables of the documentation hold. */
const VARIABLES: Record<string, () => Promise<string>> = {
  THREAD: FRESH.thr!,
  MESSAGE: FRESH.msg!,
  ACCOUNT: async () => {
    const account = { email: `ben${++outside}@mail.example.net`, password: 'secret', imap_host: 'imap.example.net' }
    return (await appliance.call('POST', '/remote-accounts', team.key, account)).body.data.id
  },
  INBOX: () => folderOf('inbox'),
  ARCHIVE: () => folderOf('archive'),
  DRAFT: async () => {
    const draft = { to: [{ email: 'me@home.test' }], subject: 'Draft', text_body: 'x' }
    return (await appliance.call('POST', '/mailbox/drafts', box.key, draft)).body.data.id
  },
}

async function folderOf(role: string): Promise<string> {
  const { body } = await appliance.get('/mailbox/folders', box.key)
  return body.data.find((folder: Json) => folder.role === role).id
}

async function variablesOf(text: string): Promise<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(VARIABLES)) {
    if (text.includes(`$${name}`)) values[name] = await value()
  }
  return values
}

async function firstOf(path: string, key: string): Promise<Json> {
  const { body } = await appliance.get(`${path}${path.includes('?') ? '&' : '?'}limit=1`, key)
  assert.ok(body.data.length > 0, `${path} is empty`)
  return body.data[0]
}

async function withIds(text: string): Promise<string> {
  let written = text
  for (const [id, prefix] of text.matchAll(ID)) {
    const fresh = FRESH[prefix!]
    assert.ok(fresh, `This test has no ${prefix}_… to put in place of ${id}. Add one to FRESH.`)
    written = written.replaceAll(id, await fresh())
  }
  return written
}

/** @returns the answers, one for each command */
async function runShell(block: Block): Promise<Json[]> {
  // Each answer on a line of its own.
  const script = (await withIds(block.text)).replace(/^curl /gm, "curl -w '\\n' ")
  const names = { API, SEND, ROOT: team.key, KEY: box.key, JSON: 'Content-Type: application/json' }
  const env = { ...process.env, ...names, ...(await variablesOf(script)) }
  // Bash takes a socket as standard input for a remote shell, which reads the system's configuration.
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    env,
    timeout: RUN_LIMIT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
  ])
  assert.equal(errors.join(''), '')
  const lines = output.join('').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

/** A request line with headers, and the body below it. */
async function sendRequest(head: Block, body: Block): Promise<Json[]> {
  const [line, ...headers] = head.text.trim().split('\n')
  const [, method, path] = /^(POST|PUT|PATCH) \/api\/v1(\S+)/.exec(line!)!
  const root = line!.includes('Sending API') ? SEND : API
  const given = Object.fromEntries(
    headers.map((text) => text.split(': ') as [string, string]).filter(([name]) => name !== 'Authorization'),
  )
  const key = /srk_/.test(head.text) ? team.key : box.key
  return [(await appliance.call(method!, root + path, key, JSON.parse(await withIds(body.text)), given)).body]
}

/** The error that a comment below a command announces (`# 422 code: message`), by the position of the command. */
function errorsOf({ text }: Block): (string | undefined)[] {
  const commands = text.split(/^curl /m).slice(1)
  return commands.map((command) => /^# \d{3} (\w+: .*)$/m.exec(command)?.[1])
}

/** Names of the members of a value, at every depth. */
function membersOf(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, 1).map(membersOf)
  if (value === null || typeof value !== 'object') return null
  return Object.fromEntries(Object.keys(value).map((name) => [name, membersOf(value[name])]))
}

/** One message that arrived, and one that bounced. */
async function prepare(): Promise<void> {
  for (const to of ['me@home.test', 'gone@nowhere.test']) {
    const message = { from: 'news@home.test', to, subject: 'Hello', text_body: 'x', tags: { campaign: 'may' } }
    await appliance.call('POST', `${SEND}/emails/send`, team.key, message)
  }
  await appliance.settle()
}

await prepare()
let requests = 0
for (const name of DOC_NAMES.filter((one) => !STORIES.includes(one))) {
  const blocks = blocksOf(readText(`docs/${name}.md`))
  const isCurl = ({ language, text }: Block) => language === 'sh' && /^curl /m.test(text)
  const isHead = ({ language, text }: Block) => language === 'text' && /^(?:POST|PUT|PATCH) \/api\/v1/.test(text)
  if (!blocks.some((block) => isCurl(block) || isHead(block))) continue
  test(`the requests of docs/${name}.md work as written`, async () => {
    for (const [index, block] of blocks.entries()) {
      const where = `line ${block.line} of docs/${name}.md`
      const next = blocks[index + 1]
      let answers: Json[]
      let shown: Block | undefined
      if (isCurl(block)) [answers, shown] = [await runShell(block), next]
      else if (isHead(block)) [answers, shown] = [await sendRequest(block, next!), blocks[index + 2]]
      else continue
      assert.ok(answers.length > 0, where)
      requests += answers.length
      const expected: Json = shown?.language === 'json' ? JSON.parse(shown.text) : { ok: true }
      const errors = errorsOf(block)
      for (const [nth, answer] of answers.entries()) {
        const error = errors[nth]
        const outcome = error === undefined ? [expected.ok] : [false, error]
        const got = error === undefined ? [answer.ok] : [answer.ok, `${answer.error?.code}: ${answer.error?.message}`]
        assert.deepEqual(got, outcome, `${where}: ${JSON.stringify(answer)}`)
      }
      if (shown?.language !== 'json') continue
      const last = answers.at(-1)
      assert.deepEqual(membersOf(last), membersOf(expected), where)
      assert.deepEqual([last.error?.code, last.error?.message], [expected.error?.code, expected.error?.message], where)
    }
  })
}

test('there are requests to send', () => assert.ok(requests >= 10, String(requests)))
