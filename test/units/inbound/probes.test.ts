// Probing for recipients fills no log: twenty rows a minute, then a count.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_SOURCES, PROBES_PER_MINUTE, Probes } from '../../../src/inbound/probes.ts'

const NOW = 1_800_000_000_000
const probe = { address: '192.0.2.1', domain: 'in.test', teamId: 'team_1' }

test('tells the first of a minute and counts the rest once', () => {
  const probes = new Probes()
  const told = Array.from({ length: PROBES_PER_MINUTE + 7 }, () => probes.admit(probe, NOW)).filter(Boolean)
  assert.equal(told.length, PROBES_PER_MINUTE)
  assert.equal(probes.admit({ ...probe, address: '192.0.2.2' }, NOW), true, 'another source has its own minute')
  assert.deepEqual(probes.takeFinished(NOW + 1000), [])
  assert.deepEqual(probes.takeFinished(NOW + 60_000), [{ probe, more: 7 }])
  assert.deepEqual(probes.takeFinished(NOW + 60_000), [])
  assert.equal(probes.admit(probe, NOW + 60_000), true)
})

test('the count of a minute is not lost when the next one starts with a probe or never comes', () => {
  const probes = new Probes()
  for (let i = 0; i <= PROBES_PER_MINUTE; i++) probes.admit(probe, NOW)
  probes.admit(probe, NOW + 60_000)
  for (let i = 0; i <= PROBES_PER_MINUTE; i++) probes.admit({ ...probe, domain: 'two.test' }, NOW + 60_000)
  assert.deepEqual(
    probes.takeAll().map(({ probe: { domain }, more }) => [domain, more]),
    [
      ['in.test', 1],
      ['two.test', 2],
    ],
  )
})

test('a million sources take bounded room', () => {
  const probes = new Probes()
  let told = 0
  for (let i = 0; i < MAX_SOURCES + 1000; i++) if (probes.admit({ ...probe, address: `source ${i}` }, NOW)) told++
  assert.equal(told, MAX_SOURCES + PROBES_PER_MINUTE)
  assert.deepEqual(
    probes.takeAll().map(({ more }) => more),
    [1000 - PROBES_PER_MINUTE],
  )
})
