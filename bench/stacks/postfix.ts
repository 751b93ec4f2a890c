// A separate Postfix for comparison: configuration, queue and Maildir in one folder, on a free loopback port, stopped by process id.

import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startServer, withResolver } from '../processes.ts'

export const POSTFIX = '/usr/lib/postfix/sbin/master'
/** Owner of the delivered messages: Debian's user `nobody`. */
export const NOBODY = 65534

/** What makes a mail server of a bare Postfix. */
export interface PostfixChecks {
  /** Milters in their order, as `smtpd_milters` names them. */
  milters: string[]
  /** The program that answers policy requests, and its arguments; each process of Postfix's `smtpd` has one of its own. */
  policy?: string
  /** Where mail is delivered: an LMTP socket. */
  lmtp: string
  /** A resolv.conf that holds for Postfix and the programs it starts. */
  resolver: string
}

/** Postfix's own defaults, but: mail for `domain` into one Maildir, and no pause when mail comes in faster than it goes on. */
function mainCf(folder: string, domain: string, checks: PostfixChecks | undefined): string {
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
    // The load comes from loopback and is checked like any other mail.
    mynetworks: checks === undefined ? '127.0.0.0/8' : '192.0.2.1',
    smtpd_client_event_limit_exceptions: '127.0.0.0/8',
    smtpd_relay_restrictions: 'reject_unauth_destination',
    smtpd_peername_lookup: 'no',
    in_flow_delay: '0',
    alias_maps: '',
    virtual_mailbox_domains: domain,
    virtual_mailbox_base: folder,
    virtual_mailbox_maps: 'static:box/',
    virtual_uid_maps: `static:${NOBODY}`,
    virtual_gid_maps: `static:${NOBODY}`,
    ...(checks === undefined ? {} : checkedCf(checks)),
  })
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')
}

function checkedCf({ milters, policy, lmtp }: PostfixChecks): Record<string, string> {
  return {
    virtual_transport: `lmtp:unix:${lmtp}`,
    smtpd_milters: milters.join(', '),
    milter_default_action: 'tempfail',
    ...(policy === undefined
      ? {}
      : {
          smtpd_recipient_restrictions: 'reject_unauth_destination, check_policy_service unix:private/policy',
          policy_time_limit: '3600',
        }),
  }
}

function masterCf(port: number, policy: string | undefined): string {
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
    'lmtp unix - - n - - lmtp',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'scache unix - - n - 1 scache',
    'anvil unix - - n - 1 anvil',
    'postlog unix-dgram n - n - 1 postlogd',
    ...(policy === undefined ? [] : [`policy unix - n n - 0 spawn user=nobody argv=${policy}`]),
    '',
  ].join('\n')
}

/** Starts Postfix in `folder`, which must be new and empty. */
export async function startPostfix(options: {
  folder: string
  port: number
  domain: string
  checks?: PostfixChecks
}): Promise<Child> {
  const { folder, port, domain, checks } = options
  const config = join(folder, 'config')
  for (const name of ['config', 'queue', 'data', 'box']) mkdirSync(join(folder, name))
  writeFileSync(join(config, 'main.cf'), mainCf(folder, domain, checks))
  writeFileSync(join(config, 'master.cf'), masterCf(port, checks?.policy))
  chownSync(join(folder, 'data'), Number(execFileSync('id', ['-u', 'postfix'])), -1)
  chownSync(join(folder, 'box'), NOBODY, NOBODY)
  // Lays out the queue folders with their owners.
  execFileSync('/usr/sbin/postfix', ['-c', config, 'check'], { stdio: 'ignore' })
  const command = [POSTFIX, '-c', config, '-d']
  return startServer(checks === undefined ? command : withResolver(checks.resolver, command), port)
}
