// Debian's Postfix as a receiving server: smtp-sink, and a complete instance in a folder of its own.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { eventually } from './eventually.ts'
import { certificateFor } from './mail-server.ts'

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`
const env = { ...process.env, PATH }
const IS_ROOT = process.getuid?.() === 0

export interface ForeignServer extends AsyncDisposable {
  port: number
  /** Folder of received messages. */
  folder: string
}

/** smtp-sink of Postfix, which writes every message to a file. @param options as in its manual */
export async function startSink(...options: string[]): Promise<ForeignServer> {
  const folder = await openFolder()
  await chmod(folder, 0o777)
  const port = await freePort()
  // It refuses to run as root.
  const user = IS_ROOT ? ['-u', 'nobody'] : []
  const dump = ['-d', join(folder, 'mail.')]
  const child = spawn('smtp-sink', [...user, ...dump, ...options, `127.0.0.1:${port}`, '100'], { env, stdio: 'ignore' })
  await listening(port, child)
  return { port, folder, [Symbol.asyncDispose]: () => close(child, folder) }
}

/** The messages a sink has received, with CRLF as received, without the lines it adds. */
export async function sinkMessages(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.startsWith('mail.'))
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'latin1')))
  return texts.map((text) =>
    text
      .replace(/^(?:X-[^\n]*\n)+Received: [^\n]*\n(?:\t[^\n]*\n)+/, '')
      // And an empty line at the end.
      .replace(/\n$/, '')
      .replaceAll('\n', '\r\n'),
  )
}

export interface Postfix extends ForeignServer {
  /** The file of its certificate for `mx.postfix.test`. */
  certificate: string
  /** The messages in the mailbox of `bob@out.test`. */
  messages(): Promise<string[]>
}

/**
 * A Postfix that delivers mail for bob@out.test into files, offers STARTTLS, and knows no other recipient.
 * @param settings more lines of its main.cf
 */
export async function startPostfix(settings = ''): Promise<Postfix> {
  const folder = await openFolder()
  const port = await freePort()
  const pair = await certificateFor('mx.postfix.test')
  const [uid, gid] = ['-u', '-g'].map((flag) => execFileSync('id', [flag, 'postfix']).toString().trim())
  for (const name of ['queue', 'mail', 'data', 'config']) await mkdir(join(folder, name))
  execFileSync('chown', ['postfix:postfix', join(folder, 'mail'), join(folder, 'data')])
  await writeFile(join(folder, 'tls.pem'), pair.key + pair.cert, { mode: 0o600 })
  await writeFile(join(folder, 'config/main.cf'), mainCf(folder, uid!, gid!) + settings)
  await writeFile(join(folder, 'config/master.cf'), masterCf(port))
  const child = spawn('postfix', ['-c', join(folder, 'config'), 'start-fg'], { env, stdio: 'ignore' })
  await listening(port, child)
  const box = join(folder, 'mail/bob/new')
  return {
    port,
    folder,
    certificate: pair.cert,
    async messages() {
      const names = await readdir(box).catch(() => [])
      return Promise.all(names.map((name) => readFile(join(box, name), 'latin1')))
    },
    async [Symbol.asyncDispose]() {
      // The started process is a script; only Postfix knows its master process.
      spawnSync('postfix', ['-c', join(folder, 'config'), 'stop'], { env, stdio: 'ignore' })
      await close(child, folder)
    },
  }
}

export interface OwnershipPostfix extends Postfix {
  /** Password of the one user. */
  user: string
  password: string
}

/** A Postfix in which each user owns addresses, and can send from no other (`reject_sender_login_mismatch`). */
export async function startOwnershipPostfix(owners: Record<string, string>): Promise<OwnershipPostfix> {
  const [user, password] = ['ann', 'secret words']
  const signIn = await startSignIn(user, password)
  const owned = Object.entries(owners).map(([address, owner]) => `${address}=${owner}`)
  const postfix = await startPostfix(`smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:${signIn.port}
smtpd_sasl_security_options =
smtpd_sender_login_maps = inline:{ ${owned.join(', ')} }
smtpd_sender_restrictions = reject_sender_login_mismatch
`)
  return {
    ...postfix,
    user,
    password,
    async [Symbol.asyncDispose]() {
      await postfix[Symbol.asyncDispose]()
      await signIn.close()
    },
  }
}

/** An authentication server with the protocol of Dovecot (version 1.1), which every Postfix supports. */
async function startSignIn(user: string, password: string): Promise<{ port: number; close(): Promise<void> }> {
  const secret = Buffer.from(`\0${user}\0${password}`).toString('base64')
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    socket.write('VERSION\t1\t1\nMECH\tPLAIN\tplaintext\nSPID\t1\nCUID\t1\nCOOKIE\t00\nDONE\n')
    let rest = ''
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString()).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const [command, id] = line.split('\t')
        if (command !== 'AUTH') continue
        socket.write(line.includes(`resp=${secret}`) ? `OK\t${id}\tuser=${user}\n` : `FAIL\t${id}\tuser=${user}\n`)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function mainCf(folder: string, uid: string, gid: string): string {
  return `compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
maillog_file = ${folder}/data/log
maillog_file_prefixes = ${folder}
myhostname = mx.postfix.test
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mydestination =
alias_maps =
local_recipient_maps =
virtual_mailbox_domains = out.test
virtual_mailbox_base = ${folder}/mail
virtual_mailbox_maps = inline:{ bob@out.test=bob/ }
virtual_uid_maps = static:${uid}
virtual_gid_maps = static:${gid}
smtpd_relay_restrictions = reject_unauth_destination
smtpd_tls_chain_files = ${folder}/tls.pem
smtpd_tls_security_level = may
message_size_limit = 5000000
`
}

/** Debian's master.cf without services for external delivery. */
function masterCf(port: number): string {
  return `127.0.0.1:${port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`
}

async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-postfix-'))
  // Its programs run as their own users.
  await chmod(folder, 0o755)
  return folder
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Waits until the port accepts connections, or the program has ended. */
async function listening(port: number, child: ChildProcess): Promise<void> {
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`The program ended with ${child.exitCode}.`)
    return new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      }).on('error', () => resolve(false))
    })
  })
}

async function close(child: ChildProcess, folder: string): Promise<void> {
  const ended = child.exitCode === null ? new Promise((resolve) => child.once('exit', resolve)) : Promise.resolve()
  child.kill('SIGTERM')
  await ended
  await rm(folder, { recursive: true, force: true })
}
