// Courier as the server of outside accounts: its IMAP program over Maildirs, behind a sign-in of ours, since its own needs a system-wide daemon.
// Debian's package cannot be installed beside Dovecot, so that it is unpacked where COURIER_ROOT says (.ci/run).

import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fillMaildir, REMOTE_PASSWORD, type RemoteServer } from './remote-dovecot.ts'

const ROOT = process.env.COURIER_ROOT ?? '/var/cache/mailstead-courier'
const PROGRAM = existsSync('/usr/lib/courier/imapd') ? '/usr/bin/imapd' : join(ROOT, 'usr/bin/imapd')
const LIBRARIES = ['lib/x86_64-linux-gnu', 'usr/lib/x86_64-linux-gnu', 'usr/lib/courier-authlib', 'usr/lib']
const UNPRIVILEGED = 65534
/** As Debian configures it, without IDLE: its own needs a daemon as well. */
const CAPABILITY = 'IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA'

/** For node:test's `skip`: false where Courier is there, else the reason. */
export function remoteCourierMissing(): false | string {
  if (process.getuid?.() !== 0) return 'Courier is started as another user, which only root can do'
  return existsSync(PROGRAM) ? false : `${PROGRAM} is not there: unpack courier-imap, as .ci/run does`
}

export async function startRemoteCourier(): Promise<RemoteServer> {
  const folder = mkdtempSync(join(tmpdir(), 'mailstead-courier-'))
  chownSync(folder, UNPRIVILEGED, UNPRIVILEGED)
  const own = (path: string) => chownSync(path, UNPRIVILEGED, UNPRIVILEGED)
  const maildir = (user: string) => join(folder, user, 'Maildir')
  const children = new Set<ChildProcess>()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('* OK Courier-IMAP ready. Copyright 1998-2021 Double Precision, Inc.\r\n')
    signIn(socket, (user) => {
      fillMaildir(maildir(user), '', [], own)
      const child = spawn(PROGRAM, ['Maildir'], {
        cwd: join(folder, user),
        env: environmentOf(user, maildir(user)),
        uid: UNPRIVILEGED,
        gid: UNPRIVILEGED,
      })
      children.add(child)
      child.on('exit', () => children.delete(child))
      return child
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  mkdirSync(folder, { recursive: true })
  return {
    host: '127.0.0.1',
    port: (server.address() as { port: number }).port,
    password: REMOTE_PASSWORD,
    fill: (user, name, messages) => fillMaildir(maildir(user), name, messages, own),
    async [Symbol.asyncDispose]() {
      const ended = [...children].map((child) => new Promise((resolve) => child.once('exit', resolve)))
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(ended)
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function environmentOf(user: string, maildir: string): Record<string, string> {
  return {
    ...{ PATH: '/usr/bin:/bin', LD_LIBRARY_PATH: LIBRARIES.map((path) => join(ROOT, path)).join(':') },
    ...{ AUTHENTICATED: user, AUTHADDR: user, AUTHACCOUNT: user, MAILDIR: maildir, HOME: maildir },
    ...{ IMAP_CAPABILITY: CAPABILITY, IMAP_KEYWORDS: '1', IMAP_USELOCKS: '0', IMAP_UMASK: '022' },
    ...{ IMAP_MOVE_EXPUNGE_TO_TRASH: '0', IMAP_ENHANCEDIDLE: '0' },
  }
}

/** Speaks until LOGIN; from then on the program does, whose own greeting (PREAUTH) becomes the answer. */
function signIn(socket: Socket, start: (user: string) => ChildProcess): void {
  let received = ''
  const onData = (bytes: Buffer) => {
    received += bytes.toString('latin1')
    for (let end = received.indexOf('\r\n'); end >= 0; end = received.indexOf('\r\n')) {
      const line = received.slice(0, end)
      received = received.slice(end + 2)
      const [tag, command = ''] = line.split(' ')
      const [, user, password] = /^\S+ LOGIN "?([^" ]+)"? "?([^" ]+)"?$/i.exec(line) ?? []
      if (user !== undefined && password === REMOTE_PASSWORD) {
        socket.off('data', onData)
        return handOver(socket, start(user), tag!)
      }
      if (/^login$/i.test(command)) socket.write(`${tag} NO Login failed.\r\n`)
      else if (/^capability$/i.test(command))
        socket.write(`* CAPABILITY ${CAPABILITY}\r\n${tag} OK CAPABILITY completed\r\n`)
      else if (/^logout$/i.test(command)) socket.end(`* BYE bye\r\n${tag} OK LOGOUT completed\r\n`)
      else socket.write(`${tag} BAD Not signed in.\r\n`)
    }
  }
  socket.on('data', onData)
}

function handOver(socket: Socket, child: ChildProcess, tag: string): void {
  let greeting = ''
  const onGreeting = (bytes: Buffer) => {
    greeting += bytes.toString('latin1')
    if (!greeting.includes('* PREAUTH')) return
    child.stdout!.off('data', onGreeting)
    socket.write(`${tag} OK LOGIN Ok.\r\n`)
    child.stdout!.pipe(socket)
    socket.pipe(child.stdin!)
  }
  child.stdout!.on('data', onGreeting)
  child.stdin!.on('error', () => {})
  child.on('exit', () => socket.end())
  socket.on('close', () => child.kill())
}
