// `mailstead domain own`: the records of the appliance's own names, from which agents and the appliance itself write.

import type { Domain } from '../directory/domain-record.ts'
import { presentDomain } from '../surfaces/rest/schemas/domain.ts'
import type { Command } from './command.ts'
import { table } from './table.ts'

export const domainOwn: Command = {
  words: 'domain own',
  summary: "Shows the DNS records of the appliance's own names: inboxes of agents, mail to people.",
  async run(call) {
    const { directory, config } = await call.open()
    const names = [...new Set([config.AGENT_MAILBOX_DOMAIN, config.MAIL_HOSTS[0]!])]
    const domains: Domain[] = []
    for (const name of names) domains.push(await directory.domains.system(name))
    const lines = domains.flatMap(linesOf)
    return { data: domains.map(presentDomain), lines: ['Put these records into DNS:', '', ...lines] }
  },
}

function linesOf({ name, records }: Domain): string[] {
  const { mx, spf, dkim, dmarc } = records
  const texts = [spf, ...dkim, dmarc].map((record) => [`  ${record.name}`, 'TXT', record.value])
  return [...table([...mx.map(({ priority, target }) => [`  ${name}`, 'MX', `${priority} ${target}`]), ...texts]), '']
}
