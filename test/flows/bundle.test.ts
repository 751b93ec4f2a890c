// The bundle of `npm run build`, alone with package.json and docs/ as in the image: it receives, reads, sends and checks itself.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { type Bundle, buildBundle, findEntries } from '../../scripts/build.ts'
import { BUILD_NOTE, checksumOf } from '../../scripts/bundle.js'
import { type LocalDns, startDns } from '../support/dns.ts'
import { FREE_PORTS } from '../support/free-ports.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { sendMail } from '../support/smtp.ts'
import { ROOT } from '../support/source.ts'

const LINE = 'Bonjour du port.\n'

let folder: string
let bundle: Bundle
let dns: LocalDns
let far: MailServer
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-bundle-'))
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'))
  await symlink(join(ROOT, 'docs'), join(folder, 'docs'))
  bundle = await buildBundle(join(folder, 'dist'))
  dns = await startDns({
    'far.test': { MX: [{ priority: 1, exchange: 'mx.far.test' }], TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    'mx.far.test': { A: ['127.0.0.1'] },
  })
  far = await startMailServer()
})
after(async () => {
  await far?.[Symbol.asyncDispose]()
  await dns?.close()
  await rm(folder, { recursive: true })
})

function start(...argv: string[]): ChildProcess {
  const child = spawn(process.execPath, [join(folder, 'dist/cli.js'), ...argv], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      DATA_DIR: join(folder, 'data'),
      HTTP_BIND: '127.0.0.1',
      SMTP_BIND: '127.0.0.1',
      ...FREE_PORTS,
      ...{ APP_ORIGIN: 'http://app.localhost', SEND_ORIGIN: 'http://send.localhost' },
      ...{ DNS_SERVERS: dns.address, DIRECT_PORT: String(far.port), ALLOW_PRIVATE_SMTP_HOSTS: 'true' },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stderr!.pipe(process.stderr)
  return child
}

interface Running extends AsyncDisposable {
  smtp: number
  api: string
  rootKey: string
}

interface Domain {
  id: string
  dns_records: { dkim: { name: string; value: string }[] }
}

async function serving(): Promise<Running> {
  const child = start('serve', '--json')
  // What was set up, the address of the first run, and the first line of the log.
  const lines: object[] = []
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(JSON.parse(line))
    if ('msg' in lines.at(-1)!) break
  }
  // Later lines of the log are not read, but must not fill the pipe.
  child.stdout!.resume()
  const first = lines[0] as { api_key: { key: string } }
  const opened = lines.at(-1) as { ports: { app: number; smtp: number } }
  const end = async () => {
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  }
  const api = `http://127.0.0.1:${opened.ports.app}`
  return { smtp: opened.ports.smtp, api, rootKey: first.api_key.key, [Symbol.asyncDispose]: end }
}

async function request<T>(url: string, key: string, method = 'GET', body?: object): Promise<T> {
  const reply = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const answer = (await reply.json()) as { data: T }
  assert.ok(reply.ok, `${method} ${url}: ${JSON.stringify(answer)}`)
  return answer.data
}

/** The names that a source takes from a module; all that Node finds in it, where the source keeps the whole module. */
async function namesTaken(from: string, specifier: string, input: string): Promise<string[]> {
  const text = await readFile(join(ROOT, from), 'utf8')
  const [whole, pattern] = text
    .split(`await import('${specifier}')`)
    .slice(0, -1)
    .reduce<[boolean, string[]]>(
      ([isWhole, names], before) => {
        const taken = /const \{([^}]*)\} = $/.exec(before)?.[1]
        return taken === undefined ? [true, names] : [isWhole, [...names, ...taken.split(',')]]
      },
      [false, []],
    )
  const names = pattern.map((name) => name.split(':')[0]!.trim())
  if (!whole && names.length > 0) return names
  const module = (await import(specifier.startsWith('.') ? join(ROOT, input) : specifier)) as object
  // Node's own name for what a CommonJS module exports.
  return Object.keys(module).filter((name) => name !== 'module.exports')
}

describe('the bundle', () => {
  it('has an entry for each thread and process, and needs no package that is not in package.json', async () => {
    for (const path of findEntries()) {
      assert.ok(bundle.files.has(path.replace(/^.*\//, '').replace(/\.ts$/, '.js')), path)
    }
    const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }
    const packages = bundle.external.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
    assert.deepEqual(
      packages.filter((name) => !Object.hasOwn(manifest.dependencies, name)),
      [],
    )
  })

  it('has every name that a source takes from a module it loads on first use', async () => {
    const own = bundle.lazyImports.filter(({ from }) => from.startsWith('src/'))
    const packages = own.map(({ specifier }) => specifier).filter((specifier) => !specifier.startsWith('.'))
    assert.ok(packages.includes('undici') && packages.includes('imapflow'), packages.join())
    for (const { from, specifier, input, output } of own) {
      const exported = Object.keys(await import(join(folder, 'dist', output)))
      for (const name of await namesTaken(from, specifier, input))
        assert.ok(
          exported.includes(name),
          `${from} takes ${name} of ${specifier}, which has ${exported.slice(0, 9).join()} here`,
        )
    }
  })

  it('is ASCII: V8 keeps a text with one other letter in twice the memory', async () => {
    for (const name of bundle.files.keys()) {
      assert.doesNotMatch(await readFile(join(folder, 'dist', name), 'utf8'), /[^\0-\x7f]/, name)
    }
  })

  it('loads schemas, checks and the code of outside accounts in no worker thread before they are used', async () => {
    const { sources } = JSON.parse(await readFile(join(folder, 'dist', 'worker-thread.js.map'), 'utf8')) as {
      sources: string[]
    }
    assert.ok(sources.some((path) => path.endsWith('src/jobs/worker-thread.ts')))
    assert.deepEqual(
      sources.filter((path) =>
        /node_modules\/typebox\/|src\/(sync\/worker|maintenance\/doctor\/checks)\.ts$/.test(path),
      ),
      [],
    )
  })

  it('is what the starter runs while the sources are those it was built from, and the sources otherwise', async () => {
    const note = JSON.parse(await readFile(join(folder, 'dist', BUILD_NOTE), 'utf8')) as { inputs: string[] }
    for (const path of ['src/main.ts', 'src/db/scan-thread.ts', 'package-lock.json']) {
      assert.ok(note.inputs.includes(path), path)
    }
    const project = join(folder, 'project')
    for (const name of ['run.js', 'install.js', 'bundle.js', 'web-freshness.js']) {
      await cp(join(ROOT, 'scripts', name), join(project, 'scripts', name))
    }
    const inputs = ['package-lock.json', 'src/cli/cli.ts']
    const write = async (path: string, text: string) => {
      await mkdir(join(project, path, '..'), { recursive: true })
      await writeFile(join(project, path), text)
    }
    await write('package.json', '{ "type": "module" }')
    await write('package-lock.json', '{ "packages": {} }')
    await write('src/cli/cli.ts', 'console.log("sources" as string)')
    await write('dist/cli.js', 'console.log("bundle")')
    const run = () => {
      const args = [join(project, 'scripts/run.js'), 'src/cli/cli.ts']
      return execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    }
    assert.equal(run(), 'sources\n', 'a bundle that is not complete')
    await write(`dist/${BUILD_NOTE}`, JSON.stringify({ inputs, checksum: checksumOf(project, inputs) }))
    assert.equal(run(), 'bundle\n')
    await write('src/cli/cli.ts', 'console.log("changed" as string)')
    assert.equal(run(), 'changed\n')
  })

  it('receives a message, shows it, extracts its file, sends one with a large file, and passes its own check', async () => {
    {
      await using appliance = await serving()
      const api = `${appliance.api}/api/v1`
      const domain = await request<Domain>(`${api}/domains`, appliance.rootKey, 'POST', { domain: 'demo.test' })
      for (const { name, value } of domain.dns_records.dkim) dns.zone[name] = { TXT: [value] }
      await request(`${api}/domains/${domain.id}/verify`, appliance.rootKey, 'POST')
      const wanted = { email: 'box@demo.test', create_api_key: true }
      const made = await request<{ api_key: { key: string } }>(`${api}/mailboxes`, appliance.rootKey, 'POST', wanted)
      const { key } = made.api_key

      await sendMail(appliance.smtp, {
        from: 'ann@far.test',
        to: 'box@demo.test',
        subject: 'Through the bundle',
        html: '<p>A lighthouse.</p><blockquote>An older one.</blockquote>',
        attachments: [{ filename: 'page.html', content: '<h1>Harbour</h1>' }],
      })
      const [row] = await request<{ id: string }[]>(`${api}/mailbox/messages?q=lighthouse`, key)
      const message = await request<{ subject: string; attachments: { id: string }[] }>(
        `${api}/mailbox/messages/${row!.id}`,
        key,
      )
      assert.equal(message.subject, 'Through the bundle')
      const clean = await request(`${api}/mailbox/messages/${row!.id}/clean-content`, key)
      assert.match(JSON.stringify(clean), /A lighthouse/)
      const [file] = message.attachments
      assert.match(JSON.stringify(await request(`${api}/mailbox/attachments/${file!.id}/parsed`, key)), /Harbour/)

      const arrived = once(far.events, 'mail')
      await request(`${api}/mailbox/messages/send`, key, 'POST', {
        to: [{ email: 'ann@far.test' }],
        subject: 'Back',
        text_body: LINE,
        attachments: [{ filename: 'large.txt', content: Buffer.from(LINE.repeat(60_000)).toString('base64') }],
      })
      await arrived
      const [header] = far.messages[0]!.bytes.toString('latin1').split('\r\n\r\n')
      assert.match(header!, /^DKIM-Signature: /m)
      assert.match(header!, /^Subject: Back$/m)

      for (const path of ['/docs', '/docs/sending', '/docs/api']) {
        const reply = await fetch(`${appliance.api}${path}`)
        const page = await reply.text()
        assert.ok(reply.ok, `${path}: ${reply.status}`)
        const [script] = /\/docs\/api\/scalar-[^"]+\.js/.exec(page) ?? []
        if (script !== undefined)
          assert.equal((await fetch(`${appliance.api}${script}`, { method: 'HEAD' })).status, 200)
      }
    }
    const check = start('doctor', '--json')
    const [out] = await Promise.all([check.stdout!.setEncoding('utf8').toArray(), once(check, 'close')])
    const { findings } = JSON.parse(out.join('')) as { findings: { level: string }[] }
    assert.ok(findings.length > 5)
  })
})
