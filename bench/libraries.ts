// Our own parts beside the libraries that could stand in their place: node scripts/run.js bench/libraries.ts <folder>
//
// The folder holds node_modules with those that are no dependency of the project:
//   npm install mailparser@3.9.31 postal-mime@4.0.0 email-reply-parser@2.3.7 fastify@5
// nodemailer, mailauth and Node's resolver are there already. src/README.md has the figures of one run. The vectors are those of the tests.

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import process from 'node:process'
import Router from '@koa/router'
import Koa from 'koa'
import { dkimSign, dkimVerify } from 'mailauth'
import MailComposer from 'nodemailer/lib/mail-composer/index.js'
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'
import { Agent, request } from 'undici'
import { dkimSignatures } from '../src/auth/dkim-sign.ts'
import { systemClock } from '../src/base/clock.ts'
import { openResolver } from '../src/base/resolver.ts'
import { cleanContent } from '../src/content/clean/clean.ts'
import { compose } from '../src/mime/compose/compose.ts'
import { SmtpChannel } from '../src/outbound/transports/smtp/channel.ts'
import { startDns } from '../test/support/dns.ts'
import { fixtureBytes, fixtureNames } from '../test/support/fixtures.ts'
import { foreign, timed } from './foreign.ts'
import { compareReaders } from './libraries-readers.ts'
import { printTable, short } from './table.ts'

const DRAFT = {
  from: { email: 'ana@shop.example', name: 'Ána' },
  to: [{ email: 'ben@out.example', name: 'Ben' }],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: 'Grüße aus dem Laden',
  textBody: 'A line of text, ä and more.\n'.repeat(150),
  htmlBody: '<p>A line of text, ä and more.</p>\n'.repeat(150),
  headers: [],
  messageId: 'one@shop.example',
  date: Date.UTC(2030, 0, 2),
  inReplyTo: null,
  references: [],
}

async function compareComposers(): Promise<void> {
  const rows: string[][] = []
  for (const size of [0, 1_000_000]) {
    const content = Buffer.alloc(size, 7)
    const files =
      size === 0
        ? []
        : [{ filename: 'a.bin', type: null, content, disposition: 'attachment' as const, contentId: null }]
    const ours = () => compose({ ...DRAFT, attachments: files })
    const theirs = () =>
      new MailComposer({
        from: { name: 'Ána', address: DRAFT.from.email },
        to: { name: 'Ben', address: 'ben@out.example' },
        subject: DRAFT.subject,
        text: DRAFT.textBody,
        html: DRAFT.htmlBody,
        attachments: files.map(({ filename }) => ({ filename, content })),
      })
        .compile()
        .build()
    for (const [name, make] of [
      ['ours', ours],
      ['nodemailer 10.6.0', theirs],
    ] as const) {
      const count = size === 0 ? 1000 : 50
      for (let i = 0; i < count; i++) await make()
      const ms = await timed(async () => {
        for (let i = 0; i < count; i++) await make()
      })
      rows.push([name, size === 0 ? '9 KB text and HTML' : 'with 1 MB file', short((count / ms) * 1000)])
    }
  }
  printTable('Composer', ['Composer', 'Message', 'messages/s'], rows)
  const odd = (options: object) => new MailComposer(options).compile().getEnvelope().to
  console.log(
    'nodemailer, recipients of {to: {address: "a@a.example, z@z.example"}}:',
    odd({ to: { address: 'a@a.example, z@z.example' } }),
  )
  const name = new MailComposer({ to: 'a@a.example', headers: { 'X-A\r\nBcc': 'z@z.example' } }).compile()
  console.log('nodemailer, a header whose name holds CRLF:', (await name.build()).toString().match(/^X-A.*$/m)?.[0])
  console.log(
    'nodemailer, recipients of {headers: {Bcc: "z@z.example"}}:',
    odd({ to: 'a@a.example', headers: { Bcc: 'z@z.example' } }),
  )
}

async function compareSigners(): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`
  const key = { domain: 'shop.example', selector: 's', algorithm: 'rsa-sha256' as const, privateKey }
  const signers: Record<string, (bytes: Buffer) => Promise<string>> = {
    ours: (bytes) => dkimSignatures(bytes, [key], Date.now()),
    'mailauth 7.1.0': async (bytes) => {
      // Its types want the members of a signature outside of the list as well.
      const signature = { signingDomain: 'shop.example', selector: 's', privateKey: pem }
      return (await dkimSign(bytes, { ...signature, signatureData: [signature] })).signatures
    },
  }
  const rows: string[][] = []
  for (const [size, count] of [
    [4_000, 400],
    [1_000_000, 40],
  ] as const) {
    const bytes = compose({
      ...DRAFT,
      textBody: 'A line of text.\n'.repeat(size / 16),
      htmlBody: null,
      attachments: [],
    }).bytes
    for (const [name, signer] of Object.entries(signers)) {
      const signed = Buffer.concat([Buffer.from(await signer(bytes)), bytes])
      const { results } = await dkimVerify(signed, { resolver: async () => [[record]] })
      const cpu = process.threadCpuUsage()
      const ms = await timed(async () => {
        for (let i = 0; i < count; i += 4) await Promise.all(Array.from({ length: 4 }, () => signer(bytes)))
      })
      const { user, system } = process.threadCpuUsage(cpu)
      rows.push([
        name,
        `${size / 1000} kB`,
        short((count / ms) * 1000),
        short((user + system) / 1000 / count),
        results[0]?.status.result ?? '',
      ])
    }
  }
  printTable(
    'DKIM, RSA 2048, four at a time',
    ['Signer', 'Message', 'messages/s', 'ms of the calling thread', 'verified'],
    rows,
  )
}

async function compareResolvers(): Promise<void> {
  const names = Array.from({ length: 2000 }, (_, i) => `n${i}.example`)
  await using dns = await startDns(Object.fromEntries(names.map((name) => [name, { A: ['192.0.2.1'], ttl: 600 }])))
  const own = openResolver({ servers: [dns.address], clock: systemClock })
  const { Resolver } = await import('node:dns/promises')
  const node = new Resolver()
  node.setServers([dns.address])
  const rows: string[][] = []
  for (const [name, ask] of [
    ['ours', (one: string) => own.resolve(one, 'A')],
    [`node:dns ${process.version}`, (one: string) => node.resolve(one, 'A')],
  ] as const) {
    const all = async () => {
      for (let i = 0; i < names.length; i += 20) await Promise.all(names.slice(i, i + 20).map(ask))
    }
    const asked = dns.queries.length
    const first = await timed(all)
    const again = await timed(all)
    rows.push([
      name,
      short((names.length / first) * 1000),
      short((names.length / again) * 1000),
      String(dns.queries.length - asked),
    ])
  }
  await own.close()
  printTable('2,000 names, each asked twice', ['Resolver', 'first, names/s', 'again, names/s', 'queries'], rows)
}

/** A server whose greeting never ends: what a client reads of it, and in which time. */
async function compareSmtpClients(): Promise<void> {
  const limitMs = 10_000
  const rows: string[][] = []
  for (const name of ['ours', 'nodemailer 10.6.0']) {
    let sent = 0
    const server = createServer((socket) => {
      socket.on('error', () => {})
      const more = () => {
        if (socket.destroyed) return
        sent += 65_536
        socket.write(Buffer.alloc(65_536, '220-more\r\n'), () => setImmediate(more))
      }
      more()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const before = process.memoryUsage().rss
    let outcome = ''
    const ms = await timed(async () => {
      outcome = await (name === 'ours' ? greetOurs(port) : greetNodemailer(port, limitMs))
    })
    const grown = Math.max(0, process.memoryUsage().rss - before)
    rows.push([name, `${short(ms)} ms`, `${short(sent / 1e6)} MB`, `${short(grown / 1e6)} MB`, outcome])
    server.close()
  }
  printTable(
    'An endless greeting (stopped after 10 s)',
    ['SMTP client', 'ends after', 'read', 'memory grown', 'with'],
    rows,
  )
}

async function greetOurs(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const channel = new SmtpChannel(socket, { clock: systemClock, peer: 'peer', stage: 'greeting' })
  channel.expect(1)
  const result = await channel.read(60_000).then(
    () => 'accepted',
    (error: Error) => error.message,
  )
  socket.destroy()
  return result
}

function greetNodemailer(port: number, limitMs: number): Promise<string> {
  const client = new SMTPConnection({ host: '127.0.0.1', port, ignoreTLS: true })
  return new Promise((done) => {
    const finish = (text: string) => {
      client.close()
      done(text)
    }
    const timer = setTimeout(() => finish('still reading'), limitMs)
    client.on('error', (error: Error) => {
      clearTimeout(timer)
      finish(error.message)
    })
    client.connect(() => finish('accepted'))
  })
}

/** Replies of crisp's own suite, the library's, that begin with the one answer most of them share. */
function compareCleaners(): void {
  type Email = { read(text: string): { getVisibleText(): string } }
  const loaded = foreign<{ default?: new () => Email }>('email-reply-parser') as unknown as {
    default?: new () => Email
  }
  const Parser = loaded.default ?? (loaded as unknown as new () => Email)
  const common = /^Fusce bibendum, [^>]+ aliquet nec nec nibh\.$/
  const options = {
    format: 'text',
    chars: 100_000,
    includeQuoted: false,
    includeSignature: false,
    links: 'list',
  } as const
  const ours = (text: string) => cleanContent({ text, html: null, incomplete: false, fromDomain: '' }, options).content
  const theirs = (text: string) => new Parser().read(text).getVisibleText()
  const texts = fixtureNames('clean-content/crisp', '.txt').map((name) =>
    fixtureBytes(`clean-content/crisp/${name}`).toString().replaceAll('\r\n', '\n'),
  )
  const long = `${'> a quoted line of an earlier message\nOn a day somebody wrote\n'.repeat(20_000)}\n`
  const rows = (
    [
      ['ours', ours],
      ['email-reply-parser 2.3.7', theirs],
    ] as const
  ).map(([name, clean]) => {
    const found = texts.filter((text) => common.test(clean(text).replace(/\s+/g, ' ').trim())).length
    for (let i = 0; i < 20; i++) texts.forEach(clean)
    const began = performance.now()
    for (let i = 0; i < 50; i++) texts.forEach(clean)
    const perSecond = (texts.length * 50_000) / (performance.now() - began)
    const at = performance.now()
    clean(long)
    return [name, `${found} of ${texts.length}`, short(perSecond), `${short(performance.now() - at)} ms`]
  })
  printTable('Clean content of plain text', ['Cleaner', 'the shared answer alone', 'texts/s', '1.2 MB of quotes'], rows)
}

interface Fastify {
  get(path: string, handle: () => Promise<object>): void
  listen(options: { port: number; host: string }): Promise<string>
  close(): Promise<void>
}

/** The frames alone, one JSON object at one path; what our chain does comes on top of either. */
async function compareFrames(): Promise<void> {
  const body = { ok: true, data: { id: 'x' } }
  const router = new Router()
  router.get('/x', (ctx) => {
    ctx.body = body
  })
  const koa = createHttpServer(new Koa().use(router.routes()).callback()).listen(0, '127.0.0.1')
  await once(koa, 'listening')
  const fastify = foreign<() => Fastify>('fastify')()
  fastify.get('/x', async () => body)
  const rows: string[][] = []
  const koaUrl = `http://127.0.0.1:${(koa.address() as { port: number }).port}/x`
  const urls = {
    'koa 3, @koa/router 15': koaUrl,
    'fastify 5': `${await fastify.listen({ port: 0, host: '127.0.0.1' })}/x`,
  }
  const pool = new Agent({ connections: 32 })
  for (const [name, url] of Object.entries(urls)) {
    const work = async (count: number) => {
      const client = async () => {
        for (let i = 0; i < count / 32; i++) await (await request(url, { dispatcher: pool })).body.dump()
      }
      await Promise.all(Array.from({ length: 32 }, client))
    }
    await work(6_400)
    rows.push([name, short(32_000_000 / (await timed(() => work(32_000))))])
  }
  await pool.close()
  await fastify.close()
  koa.close()
  printTable('HTTP frames, client in the same process', ['Frame', 'requests/s'], rows)
}

await compareReaders()
await compareComposers()
await compareSigners()
await compareResolvers()
await compareSmtpClients()
compareCleaners()
await compareFrames()
process.exit(0)
