// Dovecot for comparison as an IMAP server: TLS, a Maildir, the defaults of Debian.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS } from '../../src/base/durations.ts'
import { selfSigned } from '../../src/config/certificate.ts'
import { type Child, freePort, startServer } from '../processes.ts'
import { commonConfig, DOVECOT, prepareFolder } from './dovecot.ts'

function configOf(folder: string, port: number, lmtp: number | null): string {
  return `${commonConfig(folder)}protocols = imap${lmtp === null ? '' : ' lmtp'}
ssl = required
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
mail_max_userip_connections = 10000
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${port}
  }
}
${lmtp === null ? '' : lmtpConfig(lmtp)}`
}

function lmtpConfig(port: number): string {
  return `service lmtp {
  inet_listener lmtp {
    port = ${port}
  }
}
protocol lmtp {
  postmaster_address = postmaster@bench.test
}
`
}

export interface DovecotImap {
  child: Child
  port: number
  /** Port of deliveries; null without them. */
  lmtp: number | null
}

/** Starts Dovecot in `folder`, which must be new and empty. Any user and password is accepted. */
export async function startDovecotImap(folder: string, { takesMail = false } = {}): Promise<DovecotImap> {
  const [port, lmtp] = [await freePort(), takesMail ? await freePort() : null]
  prepareFolder(folder)
  const { cert, key } = await selfSigned('localhost', Date.now() - DAY_MS, Date.now() + DAY_MS)
  writeFileSync(join(folder, 'cert.pem'), cert)
  writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 })
  const config = join(folder, 'dovecot.conf')
  writeFileSync(config, configOf(folder, port, lmtp))
  return { child: await startServer([DOVECOT, '-F', '-c', config], port), port, lmtp }
}
