// Folder entries of a large mailbox: the upgrade of its data, listing, and changes of many messages at once. Rates by CPU time of the thread.

import { join } from 'node:path'
import process from 'node:process'
import { stopwatch, systemClock } from '../src/base/clock.ts'
import { openNotifier } from '../src/base/notifier.ts'
import { Vault } from '../src/base/secrets.ts'
import { Db } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { blobMigrations, mailMigrations } from '../src/db/migrations/migrations.ts'
import { openStore, type Store } from '../src/store/store.ts'
import { openEarlierMailbox } from '../test/support/earlier-mailbox.ts'
import { printTable, short } from './table.ts'

const PAGE = 500
const FLAG_BATCHES = 20
const MOVE_BATCH = 100

/** Entries per second of CPU time, and of elapsed time. */
async function rate(count: number, work: () => unknown): Promise<string[]> {
  const elapsed = stopwatch()
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return [short(count), short((count * 1e6) / (user + system)), short((count * 1000) / elapsed())]
}

async function readAll(store: Store, folder: number): Promise<number> {
  let [count, after] = [0, 0]
  for (;;) {
    const page = store.programs.views.entries(folder, [{ first: after + 1, last: 2 ** 32 - 1 }], PAGE)
    count += page.length
    if (page.length < PAGE) return count
    after = page.at(-1)!.uid
  }
}

async function measure(store: Store, messages: number): Promise<string[][]> {
  const account = store.accounts.byMailbox('mbx_1')!
  const folders = store.programs.views.statuses(account)
  const [inbox, archive] = ['inbox', 'trash'].map((role) => folders.find((folder) => folder.role === role)!.n) as [
    number,
    number,
  ]
  const uids = Array.from({ length: PAGE * FLAG_BATCHES }, (_, at) => 2 * (at + 1)).filter((uid) => uid <= 2 * messages)
  const batches = Array.from({ length: Math.ceil(uids.length / PAGE) }, (_, at) =>
    uids.slice(at * PAGE, (at + 1) * PAGE),
  )
  const flag = async (given: { add?: string[]; remove?: string[] }) => {
    for (const batch of batches)
      await store.programs.flags.change(account, { folder: inbox, uids: batch }, { keywords: given })
  }
  return [
    ['list entries, pages of 500', ...(await rate(messages, () => readAll(store, inbox)))],
    ['runs of UIDs', ...(await rate(messages, () => store.programs.views.view(inbox)))],
    [
      'pass for changes',
      ...(await rate(messages, () => store.programs.views.changedSince(account, inbox, 0, { after: 0, limit: 1 }))),
    ],
    ['set $flagged', ...(await rate(uids.length, () => flag({ add: ['$flagged'] })))],
    ['set $seen', ...(await rate(uids.length, () => flag({ add: ['$seen'] })))],
    ['add a keyword', ...(await rate(uids.length, () => flag({ add: ['later'] })))],
    [
      'move, batches of 100',
      ...(await rate(MOVE_BATCH * 5, () =>
        store.programs.moves.move(account, { from: inbox, to: archive, uids: uids.slice(0, MOVE_BATCH * 5) }),
      )),
    ],
  ]
}

export async function benchEntries(folder: string, messages: number): Promise<void> {
  const file = join(folder, 'entries-mail.db')
  const db = await openEarlierMailbox(file, messages)
  const rows: string[][] = []
  let lines = 0
  rows.push(['upgrade', ...(await rate(messages, () => migrate(db, mailMigrations, () => lines++)))])
  const blobsDb = new Db({ file: join(folder, 'entries-blobs.db') })
  await migrate(blobsDb, blobMigrations)
  const notifier = openNotifier(folder)
  const vault = new Vault(Buffer.alloc(32, 1))
  const store = openStore({ db, blobsDb, clock: systemClock, vault, notifier, closeLinks: () => [] })
  rows.push(...(await measure(store, messages)))
  printTable(`Folder entries of a mailbox (${lines} progress lines)`, ['', 'entries', '1/s CPU', '1/s elapsed'], rows)
  notifier.close()
  await Promise.all([db.close(), blobsDb.close()])
}
