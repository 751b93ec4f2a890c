// IMAP with other people's programs: Python's imaplib, curl, imapflow, and mbsync both ways; with an app password and a certificate they trust.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { ImapFlow } from 'imapflow'
import { writeMbsyncConfig } from '../support/mbsync.ts'
import { ProgramAppliance, subjectsIn } from '../support/program-accounts.ts'
import { missingProgram } from '../support/programs.ts'
import { PYTHON } from '../support/python.ts'

const run = promisify(execFile)

let programs: ProgramAppliance
const noAuthority = missingProgram('openssl', ['version'])
before(async () => {
  if (noAuthority === false) programs = await ProgramAppliance.start()
})
after(() => programs?.[Symbol.asyncDispose]())

const STORY = String.raw`
import imaplib, ssl, sys, time
tls, plain, user, secret = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
context = ssl.create_default_context(cafile=sys.argv[5])
def ok(answer, *wanted):
    assert answer[0] in ('OK', 'BYE'), answer
    for one in wanted:
        assert one in str(answer[1]), (one, answer)
m = imaplib.IMAP4_SSL('localhost', tls, ssl_context=context)
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
m = imaplib.IMAP4('localhost', plain)
m.starttls(context)
ok(m.authenticate('PLAIN', lambda _: ('\0%s\0%s' % (user, secret)).encode()))
ok(m.select('Archive', readonly=True), '1')
ok(m.fetch('1', '(UID ENVELOPE BODYSTRUCTURE)'), 'hello')
ok(m.logout())
print('done')
`

describe('Python imaplib', { skip: noAuthority || missingProgram(PYTHON) }, () => {
  it('appends, searches, reads, flags, copies and expunges', async () => {
    const { imaps, imap, email, password, authority } = await programs.account('python', 0)
    const { stdout } = await run(PYTHON, ['-c', STORY, String(imaps), String(imap), email, password, authority])
    assert.equal(stdout.trim(), 'done')
  })
})

describe('curl', { skip: noAuthority || missingProgram('curl') }, () => {
  it('lists, appends, reads and searches', async () => {
    const { email, password, host, imaps, authority, home } = await programs.account('curl', 0)
    const message = 'Subject: by curl\r\n\r\ntext\r\n'
    await writeFile(join(home, 'curl.eml'), message)
    const curl = async (path: string, ...more: string[]) => {
      const login = ['--cacert', authority, '-u', `${email}:${password}`]
      return (await run('curl', ['-sS', `imaps://${host}:${imaps}/${path}`, ...login, ...more])).stdout
    }
    assert.match(await curl(''), /INBOX/)
    await curl('INBOX', '-T', join(home, 'curl.eml'))
    assert.equal(await curl('INBOX;UID=1'), message)
    assert.match(await curl('INBOX?SUBJECT%20curl'), /\* SEARCH 1/)
  })
})

describe('imapflow', { skip: noAuthority }, () => {
  it('lists, appends, searches, flags, moves, hears of new messages, and removes folders', async () => {
    const account = await programs.account('imapflow', 10)
    const { host, imaps: port, email: user, password: pass } = account
    const ca = await readFile(account.authority)
    const client = new ImapFlow({ host, port, secure: true, auth: { user, pass }, tls: { ca }, logger: false })
    await client.connect()
    const folders = await client.list({ statusQuery: { messages: true, unseen: true } })
    const inbox = folders.find(({ path }) => path === 'INBOX')!
    assert.deepEqual([inbox.status!.messages, inbox.status!.unseen], [10, 5])
    assert.deepEqual(
      folders
        .map(({ specialUse }) => specialUse)
        .filter((use) => use !== undefined)
        .toSorted(),
      ['\\Archive', '\\Drafts', '\\Inbox', '\\Junk', '\\Sent', '\\Trash'],
    )
    await client.mailboxOpen('INBOX')
    const appended = await client.append('INBOX', 'Subject: flow\r\n\r\ntext\r\n', ['\\Seen', 'Work'])
    assert.ok(appended !== false && appended.uid === 11)
    const message = await client.fetchOne(
      '11',
      { source: true, flags: true, envelope: true, threadId: true },
      { uid: true },
    )
    assert.ok(message !== false)
    assert.equal(message.source!.toString(), 'Subject: flow\r\n\r\ntext\r\n')
    assert.deepEqual([[...message.flags!].toSorted(), message.envelope!.subject], [['\\Seen', 'work'], 'flow'])
    assert.match(String(message.emailId), /^msg_/)
    assert.deepEqual(await client.search({ subject: 'far', seen: false }, { uid: true }), [2, 4, 6, 8, 10])
    await client.messageFlagsAdd('2:3', ['\\Flagged'], { uid: true })
    await client.mailboxCreate('Clients/Ärzte')
    assert.ok(await client.messageMove('2,4', 'Clients/Ärzte', { uid: true }))
    const arrived = new Promise((resolve) => client.once('exists', resolve))
    const idle = client.idle()
    await account.client.run('APPEND INBOX {14+}\r\nSubject: new\r\n')
    assert.deepEqual(await arrived, { path: 'INBOX', count: 10, prevCount: 9 })
    await client.noop()
    await idle
    assert.deepEqual(await subjectsIn(account, '"Clients/&AMQ-rzte"', 'FLAGGED'), ['far 1'])
    await client.mailboxDelete('Clients/Ärzte')
    await client.logout()
  })
})

describe('mbsync', { skip: noAuthority || missingProgram('mbsync') }, () => {
  it('synchronises both ways with SCRAM-SHA-256, and then finds nothing to do', async () => {
    const account = await programs.account('mbsync', 40)
    const { client, home } = account
    const config = await writeMbsyncConfig(account)
    const sync = () => run('mbsync', ['-c', config, 'all'])
    await sync()
    const near = join(home, 'mail/INBOX')
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
