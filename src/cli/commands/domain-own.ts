// `mailstead domain own`: the DNS records of the domains that agents and the appliance itself send from.

import { presentDomain } from '../../api/schemas/domain.ts'
import { hostRecords } from '../../directory/domains/dns-records.ts'
import type { Domain } from '../../directory/domains/domain-record.ts'
import { bounceDomain } from '../../directory/names/domain-name.ts'
import type { Command } from '../frame/command.ts'
import { table } from '../frame/table.ts'

export const domainOwn: Command = {
  words: 'domain own',
  summary: "Show the DNS records of the appliance's own domains: agent inboxes and system mail.",
  async run(call) {
    const { directory, config } = await call.open()
    const names = [...new Set([config.AGENT_MAILBOX_DOMAIN, config.MAIL_HOSTS[0]!])]
    const domains: Domain[] = []
    for (const name of names) domains.push(await directory.domains.system(name))
    const host = config.MAIL_HOSTS[0]!
    const records = hostRecords(host, bounceDomain(host))
    const lines = [
      ...domains.flatMap(linesOf),
      ...table(records.map(({ name, type, value }) => [`  ${name}`, type, value])),
    ]
    return {
      data: { domains: domains.map(presentDomain), mail_host: records },
      lines: ['Put these records into DNS:', '', ...lines],
    }
  },
}

function linesOf({ name, records }: Domain): string[] {
  const { mx, spf, dkim, dmarc } = records
  const texts = [spf, ...dkim, dmarc].map((record) => [`  ${record.name}`, 'TXT', record.value])
  return [...table([...mx.map(({ priority, target }) => [`  ${name}`, 'MX', `${priority} ${target}`]), ...texts]), '']
}
