// An appliance for other people's mail programs: a certificate of an authority they are given, and mailboxes with app passwords.

import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAppliance, type TestAppliance, type TestTeam } from './appliance.ts'
import { type ImapClient, logInImap } from './imap.ts'
import { type IssuedCertificate, issueCertificate, TLS_HOST } from './tls-authority.ts'

/** What a person types into a mail program, and a folder for it. */
export interface ProgramAccount {
  email: string
  password: string
  host: string
  /** Ports of IMAP with TLS, and with STARTTLS. */
  imaps: number
  imap: number
  /** PEM file of the authority to trust. */
  authority: string
  /** Empty. */
  home: string
  /** A client of ours on the mailbox. */
  client: ImapClient
}

export class ProgramAppliance implements AsyncDisposable {
  readonly appliance: TestAppliance
  readonly #team: TestTeam
  readonly #folder: string
  readonly #tls: IssuedCertificate
  readonly #clients: ImapClient[] = []

  private constructor(
    appliance: TestAppliance,
    team: TestTeam,
    { folder, tls }: { folder: string; tls: IssuedCertificate },
  ) {
    this.appliance = appliance
    this.#team = team
    this.#folder = folder
    this.#tls = tls
  }

  static async start(): Promise<ProgramAppliance> {
    const folder = await mkdtemp(join(tmpdir(), 'mailstead-programs-'))
    const tls = await issueCertificate(folder)
    const env = { TLS_CERT_FILE: tls.cert, TLS_KEY_FILE: tls.key, CLIENT_HOST: TLS_HOST }
    const appliance = await startAppliance({ env })
    const team = await appliance.team()
    await team.domain('acme.test')
    return new ProgramAppliance(appliance, team, { folder, tls })
  }

  /** A mailbox for a program, with so many messages in its Inbox: every second is read. */
  async account(name: string, messages: number): Promise<ProgramAccount> {
    const box = await this.#team.mailbox(`${name}@acme.test`)
    const { body } = await this.appliance.call('POST', `/mailboxes/${box.id}/app-passwords`, this.#team.key, { name })
    const home = join(this.#folder, name)
    await mkdir(home)
    const client = await logInImap(this.appliance, box)
    this.#clients.push(client)
    for (let i = 0; i < messages; i++) {
      const text = numberedMessage(i)
      await client.run(`APPEND INBOX (${i % 2 === 0 ? '\\Seen' : ''}) {${text.length}}`, text)
    }
    const { imaps, imap } = this.appliance.ports
    const account = { email: box.email, password: body.data.password as string, host: TLS_HOST, imaps, imap }
    return { ...account, authority: this.#tls.authority, home, client }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close()
    await this.appliance.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** A message that a test can distinguish from others: `far <n>` is its subject, `body <n>` its text. */
export function numberedMessage(n: number): string {
  const date = `Mon, 2 Nov 2026 10:00:${String(n % 60).padStart(2, '0')} +0000`
  const head = `From: Bob <bob@else.test>\r\nTo: ann@acme.test\r\nDate: ${date}\r\nMessage-ID: <${n}@far.test>\r\nSubject: far ${n}`
  return `${head}\r\n\r\nbody ${n}\r\n`
}

/** Subjects of the messages of a folder that fit a search, in their order. */
export async function subjectsIn({ client }: ProgramAccount, folder: string, search = 'ALL'): Promise<string[]> {
  await client.run(`EXAMINE ${folder}`)
  const found = (await client.run(`SEARCH RETURN (ALL) ${search}`)).untagged.at(-1)!
  const set = /ALL ([\d:,]+)$/.exec(found)?.[1]
  const fetched = set === undefined ? [] : (await client.run(`FETCH ${set} (ENVELOPE)`)).untagged
  await client.run('UNSELECT')
  return fetched.map((line) => /ENVELOPE \((?:NIL|"[^"]*") "([^"]*)"/.exec(line)![1]!)
}

/** The files of a Maildir, by their names within `cur` and `new`, with line ends as on the wire. */
export async function readMaildir(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const part of ['cur', 'new']) {
    for (const name of await readdir(join(folder, part)))
      files.set(name, (await readFile(join(folder, part, name), 'utf8')).replace(/\r?\n/g, '\r\n'))
  }
  return files
}
