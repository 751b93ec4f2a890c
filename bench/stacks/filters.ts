// The programs that check mail for Postfix: OpenDKIM, OpenDMARC and policyd-spf, or rspamd, with all checks on for mail from loopback.

import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type Child, startServer, withResolver } from '../processes.ts'
import { NOBODY } from './postfix.ts'

export const OPENDKIM = '/usr/sbin/opendkim'
export const OPENDMARC = '/usr/sbin/opendmarc'
export const POLICYD_SPF = '/usr/bin/policyd-spf'
export const RSPAMD = '/usr/bin/rspamd'
const PUBLIC_SUFFIXES = '/usr/share/publicsuffix/public_suffix_list.dat'
/** Documentation address (RFC 5737) that no client has: by default these programs trust mail from loopback. */
const TRUSTED = '192.0.2.1'

/** Where the programs look names up: the benchmark's own name server on port 53, which resolv.conf cannot change, of a loopback address. */
export interface Names {
  /** Address and port. */
  server: { host: string; port: number }
  /** A resolv.conf that names it. */
  resolver: string
}

export interface Filters {
  children: Child[]
  /** As Postfix names them. */
  milters: string[]
  policy?: string
}

const lines = (settings: Record<string, string>, between: string) =>
  Object.entries(settings)
    .map(([name, value]) => `${name}${between}${value}\n`)
    .join('')

/**
 * OpenDKIM resolves names through libunbound, which answers for some names itself (`.test` among them, RFC 6761): the sender's domain must
 * not be one of them. `Nameservers` is used because a file for libunbound (`ResolverConfiguration`) makes OpenDKIM crash under load.
 */
async function startOpendkim(folder: string, { server }: Names): Promise<Child> {
  const socket = join(folder, 'opendkim.sock')
  const config = join(folder, 'opendkim.conf')
  const settings = {
    Socket: `local:${socket}`,
    Mode: 'v',
    UMask: '000',
    AuthservID: 'dkim.postfix.test',
    AlwaysAddARHeader: 'yes',
    InternalHosts: TRUSTED,
    Nameservers: server.host,
    Syslog: 'no',
  }
  writeFileSync(config, lines(settings, ' '))
  return startServer([OPENDKIM, '-f', '-x', config], socket)
}

async function startOpendmarc(folder: string, { resolver }: Names): Promise<Child> {
  const socket = join(folder, 'opendmarc.sock')
  const [config, ignored] = [join(folder, 'opendmarc.conf'), join(folder, 'ignored-hosts')]
  writeFileSync(ignored, `${TRUSTED}\n`)
  const settings = {
    Socket: `local:${socket}`,
    UMask: '000',
    AuthservID: 'dmarc.postfix.test',
    TrustedAuthservIDs: 'dkim.postfix.test,spf.postfix.test',
    IgnoreHosts: ignored,
    PublicSuffixList: PUBLIC_SUFFIXES,
    Syslog: 'false',
  }
  writeFileSync(config, lines(settings, ' '))
  return startServer(withResolver(resolver, [OPENDMARC, '-f', '-c', config]), socket)
}

/** OpenDKIM, OpenDMARC and policyd-spf; the last is started by Postfix. */
export async function startOpenFilters(folder: string, names: Names): Promise<Filters> {
  const policy = join(folder, 'policyd-spf.conf')
  const settings = {
    debugLevel: '0',
    TestOnly: '1',
    HELO_reject: 'Fail',
    Mail_From_reject: 'Fail',
    PermError_reject: 'False',
    TempError_Defer: 'False',
    skip_addresses: TRUSTED,
    Header_Type: 'AR',
    Authserv_Id: 'spf.postfix.test',
  }
  writeFileSync(policy, lines(settings, ' = '))
  await using starting = new AsyncDisposableStack()
  const children = [starting.use(await startOpendkim(folder, names))]
  children.push(await startOpendmarc(folder, names))
  starting.move()
  return {
    children,
    milters: ['opendkim', 'opendmarc'].map((name) => `unix:${join(folder, `${name}.sock`)}`),
    policy: `${POLICYD_SPF} ${policy}`,
  }
}

/** Without what asks servers of the internet or needs Redis; in the milter process itself, as its guide advises for one machine. */
const RSPAMD_OFF = [
  'rbl',
  'surbl',
  'fuzzy_check',
  'asn',
  'whitelist',
  'greylist',
  'ratelimit',
  'history_redis',
  // Mail from loopback would be signed as if it were on its way out.
  'dkim_signing',
  'replies',
]

function writeRspamd(folder: string, { server }: Names): void {
  const files: Record<string, string> = {
    options: `local_addrs = ["${TRUSTED}"];\ndns { nameserver = ["${server.host}:${server.port}"]; }\ncontrol_socket = "${folder}/control.sock mode=0600";\n`,
    logging: 'level = "error";\n',
    'worker-normal': 'enabled = false;\n',
    'worker-fuzzy': 'enabled = false;\n',
    'worker-controller': `bind_socket = "${folder}/controller.sock mode=0666";\n`,
    'worker-proxy': [
      `bind_socket = "${folder}/rspamd.sock mode=0666";`,
      'milter = yes;',
      'timeout = 120s;',
      'upstream "local" { default = yes; self_scan = yes; }',
      `count = ${availableParallelism()};\n`,
    ].join('\n'),
  }
  const additions: Record<string, string> = {
    ...Object.fromEntries(['spf', 'dkim', 'dmarc', 'arc'].map((name) => [name, 'check_local = true;\n'])),
    milter_headers: 'use = ["authentication-results"];\nskip_local = false;\n',
    actions: 'reject = 1000;\nadd_header = 999;\ngreylist = 998;\n',
    ...Object.fromEntries(RSPAMD_OFF.map((name) => [name, 'enabled = false;\n'])),
  }
  for (const name of ['override.d', 'local.d', 'maps.d', 'db', 'log', 'run']) mkdirSync(join(folder, name))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'override.d', `${name}.inc`), text)
  for (const [name, text] of Object.entries(additions)) writeFileSync(join(folder, 'override.d', `${name}.conf`), text)
  for (const name of ['', 'db', 'log', 'run']) chownSync(join(folder, name), NOBODY, NOBODY)
}

export async function startRspamd(folder: string, names: Names): Promise<Filters> {
  writeRspamd(folder, names)
  const places = { LOCAL_CONFDIR: '', DBDIR: 'db', LOGDIR: 'log', RUNDIR: 'run' }
  const variables = Object.entries(places).map(([name, path]) => `--var=${name}=${join(folder, path)}`)
  const socket = join(folder, 'rspamd.sock')
  const command = [RSPAMD, '-f', '-u', 'nobody', '-g', 'nogroup', '-c', '/etc/rspamd/rspamd.conf', ...variables]
  return { children: [await startServer(command, socket)], milters: [`unix:${socket}`] }
}
