// Reads reports about TLS as mail servers send them (RFC 8460 §4): JSON of strangers, within bounds.

/** Bytes of an unpacked report. */
export const TLS_REPORT_MAX = 5 * 1024 * 1024
const POLICIES_MAX = 100
const FAILURES_MAX = 1000
/** Sessions that one report counts: sums of many reports stay exact numbers. */
const COUNT_MAX = 1_000_000_000
const TEXT_MAX = 255
const HOST = /^[a-z0-9._-]{1,255}$/

/** `sts`: MTA-STS; `tlsa`: DANE; `no-policy-found`: neither. */
export const TLS_POLICY_TYPES = ['tlsa', 'sts', 'no-policy-found'] as const
export type TlsPolicyType = (typeof TLS_POLICY_TYPES)[number]

export interface TlsReport {
  organization: string
  reportId: string
  /** ms */
  beginAt: number
  endAt: number
  policies: TlsReportPolicy[]
}

export interface TlsReportPolicy {
  type: TlsPolicyType
  /** Lower case. */
  domain: string
  /** Sessions with TLS as required. */
  succeeded: number
  failed: number
  failures: TlsReportFailure[]
}

export interface TlsReportFailure {
  /** A word of RFC 8460 §4.3, such as `certificate-expired`; `other` for what is no word. */
  result: string
  /** The mail server; "" where the report names none that can be a host. */
  host: string
  sessions: number
}

type Json = Readonly<Record<string, unknown>>

/** @throws Error that says why it is no report */
export function readTlsReport(bytes: Uint8Array): TlsReport {
  if (bytes.length > TLS_REPORT_MAX) throw new Error('The report is larger than 5 MiB.')
  const report = objectOf(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  const range = objectOf(report['date-range'])
  const [beginAt, endAt] = [timeOf(range['start-datetime']), timeOf(range['end-datetime'])]
  if (endAt < beginAt) throw new Error('The report ends before it begins.')
  const reportId = textOf(report['report-id'])
  if (reportId === '') throw new Error('The report has no id.')
  const policies = listOf(report.policies, POLICIES_MAX).map(policyOf)
  const total = policies.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)
  if (total > COUNT_MAX) throw new Error('The report counts too many sessions.')
  return { organization: textOf(report['organization-name']), reportId, beginAt, endAt, policies }
}

function policyOf(value: unknown): TlsReportPolicy {
  const entry = objectOf(value)
  const policy = objectOf(entry.policy)
  const summary = objectOf(entry.summary)
  const type = TLS_POLICY_TYPES.find((known) => known === policy['policy-type'])
  if (type === undefined) throw new Error('The report has an unknown kind of policy.')
  return {
    type,
    domain: textOf(policy['policy-domain']).toLowerCase().replace(/\.$/, ''),
    succeeded: countOf(summary['total-successful-session-count']),
    failed: countOf(summary['total-failure-session-count']),
    failures: listOf(entry['failure-details'] ?? [], FAILURES_MAX).map(failureOf),
  }
}

function failureOf(value: unknown): TlsReportFailure {
  const entry = objectOf(value)
  const name = textOf(entry['receiving-mx-hostname']).toLowerCase()
  const host = HOST.test(name) ? name : ''
  const word = textOf(entry['result-type']).toLowerCase()
  const result = /^[a-z0-9-]{1,64}$/.test(word) ? word : 'other'
  return { result, host, sessions: countOf(entry['failed-session-count']) }
}

function objectOf(value: unknown): Json {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Json
  throw new Error('The report is not in the form of RFC 8460.')
}

function listOf(value: unknown, max: number): unknown[] {
  if (!Array.isArray(value)) throw new Error('The report is not in the form of RFC 8460.')
  if (value.length > max) throw new Error(`A list of the report has more than ${max} entries.`)
  return value
}

/** Counts are numbers; some reporters write them as texts. */
function countOf(value: unknown): number {
  const count = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(count) && (count as number) >= 0 && (count as number) <= COUNT_MAX) return count as number
  throw new Error('A count of the report is not a number.')
}

/** "" for what is no text, as optional members may be missing. */
function textOf(value: unknown): string {
  if (typeof value !== 'string') return ''
  return value.replace(/[\u0000-\u001f\u007f]/g, '').slice(0, TEXT_MAX)
}

function timeOf(value: unknown): number {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isNaN(time)) throw new Error('A time of the report is not a date.')
  return time
}
