// Both sides of an outside account seen through IMAP: what is in which folder, by hash, and random changes of it.

import { createHash } from 'node:crypto'
import { ImapFlow } from 'imapflow'
import type { TestAppliance } from './appliance.ts'
import type { OutsideAccount } from './outside.ts'
import { Random } from './random.ts'

/** `hash flags` of each message, sorted, by folder; empty folders are left out. */
export type FolderContents = Record<string, string[]>

const KEYWORDS = ['\\Seen', '\\Flagged', '\\Answered', 'blue', 'green']
const DAY_MS = 86_400_000

/** A message whose content is its number, of up to 20 KB; every fiftieth is of 300 KB. */
export function proofMessage(n: number): { bytes: Uint8Array; receivedAt: number; flags: string } {
  const random = new Random(n)
  const lines = random.below(n % 50 === 0 ? 4000 : 200)
  const text = Array.from(
    { length: lines },
    (_, line) => `Line ${line} of message ${n}: ${random.below(1e9)} und ein Käse.`,
  )
  const head = [
    `From: "Person ${n % 17}" <p${n % 17}@example.com>`,
    'To: me@elsewhere.test',
    `Subject: Message ${n}`,
    // Some have no Message-ID, and some the same one.
    ...(n % 23 === 0 ? [] : [`Message-ID: <${n % 29 === 0 ? 'same' : n}@example.com>`]),
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
  ]
  const receivedAt = Date.UTC(2026, 0, 1) - (n % 1000) * DAY_MS + n * 1000
  const flags = `${n % 5 === 0 ? 'F' : ''}${n % 2 === 0 ? 'S' : ''}`
  return { bytes: Buffer.from(`${[...head, '', ...text].join('\r\n')}\r\n`), receivedAt, flags }
}

export function* proofMessages(from: number, count: number) {
  for (let n = from; n < from + count; n++) yield proofMessage(n)
}

/** A mail program at the mailbox of the account here. */
export async function signInHere({ app, ports }: TestAppliance, account: OutsideAccount): Promise<ImapFlow> {
  const { email } = app.directory.mailboxes.byId(account.mailboxId)!
  const client = new ImapFlow({
    ...{ host: '127.0.0.1', port: ports.imaps, secure: true, logger: false },
    ...{ auth: { user: email, pass: account.key }, tls: { rejectUnauthorized: false } },
  })
  await client.connect()
  return client
}

async function foldersOf(client: ImapFlow): Promise<{ name: string; path: string }[]> {
  const listed = (await client.list()).filter(({ flags }) => !flags.has('\\Noselect') && !flags.has('\\NonExistent'))
  return listed.map(({ path, delimiter, specialUse }) => {
    const plain = path === 'INBOX' ? path : path.replace(new RegExp(`^INBOX\\${delimiter}`), '')
    return { path, name: specialUse ?? plain.replaceAll(delimiter, '/') }
  })
}

/** Everything in it. */
export async function contentsOf(client: ImapFlow): Promise<FolderContents> {
  const contents: FolderContents = {}
  for (const { name, path } of await foldersOf(client)) {
    const lock = await client.getMailboxLock(path)
    try {
      await client.noop()
      if (!client.mailbox || client.mailbox.exists === 0) continue
      const lines: string[] = []
      for await (const { source, flags } of client.fetch('1:*', { source: true, flags: true })) {
        const hash = createHash('sha256').update(source!).digest('hex').slice(0, 20)
        lines.push(
          [
            hash,
            ...[...flags!]
              .filter((flag) => flag !== '\\Recent')
              .map((flag) => flag.toLowerCase())
              .sort(),
          ].join(' '),
        )
      }
      if (lines.length > 0) contents[name] = lines.sort()
    } finally {
      lock.release()
    }
  }
  return contents
}

/** Where two sides differ, as sentences; empty when they are equal. */
export function differencesOf(here: FolderContents, there: FolderContents): string[] {
  return [...new Set([...Object.keys(here), ...Object.keys(there)])].flatMap((name) => {
    const left = [...(there[name] ?? [])]
    const more = (here[name] ?? []).filter((line) => {
      const at = left.indexOf(line)
      if (at >= 0) left.splice(at, 1)
      return at < 0
    })
    return [...more.map((line) => `${name}: only here ${line}`), ...left.map((line) => `${name}: only there ${line}`)]
  })
}

/** One random change: flags, a move, a new message or a deletion. A message that is gone meanwhile is no error. */
export async function changeAtRandom(client: ImapFlow, random: Random, n: number): Promise<void> {
  const folders = await foldersOf(client)
  const from = random.pick(folders)
  if (random.chance(0.15)) {
    const { bytes, receivedAt } = proofMessage(n)
    await client.append(from.path, Buffer.from(bytes), random.chance(0.5) ? ['\\Seen'] : [], new Date(receivedAt))
    return
  }
  const lock = await client.getMailboxLock(from.path)
  try {
    await client.noop()
    if (!client.mailbox || client.mailbox.exists === 0) return
    const first = 1 + random.below(client.mailbox.exists)
    const range = `${first}:${Math.min(client.mailbox.exists, first + random.below(3))}`
    if (random.chance(0.55)) await client.messageFlagsAdd(range, [random.pick(KEYWORDS)])
    else if (random.chance(0.4)) await client.messageFlagsRemove(range, [random.pick(KEYWORDS)])
    else if (random.chance(0.7)) {
      const to = random.pick(folders)
      if (to.path !== from.path) await client.messageMove(range, to.path)
    } else await client.messageDelete(String(first))
  } finally {
    lock.release()
  }
}
