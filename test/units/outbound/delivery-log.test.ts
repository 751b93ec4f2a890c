// The delivery log: by every filter, page by page, by the index made for it, and pruned by age.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import type { PageKey } from '../../../src/db/page.ts'
import { type DeliveryFilter, listStatement } from '../../../src/outbound/log/delivery-log.ts'
import type { NewEmail } from '../../../src/outbound/log/emails.ts'
import type { Carrier, Outcome } from '../../../src/outbound/model/records.ts'
import { openSendingAppliance, type SendingAppliance } from '../../support/sending-appliance.ts'

let appliance: SendingAppliance
let team: string

before(async () => {
  appliance = await openSendingAppliance()
})
beforeEach(() => {
  team = newId('team')
})
after(() => appliance[Symbol.asyncDispose]())

const CARRIER: Carrier = { id: newId('provider'), name: 'Primary' }
const taken: Outcome = {
  kind: 'sent',
  reply: { smtpCode: 250, enhancedCode: null, text: 'Ok' },
  confirmation: 'relay',
}
const refused: Outcome = { kind: 'rejected', reason: 'policy', detail: 'No.' }

interface Given extends Partial<NewEmail> {
  outcome?: Outcome
}

/** Accepts mails at their `queuedAt`; what is not given is the same for all. @returns their ids */
function accept(...mails: Given[]): Promise<string[]> {
  const { emails, transitions: fate, app } = appliance
  return app.db.write((tx) => {
    const ids: string[] = []
    for (const { outcome, ...given } of mails) {
      const id = newId('email')
      ids.push(id)
      const { deliveries } = emails.insert(tx, {
        ...{ id, teamId: team, mailboxId: null, domainId: null, source: 'batch_api', scope: { type: 'all' } },
        ...{ from: { email: 'news@shop.test', name: '' }, returnPath: null, subject: 'Hello', hash: sha256(id) },
        ...{ internetMessageId: `${id}@shop.test`, sizeBytes: 10, queuedAt: 1000, expiresAt: 2000 },
        ...{ recipients: ['ana@customer.test'], ...given },
      })
      for (const { n } of outcome ? deliveries : []) fate.apply(tx, n, outcome!, CARRIER)
    }
    return ids
  })
}

async function found(filter: DeliveryFilter, limit = 100): Promise<number[]> {
  const times: number[] = []
  let after: PageKey | null = null
  do {
    const page = await appliance.app.outbound.log.deliveries.list(team, filter, { limit, after })
    times.push(...page.items.map(({ createdAt }) => createdAt))
    after = page.next
  } while (after !== null)
  return times
}

test('a row says what became of a mail for one recipient', async () => {
  const mailboxId = newId('mailbox')
  const from = { email: 'ana@shop.test', name: 'Ana' }
  const [id] = await accept({ outcome: taken, mailboxId, from, subject: 'Order', sizeBytes: 4821 })
  const [row] = (await appliance.app.outbound.log.deliveries.list(team, {}, { limit: 5, after: null })).items
  const shown = {
    ...{ id: row!.id, to: 'ana@customer.test', status: 'sent', statusReason: null, attempts: 0 },
    ...{ providerId: CARRIER.id, providerName: CARRIER.name, sentFromEmail: from.email, sentAt: appliance.clock.now() },
    ...{ createdAt: 1000, emailId: id, mailboxId, fromEmail: from.email, subject: 'Order', sizeBytes: 4821 },
  }
  assert.deepEqual(row, shown)
  const { timeline, ...whole } = appliance.app.outbound.log.deliveries.get(team, row!.id)!
  assert.deepEqual(whole, shown)
  assert.deepEqual(timeline, [
    { at: 1000, type: 'accepted', detail: 'Accepted.', smtpCode: null, nextAt: null },
    { at: appliance.clock.now(), type: 'sent', detail: '250 Ok', smtpCode: 250, nextAt: null },
  ])
  assert.equal(appliance.app.outbound.log.deliveries.get(newId('team'), row!.id), undefined)
  assert.equal(appliance.app.outbound.log.deliveries.get(team, newId('deliveryLog')), undefined)
})

test('rows come newest first, page by page, whatever is accepted meanwhile', async () => {
  await accept(...[3, 1, 2, 2, 2].map((queuedAt) => ({ queuedAt })))
  assert.deepEqual(await found({}, 2), [3, 2, 2, 2, 1])
  const first = await appliance.app.outbound.log.deliveries.list(team, {}, { limit: 2, after: null })
  await accept({ queuedAt: 9 })
  const second = await appliance.app.outbound.log.deliveries.list(team, {}, { limit: 2, after: first.next })
  assert.deepEqual(
    second.items.map(({ createdAt }) => createdAt),
    [2, 2],
  )
  assert.equal((await appliance.app.outbound.log.deliveries.list(team, {}, { limit: 6, after: null })).next, null)
})

test('every filter keeps what it says, alone and with others', async () => {
  const mailboxId = newId('mailbox')
  const [, second] = await accept(
    { queuedAt: 1, outcome: taken },
    { queuedAt: 2, outcome: refused, recipients: ['x@Other.Test', 'y@third.test'] },
    { queuedAt: 3, mailboxId, subject: 'Grüße AUS Wien', from: { email: 'eva@wien.test', name: 'Eva' } },
    { queuedAt: 4 },
  )
  assert.deepEqual(await found({ status: 'sent' }), [1])
  assert.deepEqual(await found({ status: 'pending' }), [4, 3])
  assert.deepEqual(await found({ providerId: CARRIER.id! }), [2, 2, 1])
  assert.deepEqual(await found({ providerId: newId('provider') }), [])
  assert.deepEqual(await found({ domain: 'other.TEST' }), [2])
  assert.deepEqual(await found({ emailId: second! }), [2, 2])
  assert.deepEqual(await found({ emailId: newId('email') }), [])
  assert.deepEqual(await found({ mailboxId }), [3])
  assert.deepEqual(await found({ mailboxId, emailId: second! }), [])
  assert.deepEqual(await found({ from: 2, to: 4 }), [3, 2, 2])
  assert.deepEqual(await found({ status: 'rejected', domain: 'third.test', search: 'news', from: 2, to: 3 }), [2])
  for (const [search, times] of Object.entries({
    'grüße wien': [3],
    'grüße köln': [],
    'eva@wien': [3],
    'ANA@customer': [4, 3, 1],
    [second!]: [2, 2],
    '100%': [],
    "' OR 1=1 --": [],
    '  ': [4, 3, 2, 2, 1],
  }))
    assert.deepEqual(await found({ search }), times, search)
})

test('the rows of another team are never shown', async () => {
  const mailboxId = newId('mailbox')
  const [emailId] = await accept({ mailboxId })
  team = newId('team')
  for (const filter of [{}, { search: 'ana' }, { mailboxId }, { emailId: emailId! }, { status: 'pending' as const }]) {
    assert.deepEqual(await found(filter), [])
  }
})

describe('lists walk the index made for them', () => {
  const plan = (filter: DeliveryFilter, after: PageKey | null = null) => {
    const { sql, values } = listStatement(team, filter, { limit: 25, after })
    const rows = appliance.app.db.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
    return rows.map(({ detail }) => detail)
  }
  const emailId = newId('email')
  const mailboxId = newId('mailbox')
  const byTeam = /^SEARCH d USING INDEX deliveries_team \(team_id=\?/
  const byMailbox = /^SEARCH d USING INDEX deliveries_mailbox \(mailbox_id=\?/
  const byMail = /^SEARCH d USING INDEX deliveries_email \(email=\?\)/
  const cases: [string, DeliveryFilter, RegExp, boolean][] = [
    ['everything', {}, byTeam, true],
    ['a time', { from: 1, to: 2 }, byTeam, true],
    ['a status', { status: 'failed' }, byTeam, true],
    ['a provider', { providerId: newId('provider') }, byTeam, true],
    ['words', { search: 'a b', domain: 'x.test' }, byTeam, true],
    ['a mailbox', { mailboxId }, byMailbox, true],
    ['a mailbox and words', { mailboxId, search: 'a', from: 1 }, byMailbox, true],
    ['a mail', { emailId }, byMail, false],
    ['a mail of a mailbox', { emailId, mailboxId, status: 'sent' }, byMail, false],
  ]
  for (const [what, filter, first, isSorted] of cases) {
    test(what, () => {
      for (const after of [null, [5, 5]]) {
        const lines = plan(filter, after)
        assert.match(lines[0]!, first)
        assert.ok(lines.some((line) => /^SEARCH e USING INTEGER PRIMARY KEY/.test(line)))
        assert.equal(
          lines.some((line) => /^SCAN/.test(line)),
          false,
        )
        assert.equal(!lines.some((line) => /TEMP B-TREE/.test(line)), isSorted)
      }
    })
  }
})

describe('pruning', () => {
  const count = (table: string) =>
    appliance.app.db.read.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)!.count

  test('erases what is old and has ended, with everything that hangs on it', async () => {
    const { deliveries: log } = appliance.app.outbound.log
    await log.prune(10 ** 15)
    const before = { emails: count('emails'), deliveries: count('deliveries') }
    const old = Array.from({ length: 450 }, (_, index) => ({
      ...{ queuedAt: -2000 + index, recipients: ['a@x.test', 'b@x.test'] },
      ...(index % 10 === 0 ? {} : { outcome: taken }),
    }))
    const ids = await accept(...old, { queuedAt: 50, outcome: taken })
    const email = appliance.emails.byId(ids[1]!)!
    await appliance.app.db.write((tx) => appliance.emails.addRemoteIds(tx, email.n, ['remote']))
    assert.equal(await log.prune(0), 405 * 2)
    assert.equal(count('remote_ids'), 0)
    assert.equal(count('emails'), before.emails + 46)
    assert.equal(count('deliveries'), before.deliveries + 91)
    const left = await found({})
    assert.equal(left.length, 91)
    assert.equal(left[0], 50)
    assert.equal(await log.prune(0), 0)
  })

  test('goes no further than what is old', async () => {
    await accept(...Array.from({ length: 1000 }, (_, index) => ({ queuedAt: 5000 + index, outcome: taken })))
    const asked: unknown[][] = []
    const scan = { ...appliance.app.db.scan }
    const { all } = appliance.app.db.scan
    appliance.app.db.scan.all = async (sql, values) => {
      asked.push([...(values ?? [])])
      return all(sql, values)
    }
    try {
      assert.equal(await appliance.app.outbound.log.deliveries.prune(4000), 1)
    } finally {
      Object.assign(appliance.app.db.scan, scan)
    }
    assert.ok(asked.length <= 3, `${asked.length} looks`)
  })
})
