// Dovecot for comparison: takes mail over LMTP, indexes its text with fts-xapian and answers searches over IMAP.

import { once } from 'node:events'
import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type Child, freePort, startServer } from '../processes.ts'
import { NOBODY } from './postfix.ts'

export const DOVECOT = '/usr/sbin/dovecot'
/** Of the package dovecot-lmtpd. */
export const LMTP = '/usr/lib/dovecot/lmtp'
export const XAPIAN_PLUGIN = '/usr/lib/dovecot/modules/lib21_fts_xapian_plugin.so'
/** Messages of the load are searched by a word of their subject. */
const SEARCH_LIMIT_MS = 120_000

export interface Dovecot {
  child: Child
  /** Its LMTP socket. */
  lmtp: string
  /** Files of the Maildir. */
  files(): string[]
  /** Number of messages that a search finds by a word of the subject; what is not indexed is indexed first. */
  search(word: string): Promise<number>
}

/** What every Dovecot here has: one folder, one user, a Maildir, and any password. */
export function commonConfig(folder: string): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
listen = 127.0.0.1
mail_location = maildir:${folder}/mail
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
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
`
}

/** Makes the folders of `commonConfig` for the mail. */
export function prepareFolder(folder: string): void {
  for (const name of ['mail', 'home']) {
    mkdirSync(join(folder, name), { recursive: true })
    chownSync(join(folder, name), NOBODY, NOBODY)
  }
}

/** The defaults of Debian and of the plugin's documentation; with LMTP and the search index. */
function configOf(folder: string, port: number): string {
  return `${commonConfig(folder)}protocols = imap lmtp
ssl = no
disable_plaintext_auth = no
mail_plugins = fts fts_xapian
plugin {
  fts = xapian
  fts_xapian = partial=3 full=20
  fts_autoindex = yes
  fts_enforced = yes
}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service lmtp {
  unix_listener ${folder}/lmtp {
    mode = 0666
  }
}
service indexer-worker {
  vsz_limit = 2G
}
protocol lmtp {
  postmaster_address = postmaster@bench.test
}
`
}

/** Starts Dovecot in `folder`, which must be new and empty. */
export async function startDovecot(folder: string): Promise<Dovecot> {
  const port = await freePort()
  prepareFolder(folder)
  const config = join(folder, 'dovecot.conf')
  writeFileSync(config, configOf(folder, port))
  const child = await startServer([DOVECOT, '-F', '-c', config], port)
  const filesOf = (name: string) => {
    try {
      return readdirSync(join(folder, 'mail', name)).map((file) => join(folder, 'mail', name, file))
    } catch {
      // Made with the first message.
      return []
    }
  }
  return {
    child,
    lmtp: join(folder, 'lmtp'),
    files: () => [...filesOf('new'), ...filesOf('cur')],
    search: (word) => search(port, word),
  }
}

async function search(port: number, word: string): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1' }).setEncoding('latin1')
  const late = setTimeout(() => socket.destroy(new Error('Dovecot answered no search.')), SEARCH_LIMIT_MS)
  try {
    let text = ''
    const ask = async (tag: string, command: string) => {
      socket.write(`${tag} ${command}\r\n`)
      while (!text.includes(`\r\n${tag} `)) text += String((await once(socket, 'data'))[0])
      const [reply] = text.split(`\r\n${tag} `).slice(-1)
      if (!reply!.startsWith('OK')) throw new Error(`Dovecot answered ${reply!.trim()} to ${command}.`)
    }
    await ask('a', 'LOGIN box@bench.test none')
    await ask('b', 'SELECT INBOX')
    await ask('c', `SEARCH SUBJECT "${word}"`)
    const found = /^\* SEARCH([ \d]*)\r$/m.exec(text)?.[1] ?? ''
    return found.split(' ').filter(Boolean).length
  } finally {
    clearTimeout(late)
    socket.destroy()
  }
}
