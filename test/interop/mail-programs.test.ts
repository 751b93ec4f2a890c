// IMAP with mail programs as people use them: offlineimap, neomutt, aerc, fetchmail, getmail and Thunderbird, with an app password and a certificate they trust.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { startScript } from '../support/mail-server.ts'
import { type ProgramAccount, ProgramAppliance, readMaildir, subjectsIn } from '../support/program-accounts.ts'
import { missingProgram } from '../support/programs.ts'
import { Thunderbird, thunderbirdMissing } from '../support/thunderbird.ts'

const run = promisify(execFile)
const LIMIT_MS = 60_000
const COUNT = 20
const subject = (n: number) => `far ${n}`
const ALL = Array.from({ length: COUNT }, (_, n) => subject(n))

let programs: ProgramAppliance
const noAuthority = missingProgram('openssl', ['version'])
before(async () => {
  if (noAuthority === false) programs = await ProgramAppliance.start()
})
after(() => programs?.[Symbol.asyncDispose]())

function missing(program: string, option: string): { skip: false | string } {
  return { skip: noAuthority || missingProgram(program, [option]) }
}

async function writeConfig({ home }: ProgramAccount, name: string, lines: readonly string[]): Promise<string> {
  const path = join(home, name)
  await writeFile(path, `${lines.join('\n')}\n`, { mode: 0o600 })
  return path
}

suite('offlineimap', missing('offlineimap', '--version'), () => {
  test('synchronises both ways, flags and deletions included, and then finds nothing to do', async () => {
    const account = await programs.account('offlineimap', COUNT)
    const { home, host, imaps, email, password, authority, client } = account
    const config = await writeConfig(account, 'rc', [
      ...['[general]', 'accounts = a', `metadata = ${home}/state`],
      ...['[Account a]', 'localrepository = near', 'remoterepository = far'],
      ...['[Repository near]', 'type = Maildir', `localfolders = ${home}/mail`],
      ...['[Repository far]', 'type = IMAP', `remotehost = ${host}`, `remoteport = ${imaps}`, `remoteuser = ${email}`],
      ...[`remotepass = ${password}`, 'ssl = yes', `sslcacertfile = ${authority}`],
    ])
    const env = { ...process.env, HOME: home }
    const sync = async () => {
      const args = ['-c', config, '-o', '-u', 'basic']
      const { stdout, stderr } = await run('offlineimap', args, { env, timeout: LIMIT_MS })
      return stdout + stderr
    }
    await sync()
    const inbox = join(home, 'mail/INBOX')
    const files = await readMaildir(inbox)
    const subjects = [...files.values()].map((text) => /^Subject: (.*)\r$/m.exec(text)![1])
    assert.deepEqual(subjects.toSorted(), ALL.toSorted())
    // The even ones are read.
    for (const [name, text] of files) assert.equal(/,S?$/.exec(name)?.[0] === ',S', /far \d*[02468]\r/.test(text), name)
    const nameOf = (n: number) => [...files].find(([, text]) => text.includes(`${subject(n)}\r`))![0]
    await rm(join(inbox, 'cur', nameOf(2)))
    await rename(join(inbox, 'cur', nameOf(4)), join(inbox, 'cur', nameOf(4).replace(/,S$/, ',FS')))
    await writeFile(join(inbox, 'new/1.1.host'), 'Message-ID: <near@near.test>\nSubject: near\n\nwritten here\n')
    await client.run('SELECT INBOX')
    await client.run('STORE 7 +FLAGS (\\Answered)')
    await client.run('STORE 9 +FLAGS (\\Deleted)')
    await client.run('EXPUNGE')
    await sync()
    const left = [...ALL.filter((one) => one !== subject(2) && one !== subject(8)), 'near']
    assert.deepEqual(await subjectsIn(account, 'INBOX'), left)
    assert.deepEqual(await subjectsIn(account, 'INBOX', 'FLAGGED'), [subject(4)])
    const again = await readMaildir(inbox)
    assert.equal(again.size, left.length)
    assert.match([...again].find(([, text]) => text.includes('far 6\r'))![0], /,RS$/)
    assert.doesNotMatch(await sync(), /Copy message|Deleting|Adding flag|ERROR/i)
  })
})

suite('neomutt', missing('neomutt', '-v'), () => {
  test('opens, flags, moves, deletes and searches on the server; finds its changes again by QRESYNC', async () => {
    const account = await programs.account('neomutt', COUNT)
    const { home, host, imaps, email, password, authority } = account
    await mkdir(join(home, 'headers'))
    const config = await writeConfig(account, 'rc', [
      `set ssl_force_tls=yes ssl_ca_certificates_file=${authority} certificate_file=${home}/certificates`,
      `set imap_user=${email} imap_pass=${password} folder=imaps://${host}:${imaps}/ spool_file=+INBOX trash=`,
      `set header_cache=${home}/headers imap_condstore=yes imap_qresync=yes sort=mailbox-order`,
      'set quit=yes delete=yes move=no mark_old=no resolve=no confirm_append=no wait_key=no',
    ])
    const work = async (...keys: string[]) => {
      // It needs a terminal.
      const command = `neomutt -n -F ${config} -e 'push "${keys.join('')}<quit>"'`
      const env = { ...process.env, HOME: home, TERM: 'xterm' }
      const child = run('script', ['-qec', command, '/dev/null'], { env, timeout: LIMIT_MS })
      return (await child).stdout
    }
    const search = '<tag-pattern>=b body\\\\ 17<enter><tag-prefix><set-flag>!<untag-pattern>.<enter>'
    await work('<first-entry><flag-message><next-entry><save-message>=Archive<enter>', search)
    await work('<first-entry><next-entry><delete-message>')
    const moved = [subject(1)]
    const left = ALL.filter((one) => one !== subject(1) && one !== subject(2))
    assert.deepEqual(await subjectsIn(account, 'Archive'), moved)
    assert.deepEqual(await subjectsIn(account, 'INBOX'), left)
    assert.deepEqual(await subjectsIn(account, 'INBOX', 'FLAGGED'), [subject(0), subject(17)])
  })
})

suite('aerc', missing('aerc', '-v'), () => {
  test('lists, flags, moves and deletes', async () => {
    const account = await programs.account('aerc', COUNT)
    const { home, host, imaps, email, password, authority, client } = account
    await mkdir(join(home, 'aerc'))
    const source = `imaps://${email.replace('@', '%40')}:${password}@${host}:${imaps}`
    await writeConfig(account, 'aerc/accounts.conf', [
      '[box]',
      `source = ${source}`,
      'default = INBOX',
      `from = ${email}`,
    ])
    const env = { ...process.env, HOME: home, XDG_RUNTIME_DIR: home, XDG_CONFIG_HOME: home, TERM: 'xterm' }
    const terminal = ['-qec', 'stty rows 40 cols 120; aerc', '/dev/null']
    const child = spawn('script', terminal, { env: { ...env, SSL_CERT_FILE: authority }, timeout: LIMIT_MS })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    let shown = ''
    for await (const text of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      shown += text
      if (/far 19/.test(shown)) break
    }
    child.stdout.resume()
    await client.run('SELECT Archive')
    client.write('i IDLE\r\n')
    assert.equal(await client.response(), '+ idling')
    for (const keys of ['select 0', 'flag', 'select 3', 'delete', 'select 1', 'mv Archive'])
      child.stdin.write(`:${keys}\r`)
    // The last of them has arrived.
    assert.equal(await client.response(), '* 1 EXISTS')
    child.stdin.write(':quit -f\r')
    client.write('DONE\r\n')
    assert.equal(await ended, 0)
    await client.until('i')
    // The newest is the first of the list.
    assert.deepEqual(await subjectsIn(account, 'INBOX', 'FLAGGED').then((found) => found.length), 1)
    assert.equal((await subjectsIn(account, 'INBOX')).length, COUNT - 2)
  })
})

suite('fetchmail', missing('fetchmail', '--version'), () => {
  test('takes new messages only, and then all, and deletes them', async () => {
    const account = await programs.account('fetchmail', COUNT)
    const { home, host, imaps, email, password, authority } = account
    const fetch = async (which: string) => {
      const login = `user "${email}" password "${password}" ssl sslcertck sslcertfile "${authority}"`
      const rule = `poll ${host} service ${imaps} protocol imap ${login} ${which} mda "cat >> ${home}/${which}"`
      const config = await writeConfig(account, 'rc', [rule])
      const files = ['--idfile', join(home, 'ids'), '--pidfile', join(home, 'pid')]
      await run('fetchmail', ['-f', config, '--nosyslog', ...files], { timeout: LIMIT_MS })
      const { stdout } = await run('grep', ['^Subject: ', join(home, which)])
      return stdout.trim().split('\n')
    }
    const odd = ALL.filter((_, n) => n % 2 === 1)
    assert.deepEqual(
      await fetch('keep'),
      odd.map((one) => `Subject: ${one}`),
    )
    assert.deepEqual(await subjectsIn(account, 'INBOX', 'UNSEEN'), [])
    assert.deepEqual(
      await fetch('fetchall'),
      ALL.map((one) => `Subject: ${one}`),
    )
    assert.deepEqual(await subjectsIn(account, 'INBOX'), [])
  })
})

suite('getmail', missing('getmail', '--version'), () => {
  test('hands messages to an LMTP server and deletes them', async () => {
    const account = await programs.account('getmail', COUNT)
    const { home, host, imaps, email, password, authority } = account
    // Not into a Maildir: getmail forks for each message, and stands still when the child ends before it waits for it.
    const texts: string[] = []
    const lmtp = { LHLO: '250 near.test', '.': (text: string) => `250 2.0.0 Ok ${texts.push(text)}` }
    await using near = await startScript((peer) => peer.talk(lmtp, '220 near.test LMTP'))
    const config = await writeConfig(account, 'rc', [
      ...['[retriever]', 'type = SimpleIMAPSSLRetriever', `server = ${host}`, `port = ${imaps}`, `username = ${email}`],
      ...[`password = ${password}`, `ca_certs = ${authority}`, 'mailboxes = ("INBOX",)'],
      ...['[destination]', 'type = MDA_lmtp', 'host = 127.0.0.1', `port = ${near.port}`, 'override = ann@near.test'],
      ...['[options]', 'delete = true'],
    ])
    await run('getmail', ['--getmaildir', home, '--rcfile', config], { timeout: LIMIT_MS })
    assert.deepEqual(
      texts.map((text) => /^Subject: (.*)\r$/m.exec(text)![1]),
      ALL,
    )
    for (const [n, text] of texts.entries()) assert.ok(text.endsWith(`\r\n\r\nbody ${n}\r\n.\r\n`), text)
    assert.deepEqual(await subjectsIn(account, 'INBOX'), [])
  })
})

/** Names that the scripts in Thunderbird know. */
const IN_THUNDERBIRD = `
  const module = (name) => ChromeUtils.importESModule('resource:///modules/' + name + '.sys.mjs')
  const { MailServices } = module('MailServices')
  const server = MailServices.accounts.accounts.find(({ incomingServer }) => incomingServer.type === 'imap')?.incomingServer
  const folder = (role) => server.rootFolder.getFolderWithFlags(Ci.nsMsgFolderFlags[role]).QueryInterface(Ci.nsIMsgImapMailFolder)
  const ended = (kind, methods, start) => new Promise((resolve, reject) => {
    const end = (status) => Components.isSuccessCode(status) ? resolve() : reject(new Error(kind + ' ' + status))
    start({ QueryInterface: ChromeUtils.generateQI([kind]), ...methods(end) })
  })
  const loaded = (start) => ended('nsIUrlListener', (end) => ({ OnStartRunningUrl() {}, OnStopRunningUrl: (_, status) => end(status) }), start)
  const copied = (start) => ended('nsIMsgCopyServiceListener', (end) => ({
    onStartCopy() {}, onProgress() {}, setMessageKey() {}, getMessageId() {}, onStopCopy: end,
  }), start)
  const message = (subject) => [...folder('Inbox').messages].find((one) => one.subject === subject)
`

suite('Thunderbird', { skip: noAuthority || thunderbirdMissing() }, () => {
  test('signs in by its account set-up, lists, downloads, flags, moves and deletes', async () => {
    const account = await programs.account('thunderbird', COUNT)
    const { home, host, imaps, email, password, authority } = account
    await using thunderbird = await Thunderbird.start({ home, authority })
    const run = <T>(body: string, ...args: unknown[]) => thunderbird.run<T>(IN_THUNDERBIRD + body, ...args)
    // The document that autoconfiguration serves.
    const login = '<authentication>password-cleartext</authentication><username>%EMAILADDRESS%</username>'
    const at = (port: number) => `<hostname>${host}</hostname><port>${port}</port><socketType>SSL</socketType>${login}`
    const servers = `<incomingServer type="imap">${at(imaps)}</incomingServer><outgoingServer type="smtp">${at(465)}</outgoingServer>`
    const provider = `<domain>acme.test</domain><displayName>Acme</displayName><displayShortName>Acme</displayShortName>${servers}`
    const document = `<clientConfig version="1.1"><emailProvider id="acme.test">${provider}</emailProvider></clientConfig>`
    await run(
      `const [document, email, password] = args
      const { readFromXML } = module('accountcreation/readFromXML')
      const { AccountConfig } = module('accountcreation/AccountConfig')
      const { ConfigVerifier } = module('accountcreation/ConfigVerifier')
      const { CreateInBackend } = module('accountcreation/CreateInBackend')
      const xml = module('JXON').JXON.build(new DOMParser().parseFromString(document, 'text/xml'))
      const config = readFromXML(xml, 'isp-https')
      AccountConfig.replaceVariables(config, 'Ann', email, password)
      config.rememberPassword = true
      // It signs in, and fails where the certificate is not trusted.
      const verified = await new ConfigVerifier(null, new AbortController().signal).verifyConfig(config)
      await CreateInBackend.createAccountInBackend(verified)`,
      ...[document, email, password],
    )
    const seen = await run<{ roles: number; subjects: string[]; unread: number }>(
      `await loaded((l) => MailServices.imap.discoverAllFolders(server.rootFolder, l, null))
      const inbox = folder('Inbox')
      await loaded((l) => inbox.updateFolderWithListener(null, l))
      const roles = ['Inbox', 'Drafts', 'SentMail', 'Junk', 'Trash', 'Archive'].filter((role) => folder(role))
      return { roles: roles.length, subjects: [...inbox.messages].map((one) => one.subject), unread: inbox.getNumUnread(false) }`,
    )
    assert.deepEqual(seen, { roles: 6, subjects: ALL, unread: COUNT / 2 })
    const text = await run<string>(
      `const inbox = folder('Inbox')
      const uri = inbox.getUriForMsg(message('far 9'))
      const read = (stream, count) => {
        const input = Cc['@mozilla.org/scriptableinputstream;1'].createInstance(Ci.nsIScriptableInputStream)
        input.init(stream)
        return input.read(count)
      }
      const text = await new Promise((resolve) => {
        let text = ''
        const listener = {
          QueryInterface: ChromeUtils.generateQI(['nsIStreamListener']),
          onStartRequest() {},
          onDataAvailable: (_request, stream, _offset, count) => { text += read(stream, count) },
          onStopRequest: () => resolve(text),
        }
        MailServices.messageServiceFromURI(uri).streamMessage(uri, listener, null, null, false, '', false)
      })
      inbox.markMessagesFlagged([message('far 3')], true)
      await copied((l) => MailServices.copy.copyMessages(inbox, [message('far 5')], folder('Archive'), true, l, null, false))
      await copied((l) => inbox.deleteMessages([message('far 7')], null, false, true, l, false))
      await loaded((l) => inbox.updateFolderWithListener(null, l))
      return text`,
    )
    assert.match(text, /\r\nSubject: far 9\r\n\r\nbody 9\r\n$/)
    const left = ALL.filter((one) => one !== subject(5) && one !== subject(7))
    assert.deepEqual(await subjectsIn(account, 'INBOX'), left)
    assert.deepEqual(await subjectsIn(account, 'INBOX', 'FLAGGED'), [subject(3)])
    assert.deepEqual(await subjectsIn(account, 'Archive'), [subject(5)])
    assert.deepEqual(await subjectsIn(account, 'Trash'), [subject(7)])
  })
})
