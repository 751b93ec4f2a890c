// What people run, from Debian packages: a bare Postfix, and two servers that check, deliver and index as the appliance does.

import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { type LocalDns, startDns, type Zone } from '../../test/support/dns.ts'
import { freePort } from '../processes.ts'
import { DOVECOT, startDovecot, XAPIAN_PLUGIN } from './dovecot.ts'
import {
  type Filters,
  type Names,
  OPENDKIM,
  OPENDMARC,
  POLICYD_SPF,
  RSPAMD,
  startOpenFilters,
  startRspamd,
} from './filters.ts'
import { POSTFIX, startPostfix } from './postfix.ts'
import { passedOf, sumUsage, type Target } from './target.ts'

const PACKAGES: Record<string, string> = {
  [POSTFIX]: 'postfix',
  [OPENDKIM]: 'opendkim',
  [OPENDMARC]: 'opendmarc',
  [POLICYD_SPF]: 'postfix-policyd-spf-python',
  [DOVECOT]: 'dovecot-core dovecot-lmtpd dovecot-imapd',
  [XAPIAN_PLUGIN]: 'dovecot-fts-xapian',
  [RSPAMD]: 'rspamd',
}

export interface Stack {
  /** Argument of the command. */
  id: string
  name: string
  needs: string[]
  /** Whether it authenticates and indexes what it receives. */
  checks: boolean
  start(folder: string, domain: string, names: Names): Promise<Target>
}

/** The name of the stack that the history compares with. */
export const BARE_POSTFIX = 'Postfix into a Maildir, nothing checked'

export const STACKS: Stack[] = [
  { id: 'postfix', name: BARE_POSTFIX, needs: [POSTFIX], checks: false, start: startBare },
  {
    id: 'opendkim',
    name: 'Postfix, OpenDKIM, OpenDMARC, policyd-spf, Dovecot + Xapian',
    needs: [POSTFIX, OPENDKIM, OPENDMARC, POLICYD_SPF, DOVECOT, XAPIAN_PLUGIN],
    checks: true,
    start: (folder, domain, names) => startChecked(folder, domain, names, startOpenFilters),
  },
  {
    id: 'rspamd',
    name: 'Postfix, rspamd, Dovecot + Xapian',
    needs: [POSTFIX, RSPAMD, DOVECOT, XAPIAN_PLUGIN],
    checks: true,
    start: (folder, domain, names) => startChecked(folder, domain, names, startRspamd),
  },
]

/** @returns why a stack cannot run here, or null */
export function missingFor(stack: Stack): string | null {
  const missing = stack.needs.filter((file) => !existsSync(file)).map((file) => PACKAGES[file])
  if (missing.length > 0) return `not installed (apt-get install --no-install-recommends ${missing.join(' ')})`
  return process.getuid?.() === 0 ? null : 'it starts only as root'
}

async function startBare(folder: string, domain: string): Promise<Target> {
  const port = await freePort()
  const child = await startPostfix({ folder, port, domain })
  const inbox = join(folder, 'box/new')
  return {
    port,
    usage: child.usage,
    arrived: async () => (existsSync(inbox) ? readdirSync(inbox).length : 0),
    [Symbol.asyncDispose]: child.stop,
  }
}

async function startChecked(
  folder: string,
  domain: string,
  names: Names,
  startFilters: (folder: string, names: Names) => Promise<Filters>,
): Promise<Target> {
  // What has started is stopped when what follows does not start.
  await using starting = new AsyncDisposableStack()
  const rooms = ['dovecot', 'filters', 'postfix'].map((name) => join(folder, name)) as [string, string, string]
  for (const room of rooms) mkdirSync(room)
  const dovecot = await startDovecot(rooms[0])
  starting.use(dovecot.child)
  const filters = await startFilters(rooms[1], names)
  for (const child of filters.children) starting.use(child)
  const port = await freePort()
  const { milters, policy } = filters
  const checks = { milters, ...(policy === undefined ? {} : { policy }), lmtp: dovecot.lmtp, resolver: names.resolver }
  const postfix = starting.use(await startPostfix({ folder: rooms[2], port, domain, checks }))
  const children = [postfix, ...filters.children, dovecot.child]
  const running = starting.move()
  return {
    port,
    usage: () => sumUsage(children.map((child) => child.usage())),
    arrived: async () => dovecot.files().length,
    search: dovecot.search,
    passed: async () => passedOf(dovecot.files()),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** The benchmark's name server as the stacks ask it: on port 53 of a loopback address, as a resolv.conf names no other port. */
export async function startNames(folder: string, zone: Zone): Promise<{ dns: LocalDns; names: Names }> {
  for (let tries = 10; ; tries--) {
    const server = { host: `127.${randomInt(1, 255)}.${randomInt(1, 255)}.53`, port: 53 }
    try {
      const dns = await startDns(zone, server)
      const resolver = join(folder, 'resolv.conf')
      writeFileSync(resolver, `nameserver ${server.host}\n`)
      return { dns, names: { server, resolver } }
    } catch (error) {
      // Another program has this address.
      if (tries === 0) throw error
    }
  }
}
