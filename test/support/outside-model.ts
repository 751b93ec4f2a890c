// An appliance with a mailbox that is an account in memory: random changes on both sides, and their comparison.

import assert from 'node:assert/strict'
import type { Account } from '../../src/store/rows/records.ts'
import { ServerError } from '../../src/sync/model/server.ts'
import { startAppliance, type TestAppliance, type TestTeam } from './appliance.ts'
import { ManualClock } from './clock.ts'
import { hashOf, type ModelAbilities, ModelAccount, ModelConnection } from './model-account.ts'
import type { Random } from './random.ts'

export interface ModelSetup extends AsyncDisposable {
  appliance: TestAppliance
  clock: ManualClock
  team: TestTeam
  /** Connections now, and the most at a time. */
  connections: { open: number; most: number }
  /** Makes an account in memory and attaches it. */
  attach(abilities: ModelAbilities, fill?: (account: ModelAccount) => void, more?: object): Promise<ModelMailbox>
}

/** @param env more settings */
export async function startModels(env: Record<string, string> = {}): Promise<ModelSetup> {
  const clock = new ManualClock()
  const connections = { open: 0, most: 0 }
  const accounts = new Map<string, ModelAccount>()
  const appliance = await startAppliance({
    clock,
    env: { ALLOW_PRIVATE_IMAP_HOSTS: 'true', ...env },
    openServer: async ({ email }) => {
      const account = accounts.get(email)
      if (account === undefined) throw new ServerError('delay', 'There is no such server.')
      account.fault('LOGIN', 'before')
      connections.most = Math.max(connections.most, ++connections.open)
      return new ModelConnection(account, clock, () => void connections.open--)
    },
  })
  const team = await appliance.team()
  return {
    ...{ appliance, clock, team, connections },
    async attach(abilities, fill = () => {}, more = {}) {
      const account = new ModelAccount(abilities)
      const email = `m${accounts.size}@elsewhere.test`
      accounts.set(email, account)
      fill(account)
      const reply = await appliance.call('POST', '/remote-accounts', team.key, {
        ...{ email, password: 'a password', imap_host: '127.0.0.1', imap_port: 143, imap_protocol: 'none' },
        ...more,
      })
      assert.equal(reply.status, 201, JSON.stringify(reply.body))
      return new ModelMailbox({
        appliance,
        clock,
        team,
        account,
        id: reply.body.data.id,
        mailboxId: reply.body.data.mailbox_id,
      })
    },
    [Symbol.asyncDispose]: () => appliance.close(),
  }
}

interface Parts {
  appliance: TestAppliance
  clock: ManualClock
  team: TestTeam
  account: ModelAccount
  id: string
  mailboxId: string
}

let numbers = 0

export function modelMessage(text = ''): Buffer {
  const n = ++numbers
  return Buffer.from(
    `From: a@example.com\r\nSubject: Number ${n}\r\nMessage-ID: <n${n}@example.com>\r\n\r\n${text}${n}\r\n`,
  )
}

export class ModelMailbox {
  readonly account: ModelAccount
  readonly id: string
  readonly mailboxId: string
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
    this.account = parts.account
    this.id = parts.id
    this.mailboxId = parts.mailboxId
  }

  get mail(): Account {
    return this.#parts.appliance.app.store.accounts.byMailbox(this.mailboxId)!
  }

  get store() {
    return this.#parts.appliance.app.store
  }

  async record() {
    return (await this.#parts.appliance.get(`/remote-accounts/${this.id}`, this.#parts.team.key)).body.data
  }

  /** Lets the delays of failed connections pass, and waits until nothing is left to do. */
  async settle(rounds = 3): Promise<void> {
    const { appliance, clock } = this.#parts
    for (let round = 0; round < rounds; round++) {
      await appliance.settle()
      clock.advance(150_000)
      await new Promise(setImmediate)
    }
    await appliance.settle()
  }

  /** Numbers of all messages here. */
  numbers(): number[] {
    const sql = 'SELECT n FROM messages WHERE account = ? ORDER BY n'
    return this.#parts.appliance.app.db.read.all<{ n: number }>(sql, [this.mail.n]).map(({ n }) => n)
  }

  /** Stores a message here. @returns its id */
  async import(bytes: Buffer, folderId: string, keywords: readonly string[] = []): Promise<string> {
    const { app } = this.#parts.appliance
    const reading = await app.inspector.read(bytes.length, async () => bytes)
    await app.store.blobs.putAll([reading])
    const mailbox = app.directory.mailboxes.byId(this.mailboxId)!
    const into = { account: this.mail, ownAddresses: [mailbox.email], quotaBytes: mailbox.quotaBytes }
    const { hash, sizeBytes, message: parsed } = reading
    const none = { spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none' } as const
    const result = await app.db.write((tx) =>
      app.store.edit.imports.import(tx, into, {
        ...{ parsed, hash, sizeBytes, folderIds: [folderId], keywords, receivedAt: app.clock.now(), again: true },
        authentication: { ...none, fromAligned: false, reasons: [] },
        ...{ spam: { score: 0, isSpam: false, reasons: [] }, envelope: { mailFrom: '', rcptTo: '' } },
      }),
    )
    assert.equal(result.outcome, 'new')
    return (result as { id: string }).id
  }

  /** Each message in each folder with its marks, as text, sorted. */
  here(): string[] {
    const {
      read: { folders },
      programs: { mail },
    } = this.store
    const paths = new Map(folders.paths(this.mail).map(({ n, path, role }) => [n, role === 'inbox' ? 'INBOX' : path]))
    const numbers = this.numbers()
    const contents = mail.contents(numbers)
    return [...mail.placements(this.mail, numbers).values()]
      .flatMap(({ n, keywords, entries }) => {
        const hash = Buffer.from(contents.get(n)!.blob).toString('hex').slice(0, 12)
        return entries.map(({ folder, isDeleted }) =>
          [paths.get(folder), hash, ...keywords, ...(isDeleted ? ['deleted'] : [])].join(' '),
        )
      })
      .sort()
  }

  /** The same of the server. */
  there(): string[] {
    const keywordOf = (flag: string) =>
      flag === '\\Deleted' ? 'deleted' : flag.startsWith('\\') ? `$${flag.slice(1).toLowerCase()}` : flag.toLowerCase()
    const marks = (flags: ReadonlySet<string>) => {
      const all = [...flags].map(keywordOf)
      return [...all.filter((one) => one !== 'deleted').sort(), ...all.filter((one) => one === 'deleted')]
    }
    return [...this.account.folders.values()]
      .flatMap(({ path, messages }) =>
        [...messages.values()].map(({ bytes, flags }) => [path, hashOf(bytes), ...marks(flags)].join(' ')),
      )
      .sort()
  }

  assertEqual(text: string): void {
    assert.deepEqual(this.here(), this.there(), text)
  }

  /** One random change at the server. */
  changeThere(random: Random): void {
    const { account } = this
    const folders = [...account.folders.values()]
    const folder = random.pick(folders)
    const uids = [...folder.messages.keys()]
    const kind = random.next()
    if (uids.length === 0 || kind < 0.2)
      account.add(folder.path, modelMessage(), { receivedAt: this.#parts.clock.now() })
    else if (kind < 0.55) account.setFlags(folder.path, random.pick(uids), flagChange(random))
    else if (kind < 0.75) account.move(folder.path, random.pick(uids), random.pick(folders).path)
    else if (kind < 0.8) account.copy(folder.path, random.pick(uids), random.pick(folders).path)
    else if (kind < 0.92) account.remove(folder.path, random.pick(uids))
    else if (kind < 0.94) account.renumber(folder.path)
    else if (folders.length < 6) account.create(`Folder${++numbers}`)
    else if (folder.path !== 'INBOX') account.rename(folder.path, `Renamed${++numbers}`)
  }

  /** One random change here. */
  async changeHere(random: Random): Promise<void> {
    const { store, mail } = this
    const numbers = this.numbers()
    const folders = store.read.folders.keys(mail).filter(({ role }) => role === null || role === 'inbox')
    const target = random.pick(folders)
    const kind = random.next()
    if (numbers.length === 0 || kind < 0.15) {
      await this.import(modelMessage(), target.id, random.some(['$seen', '$flagged', 'blue'], 0.4))
      return
    }
    const placement = store.programs.mail
      .placements(mail, [random.pick(numbers)])
      .values()
      .next().value!
    if (kind < 0.5) {
      const mark = random.pick(['$seen', '$flagged', '$answered', 'blue', 'red'])
      const change = placement.keywords.includes(mark) ? { remove: [mark] } : { add: [mark] }
      await store.edit.messages.change(mail, [placement.id], { keywords: change })
    } else if (kind < 0.75) await store.edit.messages.change(mail, [placement.id], { folders: { set: [target.id] } })
    else if (kind < 0.8) await store.edit.messages.change(mail, [placement.id], { folders: { add: [target.id] } })
    else if (kind < 0.9)
      await this.#parts.appliance.app.db.write((tx) => store.edit.messages.deleteIn(tx, mail, [placement.id]))
    else if (kind < 0.94)
      await store.edit.folders.create(mail, { name: `Made${numbers.length}-${random.below(1e6)}`, parentId: null })
    else if (target.role === null && kind < 0.97)
      await store.edit.folders.update(mail, target.id, { name: `Named${random.below(1e6)}` }, () => {})
    else if (target.role === null) await store.edit.folders.remove(mail, target.id, 'delete', () => {})
  }
}

function flagChange(random: Random) {
  const flag = random.pick(['\\Seen', '\\Flagged', '\\Answered', 'blue', 'Red'])
  return random.chance(0.5) ? { add: [flag], remove: [] } : { add: [], remove: [flag] }
}
