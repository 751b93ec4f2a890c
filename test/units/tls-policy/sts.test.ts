// MTA-STS records and policies, by the vectors of others and by RFC 8461.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namesHost, readStsPolicy, readStsRecord, STS_VERSION, stsPolicyText } from '../../../src/tls-policy/sts.ts'
import { onlyRecord } from '../../../src/tls-policy/tag-record.ts'
import { fixtureJson, fixturesMissing } from '../../support/fixtures.ts'

interface Vectors {
  mta_sts_record: { input: string; valid: boolean }[]
  mta_sts_policy: { input: string; valid: boolean }[]
}

test('records and policies of mox', { skip: fixturesMissing('mta-sts') }, () => {
  const { mta_sts_record: records, mta_sts_policy: policies } = fixtureJson<Vectors>('mta-sts/mox-records.json')
  for (const { input, valid } of records) assert.equal(readStsRecord(input) !== null, valid, JSON.stringify(input))
  for (const { input, valid } of policies) {
    const read = () => readStsPolicy(input)
    if (valid) read()
    else assert.throws(read, /^Error: (?:The policy|A line of the policy) .*\.$/, JSON.stringify(input))
  }
})

test('a policy is read as it was written', () => {
  const policy = { mode: 'enforce' as const, mx: ['mx.a.example', '*.b.example'], maxAge: 604800 }
  assert.deepEqual(readStsPolicy(stsPolicyText(policy)), policy)
  const repeated = 'version: STSv1\nmode: testing\nmode: enforce\nmx: A.example.\nmax_age: 1\nmax_age: 2\n'
  assert.deepEqual(readStsPolicy(repeated), { mode: 'testing', mx: ['a.example'], maxAge: 1 })
})

test('one record counts, several are none', () => {
  const own = 'v=STSv1; id=1;'
  assert.equal(onlyRecord(['v=spf1 -all', own, 'v=STSv10; id=2'], STS_VERSION), own)
  assert.equal(onlyRecord([own, 'v=STSv1; id=2'], STS_VERSION), null)
  assert.equal(onlyRecord([], STS_VERSION), null)
})

test('an asterisk stands for one label (RFC 8461 §4.1)', () => {
  const policy = { mx: ['mx.a.example', '*.b.example'] }
  const hosts = ['mx.a.example', 'one.b.example', 'b.example', 'two.one.b.example', 'mx.a.example.evil', 'a.example']
  assert.deepEqual(
    hosts.filter((host) => namesHost(policy, host)),
    ['mx.a.example', 'one.b.example'],
  )
})
