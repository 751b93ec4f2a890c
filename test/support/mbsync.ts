// mbsync with one account and one Maildir, all folders both ways.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProgramAccount } from './program-accounts.ts'

type Login = Pick<ProgramAccount, 'email' | 'password' | 'host' | 'imaps' | 'authority' | 'home'>

/** Writes the configuration with a channel `all` to the Maildir `mail` in the home of the account. @returns its path */
export async function writeMbsyncConfig({ email, password, host, imaps, authority, home }: Login): Promise<string> {
  await mkdir(join(home, 'mail'), { recursive: true })
  const config = join(home, 'mbsyncrc')
  const lines = [
    ...['IMAPAccount a', `Host ${host}`, `Port ${imaps}`, `User ${email}`, `Pass ${password}`],
    ...['SSLType IMAPS', `CertificateFile ${authority}`, '', 'IMAPStore far', 'Account a', ''],
    ...['MaildirStore near', `Path ${home}/mail/`, `Inbox ${home}/mail/INBOX`, 'SubFolders Verbatim', ''],
    ...['Channel all', 'Far :far:', 'Near :near:', 'Patterns *', 'Create Both', 'Expunge Both', 'SyncState *', ''],
  ]
  await writeFile(config, lines.join('\n'), { mode: 0o600 })
  return config
}
