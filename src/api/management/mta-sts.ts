// The MTA-STS policy of a domain: what it asks of those who send to it.

import { Type } from 'typebox'
import { MTA_STS_CHECKS, type MtaStsCheck } from '../../administration/mta-sts.ts'
import type { Domain } from '../../directory/domains/domains.ts'
import { ownPolicy } from '../../directory/domains/tls-records.ts'
import { route } from '../../http/route.ts'
import { Id, Words } from '../../http/schema.ts'
import { DomainJson, MtaStsMode, presentDomain } from '../schemas/domain.ts'
import { record } from '../schemas/record.ts'

const params = Type.Object({ domain_id: Id('domain') })

const MtaStsCheckJson = record('MtaStsCheck', 'A condition of an enforced policy.', {
  check: Words([...MTA_STS_CHECKS]),
  ok: Type.Boolean(),
  text: Type.String({ description: 'What was found, and what to do where it is wrong.' }),
})

const MtaStsJson = record(
  'MtaSts',
  'The MTA-STS policy (RFC 8461) of a domain, and whether mail would arrive under it.',
  {
    mode: MtaStsMode,
    policy: Type.String({ description: 'The text that is served at `mta-sts.<domain>`.' }),
    checks: Type.Array(MtaStsCheckJson),
  },
  {
    mode: 'testing',
    policy: 'version: STSv1\r\nmode: testing\r\nmx: mail.example\r\nmax_age: 86400\r\n',
    checks: [{ check: 'record', ok: true, text: '_mta-sts.shop.example has its record.' }],
  },
)

const readMtaSts = route({
  method: 'GET',
  path: '/domains/{domain_id}/mta-sts',
  docs: {
    operation: 'getMtaSts',
    tag: 'Domains',
    summary: 'Get the MTA-STS policy of a domain, and look whether mail would arrive under it',
    description: 'Looks at the record, the policy as others fetch it, the MX records and the certificate of port 25.',
  },
  access: { as: 'team', permission: 'domain.verify' },
  limits: { throttle: { times: 6, seconds: 60 } },
  params,
  reply: { schema: MtaStsJson },
  async handle({ params: { domain_id: id }, principal, app }) {
    const { domain, checks } = await app.administration.mtaSts.look(principal.teamId, id)
    return {
      mode: domain.mtaStsMode,
      policy: ownPolicy(domain.mtaStsMode, app.config),
      checks: checks.map(({ check, ok, text }: MtaStsCheck) => ({ check, ok, text })),
    }
  },
})

const putMtaSts = route({
  method: 'PUT',
  path: '/domains/{domain_id}/mta-sts',
  docs: {
    operation: 'setMtaSts',
    tag: 'Domains',
    summary: 'Set what the MTA-STS policy of a domain asks for',
    description:
      '`enforce` is refused with 409 and the reasons where a look shows that mail would not arrive. The record in `dns_records.tls` ' +
      'gets another id: publish it, so that others fetch the policy again. To leave MTA-STS, set `none` and keep the records for a day, ' +
      'after `enforce` for a week.',
    errors: ['conflict'],
  },
  access: { as: 'team', permission: 'domain.create' },
  limits: { throttle: { times: 6, seconds: 60 } },
  params,
  body: { schema: record('MtaStsChange', 'The new mode.', { mode: MtaStsMode }, { mode: 'testing' }) },
  reply: { schema: DomainJson, etag: true },
  async handle({ params: { domain_id: id }, body, principal, app, request }) {
    const check = (current: Domain) => request.matches(presentDomain(current))
    return presentDomain(await app.administration.mtaSts.setMode(principal.teamId, id, body.mode, check))
  },
})

export const mtaSts = [readMtaSts, putMtaSts]
