// What DNS answers for the records of the appliance's own names, for the operator.

import { Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { isReserved } from '../../directory/names/domain-name.ts'
import { route } from '../../http/route.ts'
import { Nullable, Words } from '../../http/schema.ts'
import { readOwnRecords } from '../../maintenance/doctor/own-records.ts'
import { DomainCheck, presentChecks } from '../schemas/domain.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { ownDomains } from './appliance.ts'

const OwnRecord = record('OwnRecord', 'A DNS record of a mail host, and what DNS answers.', {
  purpose: Words(
    ['address', 'reverse', 'spf', 'bounces', 'bounce_spf', 'reports'],
    'address: of the host; reverse: the name of an address; spf: what domains include; bounces and bounce_spf: of the bounce domain; ' +
      'reports: DMARC reports about other domains may come here (RFC 7489 §7.1).',
  ),
  name: Type.String(),
  type: Words(['A', 'AAAA', 'PTR', 'MX', 'TXT']),
  value: Nullable(
    Type.String({ description: 'What it has to be; null where any public address of this machine is right.' }),
  ),
  found: Type.Array(Type.String(), { description: 'What DNS answers, at most ten values.' }),
  status: Words(
    ['ok', 'missing', 'wrong', 'unanswered', 'not_checked'],
    'unanswered: no name server answered; not_checked: the name is reserved (RFC 2606), as in a trial.',
  ),
})

const OwnRecordChecks = record('OwnRecordChecks', 'What DNS answers now.', {
  checked_at: TimeOf('When DNS was asked.'),
  hosts: Type.Array(OwnRecord, { description: 'Of the mail hosts (`MAIL_HOSTS`).' }),
  domains: Type.Array(
    record('OwnDomainChecks', 'The domain of agent inboxes, or that of messages of the appliance itself.', {
      domain: Type.String(),
      is_reserved: Type.Boolean({ description: 'Its name is reserved (RFC 2606): nothing can be published.' }),
      checks: Type.Array(DomainCheck),
    }),
  ),
})

export const operatorOwnRecords = route({
  method: 'GET',
  surface: 'operator',
  path: '/own-records/checks',
  docs: {
    operation: 'getOwnRecordChecks',
    tag: 'Service',
    summary:
      "Get what DNS answers now for the records of the appliance's own names: addresses, reverse DNS, SPF, MX, DKIM, DMARC",
    description: 'Each name is asked for now, which takes some seconds where a name server is silent.',
  },
  access: { as: 'operator' },
  limits: { throttle: { times: 30, seconds: 60 } },
  reply: { schema: OwnRecordChecks },
  async handle({ app }) {
    const { config, directory, resolver, clock } = app
    const domains = await ownDomains(app)
    const [hosts, ...checked] = await Promise.all([
      readOwnRecords(resolver, config.MAIL_HOSTS),
      ...domains.map((domain) => directory.domains.inspect(domain)),
    ])
    return {
      checked_at: isoTime(clock.now()),
      hosts,
      domains: domains.map(({ name }, index) => {
        return { domain: name, is_reserved: isReserved(name), checks: presentChecks(checked[index]!.checks) }
      }),
    }
  },
})
