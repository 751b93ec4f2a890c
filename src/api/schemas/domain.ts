// A domain, its DNS records, and the results of a DNS check.

import { type Static, Type } from 'typebox'
import type { DomainVerificationResult } from '../../administration/domains.ts'
import { isoTime } from '../../base/clock.ts'
import { CHANGES_MAX, type CheckChange, type DatedCheck } from '../../directory/domains/check-changes.ts'
import type { DomainCheck as CheckRecord } from '../../directory/domains/domain-checks.ts'
import type { Domain } from '../../directory/domains/domains.ts'
import { ASKED_MAX } from '../../directory/names/dns-lookup.ts'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { STS_MODES } from '../../tls-policy/sts.ts'
import { record } from './record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from './time.ts'

export const VerificationStatus = Words(
  ['pending', 'verified', 'failed'],
  'A pending domain is checked for 72 hours and then fails; a verified one is checked daily.',
)

const DnsRecord = record('DnsRecord', 'A TXT record; a CNAME where the value is a host name.', {
  name: Type.String(),
  value: Type.String(),
})

const MxRecord = record('MxRecord', 'An MX record of the domain itself.', {
  priority: Type.Integer({ minimum: 0, maximum: 65535 }),
  target: Type.String(),
})

const ClientRecordJson = record('ClientDnsRecord', 'A record by which mail programs find their settings.', {
  name: Type.String(),
  type: Words(['SRV', 'CNAME']),
  value: Type.String({
    description: 'SRV: priority, weight, port and host, `0 0 0 .` for a protocol that is not served. CNAME: the host.',
  }),
})

const TlsRecordJson = record('TlsDnsRecord', 'A record by which others find the MTA-STS policy, or report about TLS.', {
  name: Type.String(),
  type: Words(['TXT', 'CNAME']),
  value: Type.String(),
})

export const MtaStsMode = Words(
  [...STS_MODES],
  '`testing`: others report what they would not deliver. `enforce`: they deliver only with a valid certificate. `none`: as without a policy.',
)

const DnsRecords = record(
  'DnsRecords',
  'DNS records for the owner of the domain to publish; `verification` alone determines `verification_status`.',
  {
    mx: Type.Array(MxRecord, { description: 'One for each host of this appliance.' }),
    spf: DnsRecord,
    dmarc: DnsRecord,
    dkim: Type.Array(DnsRecord),
    verification: DnsRecord,
    client: Type.Array(ClientRecordJson, {
      description: 'For mail programs: recommended, not required. Empty when no protocol for them is served.',
    }),
    tls: Type.Array(TlsRecordJson, {
      description: 'MTA-STS and TLS reports: recommended, not required. Empty when APP_ORIGIN is no https origin.',
    }),
  },
)

export const DomainJson = record(
  'Domain',
  'A domain of the team. Its records do not change, except that `dkim` shows the next key while it waits for its record.',
  {
    id: Id('domain'),
    domain: Type.String({ description: 'Lower-case, in A-labels.' }),
    verification_status: VerificationStatus,
    ses_dkim_status: Type.String({ description: 'not_started, pending, success, failed or temporary_failure.' }),
    verified_at: TimeOrNull('Last time the verification record was found; null before the first.'),
    created_at: TimeOf('When it was created.'),
    checks_ok: Nullable(
      Type.Boolean({
        description:
          'Whether every record was found by the last check; null before the first, and for a reserved name (RFC 2606) that has no records.',
      }),
    ),
    checked_at: TimeOrNull('When DNS was last checked; null before the first check.'),
    mta_sts_mode: MtaStsMode,
    dns_records: DnsRecords,
  },
  {
    id: 'mdom_0a1b2c3d4e5f6g7h8i9j0k1l',
    domain: 'shop.example',
    verification_status: 'verified',
    ses_dkim_status: 'not_started',
    verified_at: '2030-01-02T03:04:05.000Z',
    created_at: '2030-01-02T03:04:05.000Z',
    checks_ok: true,
    checked_at: '2030-01-02T03:04:05.000Z',
    mta_sts_mode: 'testing',
    dns_records: {
      mx: [{ priority: 10, target: 'mail.example' }],
      spf: { name: 'shop.example', value: 'v=spf1 include:_spf.mail.example ~all' },
      dmarc: { name: '_dmarc.shop.example', value: 'v=DMARC1; p=none; rua=mailto:dmarc@mail.example' },
      dkim: [{ name: 's1._domainkey.shop.example', value: 'v=DKIM1; k=rsa; p=MIIBIjANBg…' }],
      verification: {
        name: '_mail-verify.shop.example',
        value: 'mail-verification=0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p',
      },
      client: [{ name: '_imaps._tcp.shop.example', type: 'SRV', value: '0 1 993 mail.example' }],
      tls: [{ name: '_mta-sts.shop.example', type: 'TXT', value: 'v=STSv1; id=5d3c7f0a1b2c3d4e5f607182' }],
    },
  },
)
export type DomainJson = Static<typeof DomainJson>

const AskedServerJson = record('AskedServer', 'A name server that was asked.', {
  server: Nullable(
    Type.String({ description: 'Host name of a server of the zone; null for the resolver of this appliance.' }),
  ),
  ms: Type.Integer({ minimum: 0, description: 'Time until it answered or was given up.' }),
  error: Nullable(
    Type.String({ description: 'Null for an answer; else why there was none, such as ETIMEOUT or ESERVFAIL.' }),
  ),
})

export const DomainCheck = record('DomainCheck', 'An expected record and the answer of DNS.', {
  record: Words(['verification', 'mx', 'spf', 'dkim', 'dmarc']),
  name: Type.String({ description: 'The queried name.' }),
  expected: Type.String(),
  found: Type.Array(Type.String(), { description: 'Empty also when no name server answered.' }),
  ok: Type.Boolean(),
  required: Type.Boolean({ description: 'True for the verification record only.' }),
  since: TimeOrNull('Since when DNS has had these values, as far as checks know; null when they do not.'),
  asked: Type.Array(AskedServerJson, {
    description: `The servers that were asked, in order, at most ${ASKED_MAX}; the last one answered. Empty for what needs no question.`,
  }),
})

const CheckChangeJson = record('DomainCheckChange', 'A record that a check found otherwise than the one before.', {
  record: Words(['verification', 'mx', 'spf', 'dkim', 'dmarc']),
  name: Type.String(),
  change: Words(['appeared', 'vanished', 'changed']),
  ok: Type.Boolean({ description: 'Whether the check found it right.' }),
  at: TimeOf('When the check found it.'),
})
const CheckChanges = Type.Array(CheckChangeJson, {
  description: `What the last checks found changed, newest first, at most ${CHANGES_MAX}.`,
})

const ClientRecordCheckJson = record('ClientDnsCheck', 'A record for mail programs and the answer of DNS.', {
  ...ClientRecordJson.properties,
  found: Type.Array(Type.String(), { description: 'Empty also when no name server answered.' }),
  ok: Type.Boolean({ description: 'Also true for a protocol that is not served and has no record.' }),
})

export const DomainVerificationJson = record('DomainVerification', 'The domain after the DNS check, and the results.', {
  ...DomainJson.properties,
  checks: Type.Array(DomainCheck),
  changes: CheckChanges,
  client_checks: Type.Array(ClientRecordCheckJson, { description: 'They do not affect `verification_status`.' }),
})
export type DomainVerificationJson = Static<typeof DomainVerificationJson>

export const presentDomain = presenterOf<Domain>()(DomainJson, {
  domain: 'name',
  checks_ok: 'areChecksOk',
  dns_records: ({ records: { mx, spf, dmarc, dkim, verification, client, tls } }) => ({
    mx: mx.map(({ priority, target }) => ({ priority, target })),
    spf: presentRecord(spf),
    dmarc: presentRecord(dmarc),
    dkim: dkim.map(presentRecord),
    verification: presentRecord(verification),
    client: client.map(({ name, type, value }) => ({ name, type, value })),
    tls: tls.map(({ name, type, value }) => ({ name, type, value })),
  }),
})

export const DomainChecksJson = record('DomainChecks', 'The findings of the last DNS check.', {
  checked_at: TimeOrNull('Null before the first check.'),
  checks: Type.Array(DomainCheck),
  changes: CheckChanges,
})

/** @param checks without a time when they were not stored */
export function presentChecks(checks: readonly (CheckRecord & Partial<DatedCheck>)[]): Static<typeof DomainCheck>[] {
  return checks.map(({ record: of, name, expected, found, ok, required, since = null, asked }) => ({
    record: of,
    ...{ name, expected, found, ok, required },
    since: isoTimeOrNull(since),
    asked: asked.map(({ server, ms, error }) => ({ server, ms, error })),
  }))
}

export function presentChanges(changes: readonly CheckChange[]): Static<typeof CheckChanges> {
  return changes.map(({ record: of, name, what, ok, at }) => ({ record: of, name, change: what, ok, at: isoTime(at) }))
}

export function presentVerification(result: DomainVerificationResult): DomainVerificationJson {
  const { domain, checks, changes, clientChecks } = result
  return {
    ...presentDomain(domain),
    checks: presentChecks(checks),
    changes: presentChanges(changes),
    client_checks: clientChecks.map(({ name, type, value, found, ok }) => ({ name, type, value, found, ok })),
  }
}

function presentRecord({ name, value }: { name: string; value: string }): Static<typeof DnsRecord> {
  return { name, value }
}
