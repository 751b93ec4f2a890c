// Reports about TLS: those of real reporters are read, and hostile ones are refused within bounds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attachedReport } from '../../../src/deliverability/report-content.ts'
import { readTlsReport, TLS_REPORT_MAX } from '../../../src/reports/tls-report.ts'
import { fixtureBytes, fixtureNames, fixturesMissing } from '../../support/fixtures.ts'

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))
const REPORT = {
  'organization-name': 'Big',
  'date-range': { 'start-datetime': '2030-01-01T00:00:00Z', 'end-datetime': '2030-01-01T23:59:59Z' },
  'report-id': 'r1',
  policies: [
    {
      policy: { 'policy-type': 'sts', 'policy-domain': 'Shop.Example.' },
      summary: { 'total-successful-session-count': 5, 'total-failure-session-count': '2' },
      'failure-details': [{ 'result-type': 'certificate-expired', 'failed-session-count': 2 }],
    },
  ],
}

/** Half as many sessions as a report may count. */
const HALF = { 'total-successful-session-count': 500_000_000, 'total-failure-session-count': 0 }

test('a report is read with its counts', () => {
  const { policies, ...head } = readTlsReport(bytes(REPORT))
  assert.deepEqual(head, {
    ...{ organization: 'Big', reportId: 'r1', beginAt: Date.UTC(2030, 0, 1), endAt: Date.UTC(2030, 0, 1, 23, 59, 59) },
  })
  assert.deepEqual(policies, [
    {
      ...{ type: 'sts', domain: 'shop.example', succeeded: 5, failed: 2 },
      failures: [{ result: 'certificate-expired', host: '', sessions: 2 }],
    },
  ])
})

test('a mail server that cannot be a host is none', () => {
  const [policy] = REPORT.policies
  const hosts = ['MX1.Shop.Example', 'mx\u009b31m', 'mx\u202egro.', 'mx shop', 7]
  const details = hosts.map((host) => ({ 'receiving-mx-hostname': host, 'failed-session-count': 1 }))
  const [read] = readTlsReport(bytes({ ...REPORT, policies: [{ ...policy, 'failure-details': details }] })).policies
  assert.deepEqual(
    read!.failures.map(({ host }) => host),
    ['mx1.shop.example', '', '', '', ''],
  )
})

test('reports of real reporters are read', { skip: fixturesMissing('reports') }, () => {
  const names = fixtureNames('reports/parsedmarc/smtp_tls', '.json')
  for (const name of names)
    assert.ok(readTlsReport(fixtureBytes(`reports/parsedmarc/smtp_tls/${name}`)).policies.length > 0, name)
  const message = attachedReport(fixtureBytes('reports/mail-auth-tlsrpt/rpt02.eml'))
  assert.equal(message?.kind, 'tls')
  assert.ok(readTlsReport(message!.content).policies.length > 0)
})

test('what is no report, or too much of one, is refused', () => {
  const [policy] = REPORT.policies
  const wrong: unknown[] = [
    ...[null, [], {}, { ...REPORT, 'report-id': '' }, { ...REPORT, 'report-id': 7 }],
    { ...REPORT, policies: Array(101).fill(policy) },
    { ...REPORT, policies: [{ ...policy, policy: { 'policy-type': 'other' } }] },
    { ...REPORT, policies: [{ ...policy, summary: { 'total-successful-session-count': -1 } }] },
    { ...REPORT, policies: [{ ...policy, summary: { 'total-successful-session-count': 1e300 } }] },
    { ...REPORT, policies: Array(3).fill({ ...policy, summary: HALF }) },
    { ...REPORT, 'date-range': { 'start-datetime': '2030-01-02T00:00:00Z', 'end-datetime': '2030-01-01T00:00:00Z' } },
    { ...REPORT, 'date-range': { 'start-datetime': 'yesterday', 'end-datetime': 'today' } },
  ]
  for (const value of wrong) assert.throws(() => readTlsReport(bytes(value)), JSON.stringify(value).slice(0, 100))
  assert.throws(() => readTlsReport(Buffer.alloc(TLS_REPORT_MAX + 1, ' ')), /larger than 5 MiB/)
  assert.throws(() => readTlsReport(Buffer.from('{"policies"')))
})
