// Killed while mail programs change a mailbox: each change is there as a whole or not at all, and what was confirmed is there.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EntryWatcher } from '../support/entry-watcher.ts'
import { openTestStore } from '../support/mailbox.ts'
import { ModelMailbox } from '../support/model-mailbox.ts'
import { Random } from '../support/random.ts'
import { ROOT } from '../support/source.ts'

const KILLS = Number(process.env.KILLS ?? 3)
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)

interface Confirmed {
  mailboxId: string
  seq: number
}

test('after a kill in the middle of edits entries, counts and ranges agree, and confirmed changes are there', async (t) => {
  t.diagnostic(`KILLS=${KILLS} SEED=${SEED}`)
  const random = new Random(SEED)
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-edit-kills-'))
  t.after(() => rm(folder, { recursive: true }))
  await (await openTestStore(folder))[Symbol.asyncDispose]()
  const confirmed: Confirmed[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const child = fork(join(ROOT, 'test/support/crash-while-editing.ts'), [folder, String(SEED + kill)])
    let last: Confirmed | undefined
    const enough = 20 + random.below(40)
    let count = 0
    child.on('message', (message) => {
      last = message as Confirmed
      if (++count === enough) child.kill('SIGKILL')
    })
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL'])
    confirmed.push(last!)
  }
  await using appliance = await openTestStore(folder)
  for (const { mailboxId, seq } of confirmed) {
    const box = ModelMailbox.of(appliance, mailboxId)
    assert.ok(appliance.store.accounts.seq(box.account()) >= seq)
    new EntryWatcher(appliance, () => box.account()).look()
    await box.recount()
  }
  assert.deepEqual(appliance.db.read.all('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
})
