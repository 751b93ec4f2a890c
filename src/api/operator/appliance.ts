// The appliance itself, for the operator: version, settings without secrets, and the DNS records of its own names.

import { Type } from 'typebox'
import { settings } from '../../config/config.ts'
import { PROGRAM_VERSION } from '../../config/version.ts'
import type { Context } from '../../context.ts'
import { hostRecords } from '../../directory/dns-records.ts'
import { bounceDomain } from '../../directory/domain-name.ts'
import { route } from '../../http/route.ts'
import { listOf } from '../../http/schema.ts'
import { DomainJson, presentDomain } from '../schemas/domain.ts'
import { record } from '../schemas/record.ts'

/** Settings whose values are credentials. Names of files and ids are not. */
const SECRET = /SECRET|PASSWORD|TOKEN|ACCESS_KEY/

const readVersion = route({
  method: 'GET',
  surface: 'operator',
  path: '/version',
  docs: { operation: 'getVersion', tag: 'Service', summary: 'Get the version of the appliance and of Node' },
  access: { as: 'operator' },
  reply: { schema: record('ApplianceVersion', 'What runs.', { version: Type.String(), node: Type.String() }) },
  handle: () => ({ version: PROGRAM_VERSION, node: process.version }),
})

const listSettings = route({
  method: 'GET',
  surface: 'operator',
  path: '/settings',
  docs: { operation: 'listSettings', tag: 'Service', summary: 'List the settings that are in effect, without secrets' },
  access: { as: 'operator' },
  reply: {
    schema: listOf(
      record('Setting', 'One setting.', {
        name: Type.String(),
        value: Type.String({ description: '`set` for a secret; lists are separated by commas.' }),
        default: Type.String(),
        is_default: Type.Boolean(),
        description: Type.String(),
      }),
    ),
    list: 'whole',
  },
  handle({ app }) {
    return { items: Object.keys(settings).map((name) => settingOf(app, name as keyof typeof settings)), next: null }
  },
})

const readOwnRecords = route({
  method: 'GET',
  surface: 'operator',
  path: '/own-records',
  docs: {
    operation: 'getOwnRecords',
    tag: 'Service',
    summary: "Get the DNS records of the appliance's own domains: agent inboxes, system mail, and the mail host",
  },
  access: { as: 'operator' },
  reply: {
    schema: record('OwnRecords', 'To be published in DNS.', {
      domains: Type.Array(DomainJson),
      mail_host: Type.Array(
        record('HostRecord', 'A record of the mail host.', {
          name: Type.String(),
          type: Type.String(),
          value: Type.String(),
        }),
      ),
    }),
  },
  async handle({ app: { config, directory } }) {
    const host = config.MAIL_HOSTS[0]!
    const names = [...new Set([config.AGENT_MAILBOX_DOMAIN, host])]
    const domains = await Promise.all(names.map((name) => directory.domains.system(name)))
    const records = hostRecords(host, bounceDomain(host)).map(({ name, type, value }) => ({ name, type, value }))
    return { domains: domains.map(presentDomain), mail_host: records }
  },
})

function settingOf({ config }: Context, name: keyof typeof settings) {
  const { default: initial, description } = settings[name] as { default?: unknown; description?: string }
  const [value, standard] = [textOf(config[name]), textOf(initial)]
  const shown = SECRET.test(name) && value !== '' ? 'set' : value
  return { name, value: shown, default: standard, is_default: value === standard, description: description ?? '' }
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value ?? '')
}

export const operatorAppliance = [readVersion, listSettings, readOwnRecords]
