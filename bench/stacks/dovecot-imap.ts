// Dovecot for comparison as an IMAP server: TLS, a Maildir, the defaults of Debian.

import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSigned } from '../../src/config/certificate.ts'
import { type Child, freePort, startServer } from '../processes.ts'
import { DOVECOT } from './dovecot.ts'
import { NOBODY } from './postfix.ts'

const DAY_MS = 86_400_000

function configOf(folder: string, port: number): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
mail_location = maildir:${folder}/mail
mail_max_userip_connections = 10000
first_valid_uid = 1
passdb {
  driver = static
  args = nopassword=y
}
userdb {
  driver = static
  args = uid=${NOBODY} gid=${NOBODY} home=${folder}/home allow_all_users=yes
}
namespace inbox {
  inbox = yes
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${port}
  }
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
`
}

/** Starts Dovecot in `folder`, which must be new and empty. Any user and password is accepted. */
export async function startDovecotImap(folder: string): Promise<{ child: Child; port: number }> {
  const port = await freePort()
  for (const name of ['mail', 'home']) {
    mkdirSync(join(folder, name), { recursive: true })
    chownSync(join(folder, name), NOBODY, NOBODY)
  }
  const { cert, key } = await selfSigned('localhost', Date.now() - DAY_MS, Date.now() + DAY_MS)
  writeFileSync(join(folder, 'cert.pem'), cert)
  writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 })
  const config = join(folder, 'dovecot.conf')
  writeFileSync(config, configOf(folder, port))
  return { child: await startServer([DOVECOT, '-F', '-c', config], port), port }
}
