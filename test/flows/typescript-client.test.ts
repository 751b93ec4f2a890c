// The TypeScript client: generated from the published document, compiled under --strict as its users do, and run against an appliance.
//
// The generated file is checked in, so that the client can be read, diffed and built without the generator; its first line names its input
// and its own checksum, which are compared here. Generating it in the test would need a second TypeScript in the project.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  createClient,
  idempotencyKey,
  listAll,
  MailsteadError,
  retry,
  unwrap,
} from '../../clients/typescript/src/index.ts'
import { GENERATED, headerOf } from '../../scripts/client.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { ROOT } from '../support/source.ts'

const PACKAGE = join(ROOT, 'clients/typescript')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const run = promisify(execFile)
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

test('the generated types match docs/openapi.json and are unedited', () => {
  const [first, ...rest] = readFileSync(GENERATED, 'utf8').split('\n')
  assert.equal(first, headerOf(rest.join('\n')), 'run: npm run client')
})

test('its packages are pinned, and openapi-fetch is the version these tests run', () => {
  const { dependencies, devDependencies } = readJson(join(PACKAGE, 'package.json'))
  for (const version of Object.values({ ...dependencies, ...devDependencies })) assert.match(String(version), /^\d/)
  assert.equal(readJson(join(ROOT, 'package.json')).devDependencies['openapi-fetch'], dependencies['openapi-fetch'])
  const lock = readJson(join(PACKAGE, 'package-lock.json')).packages as Record<string, { resolved?: string }>
  assert.deepEqual(
    Object.entries(lock).filter(([, { resolved }]) => resolved !== undefined),
    [],
  )
})

describe('at an appliance', () => {
  let appliance: TestAppliance
  let ana: { email: string; key: string }
  let ben: { email: string; key: string }
  let rootKey: string
  let folder: string
  before(async () => {
    appliance = await startAppliance({ workers: 'threads' })
    const team = await appliance.team()
    rootKey = team.key
    await team.domain('client.test')
    ana = await team.mailbox('ana@client.test')
    ben = await team.mailbox('ben@client.test')
    folder = mkdtempSync(join(tmpdir(), 'mailstead-client-'))
  })
  after(async () => {
    rmSync(folder, { recursive: true, force: true })
    await appliance.close()
  })

  test('the package is built, and its example is compiled under --strict, sends a message and reads it', async () => {
    for (const part of ['package.json', 'tsconfig.json', 'src', 'examples']) {
      cpSync(join(PACKAGE, part), join(folder, part), { recursive: true })
    }
    const modules = join(folder, 'node_modules')
    mkdirSync(join(modules, '@types'), { recursive: true })
    for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types/node', 'undici-types']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
    }
    await run(process.execPath, [TSC, '-p', folder])
    await run(process.execPath, [TSC, '-p', join(folder, 'examples'), '--strict'])
    const { stdout } = await run(process.execPath, [join(folder, 'examples/send-and-read.ts')], {
      env: {
        PATH: process.env.PATH,
        MAILSTEAD_URL: appliance.origin,
        SENDER_KEY: ana.key,
        RECIPIENT_KEY: ben.key,
        RECIPIENT: ben.email,
      },
    })
    assert.match(
      stdout,
      /^eml_\w+ queued\nFrom: ana@client\.test\nSubject: Hello \w+\n\nSent with mailstead-client\.\n/,
    )
    assert.match(stdout, /\n422 validation_error to\.0\.email\n$/)
  })

  test('a list of several pages is one sequence', async () => {
    const client = createClient({ baseUrl: appliance.origin, key: rootKey })
    const names = ['a', 'b', 'c'].map((name) => `${name}.client.test`)
    for (const domain of names) await unwrap(client.POST('/domains', { body: { domain } }))
    const found: string[] = []
    for await (const { domain } of listAll((page) =>
      client.GET('/domains', { params: { query: { limit: 2, ...page } } }),
    )) {
      found.push(domain)
    }
    assert.deepEqual(found.toSorted(), [...names, 'client.test'].toSorted())
  })

  test('a repetition with the same key sends once; each path goes to the listener that answers it', async () => {
    const asked: string[] = []
    const client = createClient({
      baseUrl: `${appliance.origin}/`,
      sendUrl: appliance.sendOrigin,
      key: rootKey,
      fetch: (request) => {
        asked.push(new URL(request.url).origin)
        return fetch(request)
      },
    })
    const message = { from: { email: ana.email }, to: { email: ben.email }, subject: 'Once', text_body: 'Once' }
    const options = { params: { header: idempotencyKey() }, body: { messages: [message] } }
    const first = await unwrap(client.POST('/emails/send/batch', options))
    const second = await unwrap(client.POST('/emails/send/batch', options))
    assert.deepEqual(second.data, first.data)
    await unwrap(client.GET('/team'))
    await unwrap(client.GET('/readyz'))
    assert.deepEqual(asked, [appliance.sendOrigin, appliance.sendOrigin, appliance.origin, appliance.origin])
    // One origin answers everything, and knows the repetition.
    const third = await unwrap(
      createClient({ baseUrl: appliance.origin, key: rootKey }).POST('/emails/send/batch', options),
    )
    assert.deepEqual(third.data, first.data)
  })

  test('an error has the code, the field and the request of the answer', async () => {
    const client = createClient({ baseUrl: appliance.origin, key: rootKey })
    await assert.rejects(unwrap(client.POST('/domains', { body: { domain: 'no domain' } })), (error) => {
      assert.ok(error instanceof MailsteadError)
      assert.deepEqual([error.status, error.code, error.issues[0]?.field], [422, 'validation_error', 'domain'])
      assert.equal(error.retryable, false)
      assert.match(error.requestId!, /^req_/)
      assert.match(error.docUrl!, /\/docs\/errors#/)
      return true
    })
  })
})

test('a request is repeated while it may succeed later, after the time in Retry-After', async () => {
  const envelope = { ok: false, error: { code: 'rate_limit_exceeded', message: 'Too many.', retryable: true } }
  const answers = [
    () => Promise.reject(new TypeError('fetch failed')),
    async () => Response.json(envelope, { status: 429, headers: { 'Retry-After': '7' } }),
    async () => new Response('bad gateway', { status: 502 }),
    async () => Response.json({ ok: true, data: { id: 'x' }, meta: {} }),
  ]
  const client = createClient({ baseUrl: 'http://localhost', key: 'srk_x', fetch: () => answers.shift()!() })
  const waits: number[] = []
  const wait = async (ms: number) => void waits.push(ms)
  await retry(() => client.GET('/team'), { wait })
  assert.deepEqual(waits, [500, 7000, 2000])
  answers.push(async () =>
    Response.json({ ok: false, error: { code: 'not_found', message: 'x', retryable: false } }, { status: 404 }),
  )
  await assert.rejects(
    retry(() => client.GET('/team'), { wait }),
    (error) => error instanceof MailsteadError && error.code === 'not_found',
  )
  assert.equal(waits.length, 3)
})
