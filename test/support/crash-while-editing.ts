// A process that changes a mailbox until it is killed, and reports after each change up to which number it is confirmed.

import process from 'node:process'
import { COPYING, openTestStore } from './mailbox.ts'
import { ModelMailbox } from './model-mailbox.ts'
import { Random } from './random.ts'

const [folder, seed] = [process.argv[2]!, Number(process.argv[3])]
const random = new Random(seed)
const appliance = await openTestStore(folder)
const {
  programs: { flags, moves, copies, views },
  accounts,
} = appliance.store
const box = await ModelMailbox.open(appliance, random)

for (;;) {
  await box.work()
  const account = box.account()
  const folders = views.statuses(account)
  const [from, to] = [random.pick(folders).n, random.pick(folders).n]
  const uids = random.some(views.entries(from, [{ first: 1, last: 2 ** 32 - 1 }], 100), 0.4).map(({ uid }) => uid)
  // Several at a time: they share transactions.
  await Promise.all([
    flags.change(
      account,
      { folder: from, uids },
      { keywords: { add: random.some(['$seen', '$flagged', 'work'], 0.5) } },
    ),
    flags.change(account, { folder: to, uids }, { deleted: true }),
    moves.move(account, { from, to, uids: uids.slice(0, 3) }),
    copies.copy(account, { from, to, uids: uids.slice(3, 6) }, COPYING),
    random.chance(0.2) ? moves.expunge(account, to, null) : null,
  ])
  process.send!({ mailboxId: box.mailboxId, seq: accounts.seq(account) })
}
