// What is added to a zone, and what stands in the way: others' records stay unless their purpose is named.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireType } from '../../../src/dns/wire.ts'
import { changesOf, planRecords } from '../../../src/maintenance/publish/plan.ts'
import type { RecordPurpose, SetupRecord } from '../../../src/maintenance/quickstart/records.ts'

const record = (purpose: RecordPurpose, type: SetupRecord['type'], name: string, value: string): SetupRecord => ({
  ...{ purpose, type, name, value, isRequired: true },
})
const plan = (zone: Record<string, string[]>, records: SetupRecord[], ...replaced: RecordPurpose[]) =>
  planRecords(
    { values: async (name: string, type: WireType) => zone[`${name} ${type}`] ?? [] },
    records,
    new Set(replaced),
  )
const MX = [record('mx', 'MX', 'a.example', '10 mx1.a.example'), record('mx', 'MX', 'a.example', '20 mx2.a.example')]

test('records of one name and type are one change, under the condition of what was read', async () => {
  const planned = await plan({ 'a.example MX': ['10 mx1.a.example', '5 old.example'] }, MX, 'mx')
  assert.deepEqual(
    planned.map(({ state }) => state),
    ['replace', 'replace'],
  )
  const sets = { name: 'a.example', type: 'MX', current: ['10 mx1.a.example', '5 old.example'] }
  assert.deepEqual(changesOf(planned), [{ ...sets, adds: ['20 mx2.a.example'], removes: ['5 old.example'] }])
  assert.deepEqual(changesOf(await plan({ 'a.example MX': ['5 old.example'] }, MX)), [])
})

test('an alias gives way to nothing, and a text of another kind is not in the way', async () => {
  const policy = record('dmarc', 'TXT', '_dmarc.a.example', 'v=DMARC1; p=none')
  const [aliased] = await plan({ '_dmarc.a.example CNAME': ['dmarc.service.example'] }, [policy], 'dmarc')
  assert.deepEqual([aliased!.state, aliased!.obstacles], ['keep', ['CNAME dmarc.service.example']])
  const spf = record('spf', 'TXT', 'a.example', 'v=spf1 mx ~all')
  const [beside] = await plan({ 'a.example TXT': ['google-site-verification=x'] }, [spf])
  assert.deepEqual([beside!.state, beside!.obstacles], ['add', []])
  const client = record('client', 'CNAME', 'autoconfig.a.example', 'mail.a.example')
  const [crowded] = await plan({ 'autoconfig.a.example A': ['192.0.2.1'] }, [client], 'client')
  assert.deepEqual([crowded!.state, crowded!.obstacles], ['keep', ['A 192.0.2.1']])
  const [kept] = await plan({ 'a.example TXT': ['V=SPF1 -all'] }, [spf])
  assert.equal(kept!.state, 'keep')
  const [present] = await plan({ 'a.example TXT': ['v=spf1 mx ~all', 'x'] }, [spf])
  assert.equal(present!.state, 'present')
})
