// Rows of refusals get to the disk, and a slow disk holds up no peer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog } from '../../../src/base/log.ts'
import type { Db, Tx } from '../../../src/db/db.ts'
import { Journal } from '../../../src/inbound/journal.ts'
import type { RejectedRecipient } from '../../../src/inbound/recipients.ts'
import { refusals } from '../../../src/inbound/refusals.ts'
import type { Peer } from '../../../src/inbound/transaction.ts'
import type { InboundLog, NewInboundRow } from '../../../src/store/log/inbound-log.ts'
import { ManualClock } from '../../support/clock.ts'

const sender = { address: 'ann@out.test', declaredBytes: null, utf8: false }
const peer: Peer = { address: '192.0.2.1', name: { name: 'mx.out.test' }, helo: 'mx', tls: null, protocol: 'ESMTP' }
const turned: RejectedRecipient = {
  refusal: refusals.suspended,
  rcptTo: 'ben@in.test',
  domain: 'in.test',
  teamId: 'team_1',
  mailboxId: 'mbx_1',
  filter: null,
}

/** A journal on a disk that writes when it is told to. */
function open() {
  const rows: NewInboundRow[] = []
  const disk = { gate: Promise.resolve() as Promise<void> }
  const clock = new ManualClock()
  const db = {
    async write(work: (tx: Tx) => Promise<unknown>) {
      await disk.gate
      return work({} as Tx)
    },
  } as unknown as Db
  const inboundLog = {
    async appendMany(_tx: Tx, more: NewInboundRow[]) {
      rows.push(...more)
    },
  } as unknown as InboundLog
  const journal = new Journal({ db, inboundLog, clock, log: openLog('silent') })
  return { journal, rows, disk, clock }
}

test('a refusal is a row with what the peer was told', async () => {
  const { journal, rows, clock } = open()
  await journal.noteRefusedRecipient(turned, sender, peer)
  assert.deepEqual(rows, [
    {
      status: 'refused',
      reason: 'mailbox_suspended',
      detail: 'The mailbox is suspended',
      smtpReply: '550 5.2.1 The mailbox is suspended',
      mailFrom: 'ann@out.test',
      rcptTo: 'ben@in.test',
      remoteAddress: '192.0.2.1',
      remoteName: 'mx.out.test',
      helo: 'mx',
      tls: null,
      teamId: 'team_1',
      mailboxId: 'mbx_1',
      domain: 'in.test',
      evidence: {},
      createdAt: clock.now(),
    },
  ])
})

test('mail for domains of others is nobody’s row', async () => {
  const { journal, rows } = open()
  await journal.noteRefusedRecipient({ ...turned, refusal: refusals.foreign, teamId: null }, sender, peer)
  await journal.flush()
  assert.deepEqual(rows, [])
})

test('a peer waits a moment for a slow disk and no longer; the end waits for every row', async () => {
  const { journal, rows, disk, clock } = open()
  const slow = Promise.withResolvers<void>()
  disk.gate = slow.promise
  const answered = journal.noteRefusedRecipient(turned, sender, peer)
  clock.advance(1000)
  await answered
  assert.equal(rows.length, 0)
  const flushed = journal.flush()
  slow.resolve()
  await flushed
  assert.equal(rows.length, 1)
})

test('a disk that fails loses the row, not the dialogue', async () => {
  const { journal, rows, disk } = open()
  disk.gate = Promise.reject(new Error('disk I/O error'))
  await journal.noteRefusedRecipient(turned, sender, peer)
  disk.gate = Promise.resolve()
  await journal.noteRefusedRecipient(turned, sender, peer)
  assert.equal(rows.length, 1)
})

test('the count of probes under way is written at the end', async () => {
  const { journal, rows } = open()
  for (let i = 0; i < 25; i++)
    await journal.noteRefusedRecipient({ ...turned, refusal: refusals.unknown }, sender, peer)
  assert.equal(rows.length, 20)
  await journal.flush()
  assert.deepEqual([rows.at(-1)!.rcptTo, rows.at(-1)!.evidence], ['*@in.test', { probes: 5 }])
})
