// A separate Postfix for comparison: configuration, queue and Maildir in one folder, on a free loopback port, stopped by process id.

import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { type Child, startProgram } from './processes.ts'

const MASTER = '/usr/lib/postfix/sbin/master'
/** Owner of the delivered messages: Debian's user `nobody`. */
const NOBODY = 65534

export interface Postfix extends AsyncDisposable {
  child: Child
  port: number
  /** How many mails lie in the Maildir. */
  delivered(): number
}

/** @returns why there is no Postfix to compare with, or null */
export function postfixMissing(): string | null {
  if (!existsSync(MASTER)) return 'Postfix is not installed (apt-get install postfix)'
  return process.getuid?.() === 0 ? null : 'Postfix starts only as root'
}

/** Postfix's own defaults, but: mail for `domain` into one Maildir, and no pause when mail comes in faster than it goes on. */
function mainCf(folder: string, domain: string): string {
  return Object.entries({
    compatibility_level: '3.6',
    queue_directory: join(folder, 'queue'),
    data_directory: join(folder, 'data'),
    maillog_file: join(folder, 'log'),
    maillog_file_prefixes: folder,
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    myhostname: 'mail.postfix.test',
    mydestination: '',
    mynetworks: '127.0.0.0/8',
    smtpd_relay_restrictions: 'reject_unauth_destination',
    smtpd_peername_lookup: 'no',
    in_flow_delay: '0',
    alias_maps: '',
    virtual_mailbox_domains: domain,
    virtual_mailbox_base: folder,
    virtual_mailbox_maps: 'static:box/',
    virtual_uid_maps: `static:${NOBODY}`,
    virtual_gid_maps: `static:${NOBODY}`,
  })
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')
}

function masterCf(port: number): string {
  return [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'flush unix n - n 1000? 0 flush',
    'proxymap unix - - n - - proxymap',
    'virtual unix - n n - - virtual',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'anvil unix - - n - 1 anvil',
    'postlog unix-dgram n - n - 1 postlogd',
    '',
  ].join('\n')
}

/** Starts Postfix in `folder`, which must be new and empty. */
export async function startPostfix(folder: string, domain: string): Promise<Postfix> {
  const port = await freePort()
  const config = join(folder, 'config')
  for (const name of ['config', 'queue', 'data', 'box']) mkdirSync(join(folder, name))
  writeFileSync(join(config, 'main.cf'), mainCf(folder, domain))
  writeFileSync(join(config, 'master.cf'), masterCf(port))
  chownSync(join(folder, 'data'), Number(execFileSync('id', ['-u', 'postfix'])), -1)
  chownSync(join(folder, 'box'), NOBODY, NOBODY)
  // Lays out the queue folders with their owners.
  execFileSync('/usr/sbin/postfix', ['-c', config, 'check'], { stdio: 'ignore' })
  const child = startProgram(MASTER, ['-c', config, '-d'])
  const inbox = join(folder, 'box/new')
  return {
    child,
    port,
    delivered: () => (existsSync(inbox) ? readdirSync(inbox).length : 0),
    [Symbol.asyncDispose]: child.stop,
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
