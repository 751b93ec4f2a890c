// IMAP with other people's programs: Python's imaplib, curl, and mbsync both ways.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { logInImap } from '../support/imap.ts'
import { missingProgram } from '../support/programs.ts'
import { PYTHON } from '../support/python.ts'

const run = promisify(execFile)

let appliance: TestAppliance
let team: TestTeam
let folder: string

before(async () => {
  appliance = await startAppliance()
  team = await appliance.team()
  await team.domain('acme.test')
  folder = await mkdtemp(join(tmpdir(), 'mailstead-imap-'))
})
after(async () => {
  await appliance.close()
  await rm(folder, { recursive: true, force: true })
})

const STORY = String.raw`
import imaplib, ssl, sys, time
tls, plain, user, secret = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
context = ssl._create_unverified_context()
def ok(answer, *wanted):
    assert answer[0] in ('OK', 'BYE'), answer
    for one in wanted:
        assert one in str(answer[1]), (one, answer)
m = imaplib.IMAP4_SSL('127.0.0.1', tls, ssl_context=context)
ok(m.login(user, secret))
ok(m.list(), 'INBOX', 'Trash')
ok(m.append('INBOX', '\\Flagged', imaplib.Time2Internaldate(time.time()), b'From: a@b.test\r\nSubject: hello\r\n\r\nbody here\r\n'), 'APPENDUID')
ok(m.append('INBOX', None, None, b'From: c@d.test\r\nSubject: other\r\n\r\nnothing\r\n'))
ok(m.select(), '2')
ok(m.search(None, 'FROM', '"a@b"'), "b'1'")
ok(m.search('UTF-8', 'BODY', 'nothing'), "b'2'")
ok(m.fetch('1', '(RFC822)'), 'body here')
ok(m.store('2', '+FLAGS', '(\\Deleted kw)'), 'kw')
ok(m.expunge(), '2')
ok(m.copy('1', 'Archive'), 'COPYUID')
ok(m.create('x/y'))
ok(m.status('x/y', '(MESSAGES UIDNEXT)'), 'MESSAGES 0')
ok(m.delete('x/y'))
ok(m.getquotaroot('INBOX'))
ok(m.close())
ok(m.logout())
m = imaplib.IMAP4('127.0.0.1', plain)
m.starttls(context)
ok(m.authenticate('PLAIN', lambda _: ('\0%s\0%s' % (user, secret)).encode()))
ok(m.select('Archive', readonly=True), '1')
ok(m.fetch('1', '(UID ENVELOPE BODYSTRUCTURE)'), 'hello')
ok(m.logout())
print('done')
`

describe('Python imaplib', { skip: missingProgram(PYTHON) }, () => {
  it('appends, searches, reads, flags, copies and expunges', async () => {
    const box = await team.mailbox('python@acme.test')
    const { imaps, imap } = appliance.ports
    const { stdout } = await run(PYTHON, ['-c', STORY, String(imaps), String(imap), box.email, box.key])
    assert.equal(stdout.trim(), 'done')
  })
})

describe('curl', { skip: missingProgram('curl') }, () => {
  it('lists, appends, reads and searches', async () => {
    const box = await team.mailbox('curl@acme.test')
    const message = 'Subject: by curl\r\n\r\ntext\r\n'
    await writeFile(join(folder, 'curl.eml'), message)
    const curl = async (path: string, ...more: string[]) => {
      const url = `imaps://127.0.0.1:${appliance.ports.imaps}/${path}`
      return (await run('curl', ['-sSk', url, '-u', `${box.email}:${box.key}`, ...more])).stdout
    }
    assert.match(await curl(''), /INBOX/)
    await curl('INBOX', '-T', join(folder, 'curl.eml'))
    assert.equal(await curl('INBOX;UID=1'), message)
    assert.match(await curl('INBOX?SUBJECT%20curl'), /\* SEARCH 1/)
  })
})

describe('mbsync', { skip: missingProgram('mbsync') }, () => {
  it('synchronises both ways with SCRAM-SHA-256, and then finds nothing to do', async () => {
    const box = await team.mailbox('mbsync@acme.test')
    const made = await appliance.call('POST', `/mailboxes/${box.id}/app-passwords`, team.key, { name: 'mbsync' })
    const client = await logInImap(appliance, box)
    for (let i = 0; i < 40; i++) {
      const text = `Message-ID: <${i}@x.test>\r\nSubject: far ${i}\r\n\r\nx\r\n`
      await client.run(`APPEND INBOX (${i % 2 === 0 ? '\\Seen' : ''}) {${text.length}}`, text)
    }
    const config = await mbsyncConfig(box.email, made.body.data.password)
    const sync = () => run('mbsync', ['-c', config, 'all'])
    await sync()
    const near = join(folder, 'md/INBOX')
    const files = (await readdir(join(near, 'cur'))).concat(await readdir(join(near, 'new')))
    assert.equal(files.length, 40)
    await writeFile(join(near, 'new/1.1.host'), 'Message-ID: <near@x.test>\nSubject: near\n\nx\n')
    const [trashed] = (await readdir(join(near, 'cur'))).filter((name) => name.endsWith(':2,S'))
    await rename(join(near, 'cur', trashed!), join(near, 'cur', trashed!.replace(':2,S', ':2,ST')))
    await sync()
    await client.run('SELECT INBOX')
    assert.match((await client.run('SEARCH RETURN (COUNT) ALL')).untagged[0]!, /COUNT 40$/)
    assert.match((await client.run('SEARCH SUBJECT near')).untagged[0]!, /SEARCH 40$/)
    const state = await readFile(join(near, '.mbsyncstate'), 'utf8')
    await sync()
    assert.equal(await readFile(join(near, '.mbsyncstate'), 'utf8'), state)
  })
})

async function mbsyncConfig(user: string, secret: string): Promise<string> {
  await mkdir(join(folder, 'md'))
  const certificate = join(folder, 'cert.pem')
  await writeFile(certificate, appliance.app.certificate.pair.cert)
  const config = join(folder, 'mbsyncrc')
  const account = ['IMAPAccount a', 'Host 127.0.0.1', `Port ${appliance.ports.imaps}`, `User ${user}`, `Pass ${secret}`]
  const stores = ['SSLType IMAPS', `CertificateFile ${certificate}`, '', 'IMAPStore far', 'Account a', '']
  const near = ['MaildirStore near', `Path ${folder}/md/`, `Inbox ${folder}/md/INBOX`, 'SubFolders Verbatim', '']
  const channel = [
    'Channel all',
    'Far :far:',
    'Near :near:',
    'Patterns *',
    'Create Both',
    'Expunge Both',
    'SyncState *',
    '',
  ]
  await writeFile(config, [...account, ...stores, ...near, ...channel].join('\n'), { mode: 0o600 })
  return config
}
