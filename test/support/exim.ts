// Debian's Exim as an SMTP client: its package conflicts with Postfix, so it can be unpacked into a folder of its own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { missingProgram } from './programs.ts'

/** `EXIM_ROOT` is the folder the package was unpacked into (.ci/run does that). */
const EXIM = process.env.EXIM_ROOT ? join(process.env.EXIM_ROOT, 'usr/sbin/exim4') : 'exim4'
const USER = 'Debian-exim'

/** @returns false, or the reason for node:test's `skip` */
export function missingExim(): false | string {
  if (process.getuid?.() !== 0) return 'only root can run Exim'
  return missingProgram('id', [USER], `the user ${USER}`) || missingProgram(EXIM, ['-C', '/dev/null', '-bV'], 'exim4')
}

/** A message for an Exim that delivers it to a local port immediately. */
export interface EximMessage {
  port: number
  from: string
  to: string
  content: string
  /** Whether it may use STARTTLS. */
  tls: boolean
}

/** @returns the main log of Exim: `=>` for a delivery, `==` for a deferral, `**` for a failure */
export async function sendByExim(message: EximMessage): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-exim-'))
  try {
    // It runs as its own user.
    await chmod(folder, 0o777)
    await mkdir(join(folder, 'spool'))
    await chmod(join(folder, 'spool'), 0o777)
    await writeFile(join(folder, 'exim.conf'), configOf(folder, message))
    const args = ['-C', join(folder, 'exim.conf'), '-odf', '-f', message.from, message.to]
    const child = spawn(EXIM, args, { stdio: ['pipe', 'ignore', 'ignore'] })
    child.stdin.end(message.content)
    await once(child, 'close')
    return await readFile(join(folder, 'spool/mainlog'), 'utf8')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function configOf(folder: string, { port, tls }: EximMessage): string {
  const path = EXIM === 'exim4' ? '' : `exim_path = ${EXIM}\n`
  return `${path}primary_hostname = exim.test
spool_directory = ${folder}/spool
log_file_path = ${folder}/spool/%slog
tls_advertise_hosts =
keep_environment =
begin routers
out:
  driver = manualroute
  transport = smtp
  route_list = * 127.0.0.1::${port}
  self = send
begin transports
smtp:
  driver = smtp
  allow_localhost
  hosts_avoid_tls = ${tls ? '' : '*'}
begin retry
* * F,2h,15m
`
}
