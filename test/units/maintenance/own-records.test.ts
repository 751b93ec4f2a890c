// The DNS records of the mail hosts, each with what DNS answers; and runs of the doctor, one at a time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resolver } from '../../../src/base/resolver.ts'
import { readOwnRecords } from '../../../src/maintenance/doctor/own-records.ts'

/** A resolver with these answers; `null`: no name server answers; other names do not exist. */
function resolverOf(zone: Record<string, unknown[] | null>): Resolver {
  const fresh = async (name: string, type: string) => {
    const found = zone[`${name} ${type}`]
    if (found === undefined) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' })
    if (found === null) throw Object.assign(new Error('late'), { code: 'ETIMEOUT' })
    return found
  }
  return { fresh } as unknown as Resolver
}

const HOST = 'mail.shop.de'
const WHOLE = {
  [`${HOST} A`]: ['93.184.215.14'],
  '14.215.184.93.in-addr.arpa PTR': [HOST],
  [`_spf.${HOST} TXT`]: [[`v=spf1 a:${HOST} -all`]],
  [`bounce.${HOST} MX`]: [{ exchange: HOST, priority: 10 }],
  [`bounce.${HOST} TXT`]: [[`v=spf1 include:_spf.${HOST} -all`]],
  [`any._report._dmarc.${HOST} TXT`]: [['v=DMARC1']],
}
const statuses = async (zone: Record<string, unknown[] | null>, hosts = [HOST]) =>
  (await readOwnRecords(resolverOf(zone), hosts)).map(({ purpose, type, status }) => `${purpose} ${type} ${status}`)

test('every record of a host that is set up is in order', async () => {
  const records = await readOwnRecords(resolverOf(WHOLE), [HOST])
  assert.deepEqual(
    records.map(({ purpose, name, type, status }) => [purpose, name, type, status]),
    [
      ['address', HOST, 'A', 'ok'],
      ['reverse', '14.215.184.93.in-addr.arpa', 'PTR', 'ok'],
      ['spf', `_spf.${HOST}`, 'TXT', 'ok'],
      ['bounces', `bounce.${HOST}`, 'MX', 'ok'],
      ['bounce_spf', `bounce.${HOST}`, 'TXT', 'ok'],
      ['reports', `*._report._dmarc.${HOST}`, 'TXT', 'ok'],
    ],
  )
  assert.deepEqual([records[1]!.value, records[1]!.found], [HOST, [HOST]])
})

test('what is missing, wrong, private or unanswered is told apart', async () => {
  assert.deepEqual((await statuses({}))[0], 'address A missing')
  assert.deepEqual((await statuses({ [`${HOST} A`]: null }))[0], 'address A unanswered')
  assert.deepEqual(await statuses({ ...WHOLE, [`${HOST} A`]: ['10.0.0.1'] }).then((all) => all.slice(0, 2)), [
    'address A wrong',
    'spf TXT ok',
  ])
  const odd = { ...WHOLE, '14.215.184.93.in-addr.arpa PTR': ['host.provider.net'], [`bounce.${HOST} MX`]: null }
  assert.deepEqual(await statuses(odd), [
    'address A ok',
    'reverse PTR wrong',
    'spf TXT ok',
    'bounces MX unanswered',
    'bounce_spf TXT ok',
    'reports TXT ok',
  ])
  const second = await statuses({ ...WHOLE, 'mx2.shop.de AAAA': ['2606:2800:21f:cb07::1'] }, [HOST, 'mx2.shop.de'])
  assert.ok(second.includes('address AAAA ok') && second.includes('reverse PTR missing'), second.join())
})

test('a reserved name is not looked up', async () => {
  const silent = { fresh: () => assert.fail('asked') } as unknown as Resolver
  const records = await readOwnRecords(silent, ['localhost'])
  assert.deepEqual(new Set(records.map(({ status }) => status)), new Set(['not_checked']))
})
