// A mailbox that is an account at another server (Dovecot): imported, followed, and changed on both sides.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ImapFlow } from 'imapflow'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { eventually } from '../support/eventually.ts'
import { attach, type OutsideAccount, signIn } from '../support/outside.ts'
import { type RemoteDovecot, remoteDovecotMissing, startRemoteDovecot } from '../support/remote-dovecot.ts'

const skip = remoteDovecotMissing()

let server: RemoteDovecot
let appliance: TestAppliance
let team: TestTeam

before(async () => {
  if (skip) return
  server = await startRemoteDovecot()
  appliance = await startAppliance({ env: { ALLOW_PRIVATE_IMAP_HOSTS: 'true' } })
  team = await appliance.team()
})
after(async () => {
  await appliance?.close()
  await server?.[Symbol.asyncDispose]()
})

const DAY = 86_400_000

function message(n: number, more = ''): Uint8Array {
  const lines = [`From: someone@example.com`, `To: me@elsewhere.test`, `Subject: Message ${n}`]
  return Buffer.from(`${[...lines, `Message-ID: <m${n}@example.com>`, '', `Text ${n} ${more}`].join('\r\n')}\r\n`)
}

function* messages(from: number, count: number) {
  for (let n = from; n < from + count; n++) yield { bytes: message(n), receivedAt: Date.now() - 30 * DAY + n * 1000 }
}

interface Both {
  account: OutsideAccount
  client: ImapFlow
  list(query: string): Promise<Json[]>
  folders(): Promise<Json[]>
  folder(name: string): Promise<Json>
  patch(id: string, body: unknown): Promise<void>
  /** Message-IDs of a folder at the server. */
  there(path: string): Promise<string[]>
}

/** Attaches an account and waits for the end of its import. */
async function mirror(user: string): Promise<Both & AsyncDisposable> {
  const account = await attach(appliance, team, server, { user })
  await eventually(account.record, ({ status }) => status === 'active')
  const client = await signIn(server, user)
  const get = async (path: string) => (await appliance.get(`/mailbox/${path}`, account.key)).body.data
  const folders = () => get('folders')
  return {
    ...{ account, client, folders },
    list: (query) => get(`messages?limit=100&${query}`),
    folder: async (name) => (await folders()).find((one: Json) => one.path === name),
    async patch(id, body) {
      const reply = await appliance.call('PATCH', `/mailbox/messages/${id}`, account.key, body)
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
    },
    async there(path) {
      const lock = await client.getMailboxLock(path)
      try {
        // EXPUNGE is not announced during FETCH.
        await client.noop()
        const ids: string[] = []
        if (client.mailbox && client.mailbox.exists > 0)
          for await (const { envelope } of client.fetch('1:*', { envelope: true })) ids.push(envelope?.messageId ?? '')
        return ids.sort()
      } finally {
        lock.release()
      }
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

test('an account is imported, and both sides stay equal', { skip }, async () => {
  const user = 'thread@elsewhere.test'
  server.fill(user, '', messages(1, 120))
  server.fill(user, 'Work', messages(200, 5))
  await using both = await mirror(user)
  const { account, client, list, folder, patch } = both
  const imported = await account.record()
  assert.equal(imported.import.state, 'done')
  assert.equal(imported.import.messages_done, 125)
  assert.equal((await list(''))[0].subject, 'Message 204')
  assert.equal((await folder('Inbox')).total_messages, 120)
  assert.equal((await folder('Work')).total_messages, 5)

  // In the second in which the account was made: INTERNALDATE has no fraction of it.
  await client.append('INBOX', Buffer.from(message(1000)), [], new Date(imported.created_at))
  const [arrived] = await eventually(
    () => list('subject=Message+1000'),
    (found) => found.length === 1,
  )
  await client.mailboxOpen('INBOX')
  await client.messageFlagsAdd({ header: { 'message-id': '<m1000@example.com>' } }, ['\\Flagged', 'blue'])
  await eventually(
    () => list('subject=Message+1000'),
    ([found]) => found.keywords.includes('$flagged'),
  )
  await patch(arrived.id, { flags: { seen: true, flagged: false } })
  await eventually(
    async () => (await client.fetchOne('121', { flags: true })) as { flags: Set<string> },
    ({ flags }) => flags.has('\\Seen') && !flags.has('\\Flagged') && flags.has('blue'),
  )
  const [received] = await appliance.app.db.scan.all<{ body: string }>(
    "SELECT body FROM events WHERE mailbox_id = ? AND type LIKE 'message.%'",
    [account.mailboxId],
  )
  assert.equal(JSON.parse(received!.body).data.subject, 'Message 1000')
  const events = await appliance.app.db.scan.all<{ type: string }>('SELECT type FROM events WHERE mailbox_id = ?', [
    account.mailboxId,
  ])
  assert.deepEqual(events.map(({ type }) => type).sort(), ['message.received', 'remote_account.imported'])
})

test('moves, deletions and appends of each side happen on the other, and a message keeps its id', {
  skip,
}, async () => {
  const user = 'moves@elsewhere.test'
  server.fill(user, '', messages(1, 12))
  server.fill(user, 'Work', messages(20, 2))
  await using both = await mirror(user)
  const { client, list, folder, patch, there, account } = both
  const found = async (n: number) =>
    (await list(`subject=%22Message+${n}%22`)).filter((one) => one.subject === `Message ${n}`)
  const [one] = await found(1)
  const [two] = await found(2)
  const [three] = await found(3)

  await client.mailboxOpen('INBOX')
  await client.messageMove({ header: { 'message-id': '<m1@example.com>' } }, 'Work')
  const work = await folder('Work')
  const [moved] = await eventually(
    () => found(1),
    ([message]) => message?.folder_ids.includes(work.id),
  )
  assert.equal(moved!.id, one!.id)
  assert.deepEqual(moved!.folder_ids, [work.id])

  await patch(two!.id, { folder_ids: [work.id] })
  await eventually(
    () => there('Work'),
    (ids) => ids.includes('<m2@example.com>'),
  )
  assert.ok(!(await there('INBOX')).includes('<m2@example.com>'))

  await appliance.call('DELETE', `/mailbox/messages/${three!.id}?permanent=true`, account.key)
  await eventually(
    () => there('INBOX'),
    (ids) => !ids.includes('<m3@example.com>'),
  )

  await client.mailboxOpen('INBOX')
  await client.messageDelete({ header: { 'message-id': '<m4@example.com>' } })
  await eventually(
    () => found(4),
    (messages) => messages.length === 0,
  )

  const raw = Buffer.from(message(50)).toString('base64')
  const body = { raw, folder_ids: [work.id] }
  const made = await appliance.call('POST', '/mailbox/messages/import', account.key, body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  await eventually(
    () => there('Work'),
    (ids) => ids.includes('<m50@example.com>'),
  )
  await appliance.settle()
  assert.deepEqual(await there('Work'), [1, 2, 20, 21, 50].map((n) => `<m${n}@example.com>`).sort())
  assert.equal((await folder('Work')).total_messages, 5)
  assert.equal((await folder('Inbox')).total_messages, 8)
})

test('folders are created, renamed and deleted on both sides', { skip }, async () => {
  const user = 'folders@elsewhere.test'
  server.fill(user, '', messages(1, 3))
  await using both = await mirror(user)
  const { client, folder, account, there, patch, list } = both
  // By a new connection: Dovecot 2.3 may list the folders to those that are open as they were before, for minutes, until a new one lists them.
  const paths = async () => {
    await using other = await signIn(server, user)
    return (await other.list()).map(({ path }) => path)
  }
  const call = (method: string, path: string, body?: unknown) => appliance.call(method, path, account.key, body)

  const made = await call('POST', '/mailbox/folders', { name: 'Projects' })
  const below = await call('POST', '/mailbox/folders', { name: 'Käse', parent_id: made.body.data.id })
  await eventually(paths, (all) => all.some((path) => /^Projects.K\u00e4se$/.test(path)))
  const [message] = await list('')
  await patch(message!.id, { folder_ids: [below.body.data.id] })
  const path = (await paths()).find((one) => one.endsWith('Käse'))!
  await eventually(
    () => there(path),
    (ids) => ids.length === 1,
  )
  await call('PATCH', `/mailbox/folders/${made.body.data.id}`, { name: 'Plans' })
  await eventually(paths, (all) => all.some((one) => /^Plans.Käse$/.test(one)) && !all.includes('Projects'))

  const renamedPath = (await paths()).find((one) => one.endsWith('Käse'))!
  await client.mailboxRename(renamedPath, renamedPath.replace('Käse', 'Brot'))
  await client.mailboxCreate('Other')
  assert.ok((await paths()).includes('Other'))
  const asked = await appliance.call('POST', `/remote-accounts/${account.id}/sync`, team.key)
  assert.equal(asked.status, 200, JSON.stringify(asked.body))
  const renamed = await eventually(
    () => folder('Plans/Brot'),
    (one) => one !== undefined,
  )
  assert.equal(renamed.id, below.body.data.id)
  assert.equal(renamed.total_messages, 1)
  await eventually(
    () => folder('Other'),
    (one) => one !== undefined,
  )

  await call('DELETE', `/mailbox/folders/${below.body.data.id}?on_messages=delete`)
  await eventually(paths, (all) => all.every((one) => !one.includes('Brot')))
})

test('messages that get other UIDs are recognised, and not fetched or reported again', { skip }, async () => {
  const user = 'renumbered@elsewhere.test'
  server.fill(user, '', messages(1, 30))
  await using both = await mirror(user)
  const { client, list, account } = both
  const before = (await list('')).map(({ id }) => id)
  await client.logout()
  // Dovecot ends connections to a folder that gets another UIDVALIDITY; the delay after that is not what is tested.
  const ask = async (action: string) => {
    const asked = await appliance.call('POST', `/remote-accounts/${account.id}/${action}`, team.key)
    assert.equal(asked.status, 200, JSON.stringify(asked.body))
  }
  await ask('pause')
  await appliance.settle()
  await server.doveadm('mailbox', 'update', '-u', user, '--uid-validity', '99', 'INBOX')
  const bytes = (await account.record()).import.bytes_done
  await ask('resume')
  const validity = () =>
    appliance.app.db.read.get<{ validity: number; lowest: number }>(
      "SELECT uid_validity AS validity, lowest FROM remote_folders WHERE path = 'INBOX' AND remote = (SELECT n FROM remote_accounts WHERE id = ?)",
      [account.id],
    )!
  await eventually(validity, (one) => one.validity === 99 && one.lowest === 1)
  await appliance.settle()
  assert.deepEqual(
    (await list('')).map(({ id }) => id),
    before,
  )
  assert.equal((await account.record()).import.bytes_done, bytes)
})

test('a folder below one that cannot be selected is read', { skip }, async () => {
  const user = 'nested@elsewhere.test'
  server.fill(user, '', messages(1, 2))
  server.fill(user, 'Clients.Acme', messages(10, 3))
  await using both = await mirror(user)
  assert.equal((await both.folder('Clients/Acme')).total_messages, 3)
  assert.equal((await both.account.record()).status_reason, null)
})

test('mail in a folder that could not be selected is stored there; a folder that the server hides is named', {
  skip,
}, async () => {
  const user = 'hidden@elsewhere.test'
  server.fill(user, '', messages(1, 2))
  server.fill(user, 'Clients.Acme', messages(10, 1))
  await using both = await mirror(user)
  const [first, second] = (await both.list('')).filter(({ subject }) => subject !== 'Message 10')
  await both.patch(first!.id, { folder_ids: [(await both.folder('Clients')).id] })
  await eventually(
    () => both.there('Clients').catch(() => []),
    (ids) => ids.length === 1,
  )
  const made = await appliance.call('POST', '/mailbox/folders', both.account.key, { name: '.hidden' })
  await both.patch(second!.id, { folder_ids: [made.body.data.id] })
  const { differences } = await eventually(both.account.record, (record) => record.differences.length > 0)
  assert.deepEqual(
    differences.map(({ kind, folder }: Json) => [kind, folder]),
    [['folder_name', '.hidden']],
  )
  assert.equal((await both.folder('.hidden')).total_messages, 1)
})
