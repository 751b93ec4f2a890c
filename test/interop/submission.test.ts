// Submission by mail programs: swaks, msmtp, curl and nodemailer hand messages in, and a real Postfix receives them; dkimpy and OpenDKIM
// verify the signatures there.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type SmtpTransport from 'nodemailer/lib/smtp-transport'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { eventually } from '../support/eventually.ts'
import { type Postfix, startPostfix } from '../support/postfix.ts'
import { missingProgram } from '../support/programs.ts'
import { askPython, PYTHON } from '../support/python.ts'

const RUN_LIMIT_MS = 60_000
const IS_ROOT = process.getuid?.() === 0
const POSTFIX =
  missingProgram('postfix') ||
  missingProgram('id', ['postfix'], 'the user postfix') ||
  (IS_ROOT ? false : 'only root can run Postfix')
const SWAKS =
  missingProgram('swaks') || missingProgram('perl', ['-MNet::SSLeay', '-e', '1'], 'Net::SSLeay (libnet-ssleay-perl)')
const MSMTP = missingProgram('msmtp')
const CURL = missingProgram('curl')
const DKIMPY = missingProgram(PYTHON, ['-c', 'import dkim'], 'dkimpy (python3-dkim)')
const OPENDKIM = missingProgram('opendkim', ['-V'])

let folder: string
let postfix: Postfix
let appliance: TestAppliance
let ada: { id: string; email: string; key: string }
let password: string
/** What is in DNS for the keys of acme.test, by name. */
let published: Record<string, string>

before(async () => {
  if (POSTFIX !== false) return
  folder = await mkdtemp(join(tmpdir(), 'mailstead-programs-'))
  postfix = await startPostfix()
  const zone = {
    'out.test': { MX: [{ priority: 10, exchange: 'mx.postfix.test' }] },
    'mx.postfix.test': { A: ['127.0.0.1'] },
  }
  const env = { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(postfix.port) }
  appliance = await startAppliance({ zone, env })
  const team = await appliance.team()
  const domain = await team.domain('acme.test')
  ada = await team.mailbox('ada@acme.test')
  const issued = await appliance.app.directory.appPasswords.issue(team.id, ada.id, { name: 'x', createdBy: 'operator' })
  password = issued.secret
  const { records } = appliance.app.directory.domains.get(team.id, domain)!
  published = Object.fromEntries(records.dkim.map(({ name, value }) => [name, value]))
})
after(async () => {
  if (POSTFIX !== false) return
  await appliance.close()
  await postfix[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** A message of a person, as a mail program without any care writes it: hidden recipients and raw UTF-8 included. */
function written(subject: string): string {
  return [
    'From: Ada <ada@acme.test>',
    'To: bob@out.test',
    'Bcc: hidden@acme.test',
    `Subject: ${subject}`,
    '',
    'Grüße aus Köln.',
    '.',
    '..',
    'A line of '.padEnd(1200, 'x'),
    '',
  ].join('\r\n')
}

interface Run {
  code: number
  output: string
}

async function run(program: string, args: readonly string[], input = ''): Promise<Run> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: RUN_LIMIT_MS })
  child.stdin.on('error', () => {}).end(input)
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
  const outputs = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, output: outputs.join('\n') }
}

/** The message with this subject in the mailbox at Postfix, with CRLF. */
async function received(subject: string): Promise<Buffer> {
  await appliance.settle()
  // Postfix delivers in processes of its own.
  const [mail] = await eventually(
    async () => (await postfix.messages()).filter((text) => text.includes(`\nSubject: ${subject}\n`)),
    (mails) => mails.length > 0,
  )
  return Buffer.from(mail!.replaceAll('\n', '\r\n'), 'latin1')
}

/** What every message must be after its way. */
async function verify(mail: Buffer, program: string): Promise<void> {
  const shown = mail.toString('latin1')
  assert.doesNotMatch(shown, /hidden|^bcc/im, program)
  assert.match(shown, /^Received: by mx\.mailstead\.test with (?:ESMTPSA|UTF8SMTPSA) id eml_/m)
  if (DKIMPY === false) assert.deepEqual(await byDkimpy(mail), ['pass'], `${program}: dkimpy`)
  if (OPENDKIM === false) assert.match(await byOpenDkim(mail), /verification \(s=\S+, d=acme\.test, [^)]+\) succeeded/)
}

const DKIM_SCRIPT = `
import sys, json, dkim
records = json.loads(RECORDS)
def answer(name, timeout=5):
    return records[name.decode().rstrip('.')].encode()
mail = open(sys.argv[1], 'rb').read()
count = mail.split(b'\\r\\n\\r\\n')[0].lower().count(b'dkim-signature:')
print(json.dumps(['pass' if dkim.DKIM(mail).verify(idx=i, dnsfunc=answer) else 'fail' for i in range(count)]))
`

function byDkimpy(mail: Buffer): Promise<string[]> {
  return askPython(DKIM_SCRIPT.replace('RECORDS', JSON.stringify(JSON.stringify(published))), [mail])
}

async function byOpenDkim(mail: Buffer): Promise<string> {
  const keys = join(folder, 'keys')
  const file = join(folder, 'message.eml')
  const conf = join(folder, 'opendkim.conf')
  await writeFile(
    keys,
    Object.entries(published)
      .map((entry) => `${entry.join(' ')}\n`)
      .join(''),
  )
  await writeFile(file, mail)
  await writeFile(conf, `TestPublicKeys ${keys}\nMode v\nSyslog no\nRequireSafeKeys no\n`)
  return (await run('opendkim', ['-x', conf, '-t', file, '-vvv'])).output
}

const server = (port: number) => ({ host: '127.0.0.1', port })

describe('swaks', { skip: POSTFIX || SWAKS }, () => {
  for (const [port, tls] of [
    ['submissions', '--tlsc'],
    ['submission', '--tls'],
  ] as const) {
    for (const mechanism of ['PLAIN', 'LOGIN']) {
      it(`submits by ${tls} and ${mechanism}`, async () => {
        const subject = `swaks ${tls} ${mechanism}`
        const { output } = await run('swaks', [
          ...['--server', '127.0.0.1', '--port', String(appliance.ports[port]), tls],
          ...['--auth', mechanism, '--auth-user', ada.email, '--auth-password', password],
          ...['--from', ada.email, '--to', 'bob@out.test', '--data', written(subject)],
        ])
        assert.match(output, /<~ {2}250 2\.0\.0 Ok: queued as eml_/, output)
        await verify(await received(subject), 'swaks')
      })
    }
  }

  it('hears why From is refused', async () => {
    const { output } = await run('swaks', [
      ...['--server', '127.0.0.1', '--port', String(appliance.ports.submissions), '--tlsc'],
      ...['--auth', 'PLAIN', '--auth-user', ada.email, '--auth-password', password],
      ...['--from', ada.email, '--to', 'bob@out.test', '--header', 'From: eve@acme.test', '--body', 'x'],
    ])
    assert.match(output, /<~\* 550 5\.7\.1 .*ada@acme\.test/, output)
  })
})

describe('msmtp', { skip: POSTFIX || MSMTP }, () => {
  const cases = [
    ...['plain', 'login', 'scram-sha-256'].map((auth) => ({ auth, secret: () => password })),
    ...['oauthbearer', 'xoauth2'].map((auth) => ({ auth, secret: () => ada.key })),
  ]
  for (const [index, { auth, secret }] of cases.entries()) {
    it(`submits by ${auth}`, async () => {
      const starts = index % 2 === 1
      const subject = `msmtp ${auth}`
      const port = starts ? appliance.ports.submission : appliance.ports.submissions
      const { code, output } = await run(
        'msmtp',
        [
          ...['--host=127.0.0.1', `--port=${port}`, '--tls=on', `--tls-starttls=${starts ? 'on' : 'off'}`],
          ...['--tls-certcheck=off', `--auth=${auth}`, `--user=${ada.email}`, `--passwordeval=echo ${secret()}`],
          // What msmtp would do itself is left to the server.
          ...['--remove-bcc-headers=off', '--set-date-header=off', '--set-msgid-header=off'],
          ...[`--from=${ada.email}`, 'bob@out.test'],
        ],
        written(subject).replaceAll('\r\n', '\n'),
      )
      assert.equal(code, 0, output)
      const mail = await received(subject)
      assert.match(mail.toString('latin1'), /^Date: .*\r\nMessage-ID: <eml_\w+@acme\.test>/m)
      await verify(mail, 'msmtp')
    })
  }
})

describe('curl', { skip: POSTFIX || CURL }, () => {
  const submit = async (url: string, args: readonly string[], subject: string) => {
    const envelope = ['--mail-from', ada.email, '--mail-rcpt', 'bob@out.test', '--upload-file', '-', '-k', '-sS']
    const { code, output } = await run('curl', [url, ...envelope, ...args], written(subject))
    assert.equal(code, 0, output)
    await verify(await received(subject), 'curl')
  }

  it('submits to smtps:// with an app password, by PLAIN and LOGIN', async () => {
    const url = `smtps://127.0.0.1:${appliance.ports.submissions}`
    await submit(url, ['--user', `${ada.email}:${password}`, '--login-options', 'AUTH=PLAIN'], 'curl PLAIN')
    await submit(url, ['--user', `${ada.email}:${password}`, '--login-options', 'AUTH=LOGIN'], 'curl LOGIN')
  })

  it('submits after STARTTLS with a bearer token', async () => {
    const url = `smtp://127.0.0.1:${appliance.ports.submission}`
    await submit(url, ['--ssl-reqd', '--user', ada.email, '--oauth2-bearer', ada.key], 'curl bearer')
  })
})

describe('nodemailer', { skip: POSTFIX }, () => {
  const send = async (options: SmtpTransport.Options, message: SendMailOptions) => {
    const transport = createTransport({ ...options, tls: { rejectUnauthorized: false } })
    try {
      return await transport.sendMail({ from: `Ada <${ada.email}>`, to: 'bob@out.test', ...message })
    } finally {
      transport.close()
    }
  }
  const user = () => ({ user: ada.email, pass: password })

  it('submits with files and hidden recipients, by both ports', async () => {
    for (const [name, options] of [
      ['secure', { ...server(appliance.ports.submissions), secure: true }],
      ['upgraded', { ...server(appliance.ports.submission), requireTLS: true }],
    ] as const) {
      const subject = `nodemailer ${name}`
      const bcc = 'hidden <bob@out.test>'
      const attachments = [{ filename: 'Grüße.txt', content: 'Grüße' }]
      const message = { subject, bcc, text: 'Grüße', html: '<b>Grüße</b>', attachments }
      const { response } = await send({ ...options, auth: user() }, message)
      assert.match(response, /^250 2\.0\.0 Ok: queued as eml_/)
      await verify(await received(subject), 'nodemailer')
    }
  })

  it('submits with OAuth, and hears what is wrong', async () => {
    const secure = { ...server(appliance.ports.submissions), secure: true }
    const auth = { type: 'OAuth2' as const, user: ada.email, accessToken: ada.key }
    await send({ ...secure, auth }, { subject: 'nodemailer OAuth', text: 'x' })
    await verify(await received('nodemailer OAuth'), 'nodemailer')
    const wrong = send({ ...secure, auth: { user: ada.email, pass: 'wrong' } }, { subject: 'x', text: 'x' })
    await assert.rejects(wrong, /535 5\.7\.8/)
    const program = { filename: 'setup.exe', content: 'x' }
    const file = send({ ...secure, auth: user() }, { subject: 'x', text: 'x', attachments: [program] })
    await assert.rejects(file, /552 5\.7\.0/)
  })
})
