// Cyrus as the server of outside accounts: a whole server on a free port with one user. Debian's package cannot be installed beside Dovecot,
// so that it is unpacked where CYRUS_ROOT says (.ci/run).

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { signIn } from './outside.ts'
import { freePort, listening, REMOTE_PASSWORD, type RemoteServer } from './remote-dovecot.ts'

const ROOT = process.env.CYRUS_ROOT ?? '/var/cache/mailstead-cyrus'
const PROGRAMS = join(ROOT, 'usr/lib/cyrus/bin')
const LIBRARIES = ['lib/x86_64-linux-gnu', 'usr/lib/x86_64-linux-gnu'].map((path) => join(ROOT, path)).join(':')
const UNPRIVILEGED = 65534
/** The only user. */
export const CYRUS_USER = 'ana'
const FLAGS: Record<string, string> = { F: '\\Flagged', S: '\\Seen' }

/** For node:test's `skip`: false where Cyrus is there, else the reason. */
export function remoteCyrusMissing(): false | string {
  if (process.getuid?.() !== 0) return 'Cyrus is started as another user, which only root can do'
  const program = join(PROGRAMS, 'imapd')
  return existsSync(program) ? false : `${program} is not there: unpack cyrus-imapd, as .ci/run does`
}

export async function startRemoteCyrus(): Promise<RemoteServer> {
  const folder = mkdtempSync(join(tmpdir(), 'mailstead-cyrus-'))
  const port = await freePort()
  chmodSync(folder, 0o755)
  for (const name of ['', 'conf', 'spool', 'sieve']) {
    mkdirSync(join(folder, name), { recursive: true })
    chownSync(join(folder, name), UNPRIVILEGED, UNPRIVILEGED)
  }
  const [settings, services] = [join(folder, 'imapd.conf'), join(folder, 'cyrus.conf')]
  writeFileSync(settings, settingsOf(folder))
  writeFileSync(services, servicesOf(settings, port))
  const env = { ...process.env, LD_LIBRARY_PATH: LIBRARIES }
  await addUser(join(folder, 'sasldb'), env)
  const arguments_ = ['-C', settings, '-M', services, '-p', join(folder, 'pid'), '-D']
  const child = spawn(join(PROGRAMS, 'master'), arguments_, { cwd: folder, env, stdio: 'ignore' })
  await listening(child, port, folder)
  const server: RemoteServer = {
    host: '127.0.0.1',
    port,
    password: REMOTE_PASSWORD,
    async fill(user, name, messages) {
      await using client = await signIn(server, user)
      const path = name === '' ? 'INBOX' : name.replaceAll('.', '/')
      const isThere = (await client.list()).some((listed) => listed.path === path)
      if (!isThere) await client.mailboxCreate(path)
      for (const { bytes, receivedAt, flags = '' } of messages) {
        await client.append(
          path,
          Buffer.from(bytes),
          [...flags].map((flag) => FLAGS[flag]!),
          new Date(receivedAt),
        )
      }
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return server
}

async function addUser(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const adding = promisify(execFile)(join(ROOT, 'usr/sbin/saslpasswd2'), ['-c', '-p', '-f', file, CYRUS_USER], { env })
  adding.child.stdin!.end(REMOTE_PASSWORD)
  await adding
  chownSync(file, UNPRIVILEGED, UNPRIVILEGED)
}

function settingsOf(folder: string): string {
  return `${[
    `configdirectory: ${folder}/conf`,
    `partition-default: ${folder}/spool`,
    'defaultpartition: default',
    'cyrus_user: nobody',
    'sasl_pwcheck_method: auxprop',
    'sasl_auxprop_plugin: sasldb',
    `sasl_sasldb_path: ${folder}/sasldb`,
    'sasl_mech_list: PLAIN LOGIN',
    'allowplaintext: yes',
    'virtdomains: off',
    'unixhierarchysep: yes',
    'altnamespace: yes',
    `sievedir: ${folder}/sieve`,
    `idlesocket: ${folder}/conf/idle`,
    'autocreate_quota: 0',
    'autocreate_inbox_folders: Drafts|Sent|Junk|Trash|Archive',
    'xlist-drafts: Drafts',
    'xlist-sent: Sent',
    'xlist-junk: Junk',
    'xlist-trash: Trash',
    'xlist-archive: Archive',
  ].join('\n')}\n`
}

function servicesOf(settings: string, port: number): string {
  return `START {
  recover cmd="${PROGRAMS}/ctl_cyrusdb -C ${settings} -r"
}
SERVICES {
  imap cmd="${PROGRAMS}/imapd -C ${settings} -U 30" listen="127.0.0.1:${port}" prefork=0
}
`
}
