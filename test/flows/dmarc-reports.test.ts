// Reports of DMARC and about TLS arrive by SMTP, are read in the background, and show their domain who sends in its name and whether TLS works.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { MINUTE_MS } from '../../src/base/durations.ts'
import { INTAKE_OF_REPORTER_MAX } from '../../src/deliverability/report-intake.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { SmtpClient } from '../support/smtp.ts'

const NOW = Date.UTC(2030, 0, 2, 3, 4, 5)
const clock = new ManualClock(NOW)
const OWN = { TXT: ['v=spf1 ip4:127.0.0.1 -all'] }
const appliance = await startAppliance({
  clock,
  env: { SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' },
  zone: {
    'big.test': OWN,
    '_dmarc.big.test': { TXT: ['v=DMARC1; p=reject'] },
    'other.test': OWN,
    '_dmarc.other.test': { TXT: ['v=DMARC1; p=reject'] },
    'plain.test': OWN,
  },
})
after(() => appliance.close())
const team = await appliance.team()
const id = await team.domain('shop.test')
await team.mailbox('boss@shop.test')

const record = (ip: string, count: number, dkim: string, spf: string, disposition = 'none') =>
  `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>${disposition}</disposition>` +
  `<dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row></record>`

async function report(from: string, reportId: string, records: string, domain = 'shop.test') {
  const day = Math.floor(NOW / 1000) - 10_000
  const xml = `<feedback><report_metadata><org_name>Big</org_name><report_id>${reportId}</report_id><date_range><begin>${day}</begin>
<end>${day + 3600}</end></date_range></report_metadata><policy_published><domain>${domain}</domain><p>none</p></policy_published>${records}</feedback>`
  const lines = [
    ...[`From: reports@${from}`, 'To: dmarc@mx.mailstead.test', `Subject: Report Domain: ${domain}`],
    ...[`Message-ID: <${reportId}.${domain}@${from}>`, 'Date: Wed, 2 Jan 2030 03:00:00 +0000', 'MIME-Version: 1.0'],
    ...['Content-Type: application/gzip; name="report.xml.gz"', 'Content-Transfer-Encoding: base64', ''],
    ...[gzipSync(xml).toString('base64'), ''],
  ]
  await arrive(from, 'dmarc@mx.mailstead.test', lines)
}

async function arrive(from: string, to: string, lines: readonly string[]) {
  await using client = await SmtpClient.greet(appliance.ports.smtp, from)
  const sent = await client.mail({
    from: `reports@${from}`,
    to,
    content: lines.join('\r\n'),
  })
  assert.equal(sent.code, 250, sent.text)
  clock.advance(2 * MINUTE_MS)
  await appliance.settle()
}

const summary = async (key = team.key, of = id) => appliance.get(`/domains/${of}/dmarc-reports`, key)

test('reports of authenticated reporters add up by source; copies and reports about others do not', async () => {
  const { advice, ...empty } = (await summary()).body.data
  assert.deepEqual(empty, { days: 28, messages: 0, passed: 0, reporters: [], sources: [] })
  assert.equal(advice.verdict, 'too_little')
  const mixed =
    record('192.0.2.1', 90, 'pass', 'pass') +
    record('192.0.2.1', 8, 'pass', 'fail') +
    record('198.51.100.9', 5, 'fail', 'fail', 'reject')
  await report('big.test', 'one', mixed)
  await report('big.test', 'one', record('192.0.2.1', 1_000_000, 'pass', 'pass'))
  await report('other.test', 'one', record('2001:db8::1', 2, 'fail', 'pass'))
  await report('plain.test', 'two', record('203.0.113.1', 1_000_000, 'pass', 'pass'))
  await report('big.test', 'three', record('203.0.113.1', 1_000_000, 'pass', 'pass'), 'else.test')
  const { data } = (await summary()).body
  assert.deepEqual([data.messages, data.passed, data.reporters], [105, 100, ['big.test', 'other.test']])
  assert.deepEqual(data.sources, [
    { source_ip: '192.0.2.1', messages: 98, passed: 98, dkim: 98, spf: 90, stopped: 0 },
    { source_ip: '198.51.100.9', messages: 5, passed: 0, dkim: 0, spf: 0, stopped: 5 },
    { source_ip: '2001:db8::1', messages: 2, passed: 2, dkim: 0, spf: 2, stopped: 0 },
  ])
})

const tlsSummary = async (key = team.key, of = id) => appliance.get(`/domains/${of}/tls-reports`, key)

async function tlsReport(
  from: string,
  reportId: string,
  sessions: [succeeded: number, failed: number],
  domain = 'shop.test',
) {
  const report = {
    'organization-name': 'Big',
    'date-range': { 'start-datetime': '2030-01-02T00:00:00Z', 'end-datetime': '2030-01-02T02:00:00Z' },
    'report-id': reportId,
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-domain': domain },
        summary: { 'total-successful-session-count': sessions[0], 'total-failure-session-count': sessions[1] },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'receiving-mx-hostname': 'mx.mailstead.test',
            'failed-session-count': 1,
          },
          { 'result-type': 'validation-failure', 'failed-session-count': 1_000_000 },
        ],
      },
    ],
  }
  await arrive(from, 'tlsrpt@mx.mailstead.test', [
    ...[`From: tls@${from}`, 'To: tlsrpt@mx.mailstead.test', `Subject: Report Domain: ${domain}`],
    ...[`Message-ID: <tls-${reportId}@${from}>`, 'Date: Wed, 2 Jan 2030 03:00:00 +0000', 'MIME-Version: 1.0'],
    ...[
      'Content-Type: multipart/report; report-type="tlsrpt"; boundary="b"',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
    ],
    ...['A report.', '--b', 'Content-Type: application/tlsrpt+gzip', 'Content-Transfer-Encoding: base64', ''],
    ...[gzipSync(JSON.stringify(report)).toString('base64'), '--b--', ''],
  ])
}

test('reports about TLS add up within their totals, once each, of authenticated reporters', async () => {
  await tlsReport('big.test', 't1', [40, 3])
  await tlsReport('big.test', 't1', [1_000_000, 0])
  await tlsReport('plain.test', 't2', [1_000_000, 0])
  await tlsReport('other.test', 't3', [10, 1])
  await tlsReport('other.test', 't4', [1_000_000, 0], 'else.test')
  assert.deepEqual((await tlsSummary()).body.data, {
    ...{ days: 28, succeeded: 50, failed: 4, reporters: ['big.test', 'other.test'] },
    failures: [
      { policy_type: 'sts', result: 'certificate-expired', host: 'mx.mailstead.test', sessions: 2 },
      { policy_type: 'sts', result: 'validation-failure', host: '', sessions: 2 },
    ],
  })
})

test('the reports of a domain are those of its team', async () => {
  const stranger = await appliance.team('Strangers')
  assert.equal((await summary(stranger.key)).status, 404)
  assert.equal((await tlsSummary(stranger.key)).status, 404)
})

test('a reporter who sends many reports at a time, under many names, leaves room for others', async () => {
  const { db, reportIntake } = appliance.app
  const mail = (fromDomain: string) => ({
    ...{ hash: new Uint8Array(32), sizeBytes: 1000, verdict: { dmarc: 'pass', fromDomain } as const },
    recipients: ['dmarc@mx.mailstead.test'],
  })
  await db.write((tx) => {
    for (let n = 0; n < INTAKE_OF_REPORTER_MAX + 5; n++) reportIntake.note(tx, mail(`r${n}.flood.test`))
    reportIntake.note(tx, mail('big.test'))
  })
  const sql = 'SELECT reporter, count(*) AS waiting FROM report_intake GROUP BY reporter ORDER BY reporter'
  assert.deepEqual(
    db.read.all<{ reporter: string; waiting: number }>(sql, []).map(({ reporter, waiting }) => [reporter, waiting]),
    [
      ['big.test', 1],
      ['flood.test', INTAKE_OF_REPORTER_MAX],
    ],
  )
})
