// Aggregate reports of DMARC: those of real reporters, and hostile ones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { attachedReport, PACKED_MAX } from '../../../src/deliverability/report-content.ts'
import { type AggregateRow, RECORDS_MAX, readAggregate, XML_MAX } from '../../../src/reports/dmarc-aggregate.ts'
import { fixtureBytes, fixtureJson, fixtureNames, fixturesMissing } from '../../support/fixtures.ts'

const AGGREGATE = 'reports/parsedmarc/aggregate'
const skip = fixturesMissing('reports')

/** A message with the report attached. */
const mailWith = (body: Buffer, type = 'application/gzip', before: readonly Buffer[] = []) =>
  Buffer.from(
    [
      ...['Subject: Report', 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b', '', '--b'],
      ...['Content-Type: text/plain', '', 'A report.'],
      ...[...before, body].flatMap((part) => [
        ...['--b', `Content-Type: ${type}`, 'Content-Transfer-Encoding: base64', '', part.toString('base64')],
      ]),
      ...['--b--', ''],
    ].join('\r\n'),
  )

async function read(xml: Buffer) {
  const { head, rows } = await readAggregate(xml)
  return { head, rows: [...rows] }
}

const total = (rows: readonly AggregateRow[]) => rows.reduce((sum, { count }) => sum + count, 0)

test('reports of real reporters, as XML, gzip, zip and inside messages', { skip }, async () => {
  for (const name of fixtureNames(AGGREGATE)) {
    const bytes = fixtureBytes(`${AGGREGATE}/${name}`)
    const report = attachedReport(name.endsWith('.eml') ? bytes : mailWith(bytes))
    assert.equal(report?.kind, 'dmarc', name)
    const { head, rows } = await read(report!.content)
    assert.match(head.domain, /^[a-z0-9.-]+\.[a-z]+$/, name)
    assert.ok(rows.length > 0, name)
  }
})

test('the values that another reader finds', { skip }, async () => {
  interface Expected {
    report_metadata: { org_name: string; report_id: string; date_range: { begin: number; end: number } }
    policy_published: { domain: string }
    record: { row: { source_ip: string; count: number; policy_evaluated: { dkim: string; spf: string } } }[]
  }
  const folder = 'reports/mail-auth-dmarc-feedback'
  for (const name of fixtureNames(folder, '.eml')) {
    const expected = fixtureJson<Expected>(`${folder}/${name.replace('.eml', '.json')}`)
    const { head, rows } = await read(attachedReport(fixtureBytes(`${folder}/${name}`))!.content)
    const { org_name: organization, report_id: reportId, date_range: range } = expected.report_metadata
    assert.deepEqual(
      [head.organization, head.reportId, head.domain, head.beginAt, head.endAt],
      [organization, reportId, expected.policy_published.domain, range.begin * 1000, range.end * 1000],
    )
    assert.deepEqual(
      rows.map(({ sourceIp, count, dkim, spf }) => [sourceIp, count, dkim, spf]),
      expected.record.map(
        ({
          row: {
            source_ip,
            count,
            policy_evaluated: { dkim, spf },
          },
        }) => {
          return [source_ip, count, ...[dkim, spf].map((result) => (result === 'Pass' ? 'pass' : 'fail'))]
        },
      ),
      name,
    )
  }
})

const HEAD = `<?xml version="1.0"?><feedback><report_metadata><org_name>R</org_name><report_id>1</report_id>
<date_range><begin>1700000000</begin><end>1700086399</end></date_range></report_metadata>
<policy_published><domain>Shop.Example.</domain><p>quarantine</p></policy_published>`
const recordOf = (count: string, ip = '192.0.2.1') =>
  `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>none</disposition>` +
  '<dkim>Pass</dkim><spf>fail</spf></policy_evaluated></row></record>'

test('hostile reports end with a sentence', async () => {
  const whole = await read(Buffer.from(`${HEAD}${recordOf('3')}${recordOf('4')}</feedback>`))
  assert.deepEqual([whole.head.domain, whole.head.policy, total(whole.rows)], ['shop.example', 'quarantine', 7])
  const cases: [string, RegExp][] = [
    [`<!DOCTYPE x [<!ENTITY a "b">]>${HEAD}${recordOf('1')}</feedback>`, /document type/],
    [`${HEAD}${recordOf('-1')}</feedback>`, /no valid source or count/],
    [`${HEAD}${recordOf('1e99')}</feedback>`, /no valid source or count/],
    [`${HEAD}${recordOf('1', 'localhost')}</feedback>`, /no valid source or count/],
    [`${HEAD}<record>${'x'.repeat(70_000)}`, /does not end/],
    [`${HEAD.replace('1700086399', '1900000000')}${recordOf('1')}`, /date range/],
    [`${HEAD.replace('Shop.Example.', '')}${recordOf('1')}`, /names no domain/],
    [`${HEAD}${recordOf('600000000').repeat(2)}</feedback>`, /too many messages/],
    [`<feedback>${'x'.repeat(70_000)}`, /no records/],
    ['<feedback><report_metadata></feedback>', /./],
  ]
  for (const [xml, why] of cases) await assert.rejects(read(Buffer.from(xml)), why, xml.slice(0, 80))
  const many = Buffer.from(HEAD + '<record>'.repeat(RECORDS_MAX + 1))
  await assert.rejects(read(many), /more than 100000 records/)
})

test('bombs are not unpacked, and other attachments are none', () => {
  const bomb = gzipSync(Buffer.alloc(XML_MAX + 1, '<feedback'))
  assert.ok(bomb.length < PACKED_MAX)
  assert.throws(() => attachedReport(mailWith(bomb)), /larger than 50 MiB/)
  assert.throws(() => attachedReport(mailWith(bomb.subarray(0, 100))), /cannot be unpacked/)
  assert.throws(
    () => attachedReport(mailWith(Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(100)]))),
    /unpacked/,
  )
  assert.equal(attachedReport(mailWith(Buffer.from('%PDF-1.7'), 'application/pdf')), null)
  const [packed, other] = [gzipSync('<feedback></feedback>'), gzipSync('no report')]
  assert.equal(attachedReport(mailWith(packed, 'application/gzip', [other]))?.kind, 'dmarc')
  assert.equal(attachedReport(mailWith(packed, 'application/gzip', [other, other])), null, 'many small bombs')
  assert.equal(attachedReport(Buffer.from('Subject: Hi\r\n\r\nNo report.\r\n')), null)
})
