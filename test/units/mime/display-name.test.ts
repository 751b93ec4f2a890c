// Display names that a reader takes for an address.

import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { addressInName, looksLikeAddress } from '../../../src/mime/display-name.ts'

const ADDRESSES = [
  ...['ceo@good.example', 'ceo @ good.example', 'ceo\uff20good.example', 'ceo\ufe6bgood.example', 'ce\u200bo@good'],
  ...[
    'ceo at good.example',
    'CEO AT Good.Example',
    'ceo (at) good.example',
    'ceo[at]good[dot]example',
    'ceo{at}good.example',
  ],
  ...[
    'ceo at good dot example',
    'ceo (at) good (dot) example',
    'ceo [at] good . example',
    'ceo\u200b at\u00a0good.example',
  ],
  ...['ceo <at> good.example', 'ceo(@)good.example', 'ceo at good\u3002example', 'Sales (ceo at mail.good.example)'],
  ...['ceo \uff08at\uff09 good\uff0eexample', 'c\u202eeo at good.example'],
]
const NAMES = [
  ...[
    'Ann',
    'Ann (Sales)',
    'Dr. Ann B. Clark',
    'Meet at St. Mary',
    'Room at No.1',
    'At home',
    'Cat.example',
    'Polka dot bot',
  ],
  ...['Look at this dot', 'Bot v1.2', '@ann', 'R&D [beta]', 'Data. Atlas', '\u7530\u4e2d'],
]

test('names that look like an address', () => {
  assert.deepEqual(
    ADDRESSES.filter((name) => !looksLikeAddress(name)),
    [],
  )
})

test('names that do not', () => {
  assert.deepEqual(NAMES.filter(looksLikeAddress), [])
})

test('long names take no time', () => {
  const before = process.cpuUsage()
  for (const piece of ['a ', ' ', 'a at ', 'a[at]', '@', 'a.', 'a@a.', '\ufdfa', ' at a dot ']) {
    looksLikeAddress(piece.repeat(Math.ceil(512 / piece.length)))
    addressInName(piece.repeat(Math.ceil(512 / piece.length)))
  }
  assert.ok(process.cpuUsage(before).user < 500_000)
})

test('the address in a name, and whether it is disguised', () => {
  assert.deepEqual(addressInName('Ann <ceo@Good.example>'), { domain: 'good.example', isDisguised: false })
  assert.deepEqual(addressInName('ceo\uff20good.example'), { domain: 'good.example', isDisguised: true })
  assert.equal(addressInName('Ann\uff20Sales'), null)
})
