// Knot, which signs zones, and Unbound, which validates them, both from Debian, on free ports of loopback.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { systemClock } from '../../src/base/clock.ts'
import { openResolver } from '../../src/base/resolver.ts'
import { freePorts } from './appliance.ts'
import { eventually } from './eventually.ts'
import { missingProgram } from './programs.ts'

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }

/** For node:test's `skip`. */
export function dnssecMissing(): false | string {
  return (
    missingProgram('knotd', ['--version'], 'knot') ||
    missingProgram('unbound', ['-V'], 'unbound') ||
    missingProgram('keymgr', ['--version'], 'knot')
  )
}

export interface SignedZone {
  /** Lines of the zone file below SOA and NS. */
  lines: string[]
  /** `bogus`: signed with a key that is not the trust anchor. */
  kind: 'signed' | 'unsigned' | 'bogus'
}

export interface Validator extends AsyncDisposable {
  /** `ip:port` of Unbound. */
  address: string
  /** `ip:port` of Knot, which validates nothing. */
  authority: string
}

/** @param zones by name */
export async function startValidator(zones: Record<string, SignedZone>): Promise<Validator> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-dnssec-'))
  const [knotPort, unboundPort] = await freePorts()
  const children: ChildProcess[] = []
  const start = (program: string, ...args: string[]) => {
    children.push(spawn(program, args, { env, stdio: 'ignore' }))
  }
  await writeKnot(folder, knotPort!, zones)
  start('knotd', '-c', join(folder, 'knot.conf'))
  const authority = `127.0.0.1:${knotPort}`
  for (const name of Object.keys(zones)) await answered(authority, name)
  await writeFile(join(folder, 'unbound.conf'), unboundConf(folder, { knotPort, unboundPort }, zones))
  start('unbound', '-d', '-c', join(folder, 'unbound.conf'))
  const address = `127.0.0.1:${unboundPort}`
  for (const [name, { kind }] of Object.entries(zones)) if (kind !== 'bogus') await answered(address, name)
  return {
    address,
    authority,
    async [Symbol.asyncDispose]() {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        child.kill()
        await once(child, 'exit')
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function writeKnot(folder: string, port: number, zones: Record<string, SignedZone>): Promise<void> {
  for (const name of ['zones', 'run', 'db']) await mkdir(join(folder, name))
  const parts = [
    `server:\n  listen: 127.0.0.1@${port}\n  rundir: ${join(folder, 'run')}`,
    `log:\n  - target: stderr\n    any: error`,
    `database:\n  storage: ${join(folder, 'db')}`,
    'policy:\n  - id: own\n    algorithm: ECDSAP256SHA256\n    single-type-signing: on',
    `template:\n  - id: default\n    storage: ${join(folder, 'zones')}\n    file: "%s.zone"\n    zonefile-sync: -1\n    journal-content: all\n    zonefile-load: difference`,
    'zone:',
  ]
  for (const [name, { lines, kind }] of Object.entries(zones)) {
    const head = ['$TTL 60', `@ SOA ns admin 1 60 60 3600 60`, '@ NS ns', 'ns A 127.0.0.1']
    await writeFile(join(folder, 'zones', `${name}.zone`), `$ORIGIN ${name}.\n${[...head, ...lines].join('\n')}\n`)
    parts.push(`  - domain: ${name}${kind === 'unsigned' ? '' : '\n    dnssec-signing: on\n    dnssec-policy: own'}`)
  }
  await writeFile(join(folder, 'knot.conf'), `${parts.join('\n')}\n`)
}

function unboundConf(
  folder: string,
  { knotPort, unboundPort }: { knotPort: number | undefined; unboundPort: number | undefined },
  zones: Record<string, SignedZone>,
): string {
  const anchors = Object.entries(zones).flatMap(([name, { kind }]) => {
    if (kind === 'unsigned') return []
    const keys = execFileSync('keymgr', ['-c', join(folder, 'knot.conf'), name, 'ds'], { env }).toString()
    const sha256 = keys.split('\n').find((line) => / DS \d+ 13 2 /.test(line))!
    // A digest of no key.
    const anchor = kind === 'bogus' ? sha256.replace(/[0-9a-f]{64}/i, '00'.repeat(32)) : sha256
    return [`  trust-anchor: "${anchor}"`]
  })
  const stubs = Object.keys(zones).map((name) => `stub-zone:\n  name: ${name}\n  stub-addr: 127.0.0.1@${knotPort}`)
  return `server:
  interface: 127.0.0.1
  port: ${unboundPort}
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "validator iterator"
  local-zone: "test." nodefault
${anchors.join('\n')}
remote-control:
  control-enable: no
${stubs.join('\n')}
`
}

/** Waits until a server answers for a zone. */
async function answered(server: string, name: string): Promise<void> {
  const resolver = openResolver({ servers: [server], clock: systemClock })
  await eventually(() => resolver.resolve(name, 'NS').catch(() => null))
  await resolver.close()
}
