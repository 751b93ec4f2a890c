// Pebble, the certificate authority for tests of ACME clients, on free ports of loopback, with the DNS server of the test.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { freePorts } from './appliance.ts'
import { eventually } from './eventually.ts'
import { missingProgram } from './programs.ts'
import { issueCertificate } from './tls-authority.ts'

/** For node:test's `skip`. */
export function pebbleMissing(): false | string {
  return missingProgram('pebble', undefined, 'pebble') || missingProgram('openssl')
}

export interface Pebble extends AsyncDisposable {
  /** URL of its directory. */
  directory: string
  /** File with the authority of its own certificate, for EXTRA_CA_FILE. */
  authority: string
  /** What it has logged. */
  log(): string
  /** The root of the certificates it issues, PEM. */
  root(): Promise<string>
}

export interface PebbleSetup {
  /** `ip:port`. */
  dns: string
  httpPort: number
  tlsPort: number
  /** Keys of External Account Binding, base64url by id; required when there are some. */
  accounts?: Record<string, string>
  /** Seconds for which certificates are valid. */
  validity?: number
  /** PEBBLE_… */
  env?: Record<string, string>
}

export async function startPebble(setup: PebbleSetup): Promise<Pebble> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-pebble-'))
  const { authority, cert, key } = await issueCertificate(folder)
  const [port, management] = await freePorts()
  const config = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    ...{ certificate: cert, privateKey: key, httpPort: setup.httpPort, tlsPort: setup.tlsPort, ocspResponderURL: '' },
    externalAccountBindingRequired: setup.accounts !== undefined,
    externalAccountMACKeys: setup.accounts ?? {},
    ...(setup.validity === undefined ? {} : { certificateValidityPeriod: setup.validity }),
  }
  const file = join(folder, 'pebble.json')
  await writeFile(file, JSON.stringify({ pebble: config }))
  const env = { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '50', ...setup.env }
  const child = spawn('pebble', ['-config', file, '-dnsserver', setup.dns], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text))
  const agent = new Agent({ rejectUnauthorized: false, keepAlive: false })
  const directory = `https://127.0.0.1:${port}/dir`
  await eventually(() => fetched(directory, agent).catch(() => null))
  return {
    directory,
    authority,
    log: () => log,
    root: () => fetched(`https://127.0.0.1:${management}/roots/0`, agent),
    async [Symbol.asyncDispose]() {
      await stop(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}

function fetched(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part))
      response.on('end', () => resolve(text)).on('error', reject)
    }).on('error', reject)
  })
}
