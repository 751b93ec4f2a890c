// Dovecot as the server of outside accounts: a whole server on free ports, with users of its own and their mail in a folder.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { eventually } from './eventually.ts'

const run = promisify(execFile)
const PROGRAM = '/usr/sbin/dovecot'
/** Users of the mail, when it is started as root. */
const UNPRIVILEGED = 65534
export const REMOTE_PASSWORD = 'correct-horse-battery'

/** For node:test's `skip`: false where Dovecot is installed, else the reason. */
export function remoteDovecotMissing(): false | string {
  return existsSync(PROGRAM) && existsSync('/usr/lib/dovecot/imap')
    ? false
    : `${PROGRAM} is not there: install dovecot-imapd`
}

export interface RemoteDovecotOptions {
  /** PEM files: TLS on `tlsPort`, and STARTTLS. */
  tls?: { cert: string; key: string }
  /** More lines of the configuration: `imap_capability = …`. */
  config?: readonly string[]
}

export interface RemoteServer extends AsyncDisposable {
  host: '127.0.0.1'
  /** Without TLS. */
  port: number
  /** The password of every user. */
  password: string
  /** Stores messages in a folder: "" is the Inbox; `a.b` one below another. Flags as in Maildir: `FS`. */
  fill(
    user: string,
    folder: string,
    messages: Iterable<{ bytes: Uint8Array; receivedAt: number; flags?: string }>,
  ): void | Promise<void>
}

export interface RemoteDovecot extends RemoteServer {
  fill(user: string, folder: string, messages: Parameters<RemoteServer['fill']>[2]): void
  /** TLS; 0 without a certificate. */
  tlsPort: number
  /** The Maildir of a user; Dovecot notices files that are added to `new`. */
  maildir(user: string): string
  doveadm(...args: string[]): Promise<string>
}

/** Any user name signs in with {@link REMOTE_PASSWORD}; their mail is made with the first sign-in. */
export async function startRemoteDovecot(options: RemoteDovecotOptions = {}): Promise<RemoteDovecot> {
  const folder = mkdtempSync(join(tmpdir(), 'mailstead-remote-'))
  const isRoot = process.getuid?.() === 0
  const [port, tlsPort] = [await freePort(), options.tls === undefined ? 0 : await freePort()]
  const own = (path: string) => {
    if (isRoot) chownSync(path, UNPRIVILEGED, UNPRIVILEGED)
  }
  mkdirSync(join(folder, 'mail'), { mode: 0o755 })
  await run('chmod', ['755', folder])
  own(join(folder, 'mail'))
  const file = join(folder, 'dovecot.conf')
  writeFileSync(file, configOf({ folder, port, tlsPort, isRoot }, options))
  const child = spawn(PROGRAM, ['-F', '-c', file], { stdio: 'ignore' })
  await listening(child, port, folder)
  const maildir = (user: string) => join(folder, 'mail', user, 'Maildir')
  return {
    host: '127.0.0.1',
    port,
    tlsPort,
    password: REMOTE_PASSWORD,
    maildir,
    fill: (user, name, messages) => fillMaildir(maildir(user), name, messages, own),
    doveadm: async (...args) => (await run('doveadm', ['-c', file, ...args])).stdout,
    async [Symbol.asyncDispose]() {
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      if (child.exitCode === null) {
        child.kill('SIGTERM')
        await ended
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

let filed = 0

/** Stores messages as files of a Maildir++, without a session: fast. @param own gives a path to the user of the mail */
export function fillMaildir(
  maildir: string,
  folder: string,
  messages: Parameters<RemoteServer['fill']>[2],
  own: (path: string) => void,
): void {
  const target = folder === '' ? maildir : join(maildir, `.${folder}`)
  for (const path of [dirname(maildir), maildir, target, ...['cur', 'new', 'tmp'].map((part) => join(target, part))]) {
    if (existsSync(path)) continue
    mkdirSync(path)
    own(path)
  }
  for (const { bytes, receivedAt, flags = '' } of messages) {
    const seconds = Math.floor(receivedAt / 1000)
    const path = join(target, 'cur', `${seconds}.M${++filed}.here:2,${flags}`)
    writeFileSync(path, bytes)
    utimesSync(path, seconds, seconds)
    own(path)
  }
}

interface Paths {
  folder: string
  port: number
  tlsPort: number
  isRoot: boolean
}

function configOf({ folder, port, tlsPort, isRoot }: Paths, { tls, config = [] }: RemoteDovecotOptions): string {
  const self = userInfo().username
  const users = isRoot ? [] : [`default_internal_user = ${self}`, `default_login_user = ${self}`]
  const id = isRoot ? UNPRIVILEGED : process.getuid?.()
  const listener = (name: string, number: number, more = '') =>
    `  inet_listener ${name} {\n    address = 127.0.0.1\n    port = ${number}\n${more}  }`
  return `${[
    `base_dir = ${folder}/run`,
    `state_dir = ${folder}/state`,
    `log_path = ${folder}/log`,
    'protocols = imap',
    ...users,
    'first_valid_uid = 1',
    'mail_fsync = never',
    `mail_location = maildir:${folder}/mail/%u/Maildir`,
    'mail_plugins = ',
    'disable_plaintext_auth = no',
    'auth_username_chars = ',
    'mail_max_userip_connections = 50',
    ...(tls === undefined ? ['ssl = no'] : ['ssl = yes', `ssl_cert = <${tls.cert}`, `ssl_key = <${tls.key}`]),
    'service imap-login {',
    ...(isRoot ? [] : ['  chroot =']),
    listener('imap', port),
    listener('imaps', tlsPort, '    ssl = yes\n'),
    '}',
    ...(isRoot ? [] : ['service anvil {', '  chroot =', '}']),
    'passdb {',
    '  driver = static',
    `  args = password=${REMOTE_PASSWORD}`,
    '}',
    'userdb {',
    '  driver = static',
    `  args = uid=${id} gid=${id} home=${folder}/mail/%u`,
    '}',
    'namespace inbox {',
    '  inbox = yes',
    '  separator = /',
    ...['Drafts', 'Sent', 'Junk', 'Trash', 'Archive'].map(
      (name) => `  mailbox ${name} {\n    special_use = \\${name}\n    auto = subscribe\n  }`,
    ),
    '}',
    ...config,
  ].join('\n')}\n`
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Waits until the port answers. @throws Error with the log of a server that ended */
export async function listening(child: ChildProcess, port: number, folder: string): Promise<void> {
  await eventually(async () => {
    if (child.exitCode === null) return answers(port)
    const log = join(folder, 'log')
    const text = existsSync(log) && statSync(log).isFile() ? (await run('tail', ['-n', '20', log])).stdout : ''
    throw new Error(`The server ended (${child.exitCode}). ${text}`)
  })
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket
      .once('data', () => resolve(true))
      .once('error', () => resolve(false))
      .once('close', () => resolve(false))
    socket.once('data', () => socket.destroy())
  })
}
