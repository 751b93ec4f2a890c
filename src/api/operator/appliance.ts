// The appliance itself, for the operator: version, settings without secrets, and the DNS records of its own names.

import { Type } from 'typebox'
import { settings } from '../../config/config.ts'
import { followChosen, SETTING_SOURCES, sourceOf } from '../../config/load.ts'
import { PROGRAM_VERSION } from '../../config/version.ts'
import type { Context } from '../../context.ts'
import { hostRecords } from '../../directory/domains/dns-records.ts'
import type { Domain } from '../../directory/domains/domain-record.ts'
import { bounceDomain } from '../../directory/names/domain-name.ts'
import { route } from '../../http/route.ts'
import { listOf, Words } from '../../http/schema.ts'
import { DomainJson, presentDomain } from '../schemas/domain.ts'
import { record } from '../schemas/record.ts'
import { readMachine } from './machine.ts'

/** Settings whose values are credentials. Names of files and ids are not, nor addresses of endpoints. */
const SECRET = /SECRET|PASSWORD|TOKEN(?!_BASE$)|ACCESS_KEY/

const readVersion = route({
  method: 'GET',
  surface: 'operator',
  path: '/version',
  docs: {
    operation: 'getVersion',
    tag: 'Service',
    summary: 'Get the version of the appliance and of Node',
    description: 'For scripts that check an upgrade.',
  },
  access: { as: 'operator' },
  reply: { schema: record('ApplianceVersion', 'What runs.', { version: Type.String(), node: Type.String() }) },
  handle: () => ({ version: PROGRAM_VERSION, node: process.version }),
})

const listSettings = route({
  method: 'GET',
  surface: 'operator',
  path: '/settings',
  docs: {
    operation: 'listSettings',
    tag: 'Service',
    summary: 'List the settings that are in effect, without secrets',
    description: 'Each with its value, where it comes from, and its default. Secrets are shown as set or not set.',
  },
  access: { as: 'operator' },
  reply: {
    schema: listOf(
      record('Setting', 'One setting.', {
        name: Type.String(),
        value: Type.String({ description: '`set` for a secret; lists are separated by commas.' }),
        default: Type.String(),
        is_default: Type.Boolean(),
        source: Words(
          [...SETTING_SOURCES],
          'Where the value is from; the environment wins over the settings file, and that over the console.',
        ),
        is_secret: Type.Boolean({ description: 'The value is a credential, and is not shown.' }),
        description: Type.String(),
      }),
    ),
    list: 'whole',
  },
  handle({ app }) {
    followChosen(app.config)
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
    description: 'As they are to be published; `getOwnRecordChecks` says what DNS has.',
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
  async handle({ app }) {
    const host = app.config.MAIL_HOSTS[0]!
    const domains = await ownDomains(app)
    const records = hostRecords(host, bounceDomain(host)).map(({ name, type, value }) => ({ name, type, value }))
    return { domains: domains.map(presentDomain), mail_host: records }
  },
})

/** The domain of agent inboxes, and that of system mail. */
export function ownDomains({ config, directory }: Context): Promise<Domain[]> {
  const names = new Set([config.AGENT_MAILBOX_DOMAIN, config.MAIL_HOSTS[0]!])
  return Promise.all([...names].map((name) => directory.domains.system(name)))
}

function settingOf({ config }: Context, name: keyof typeof settings) {
  const { default: initial, description } = settings[name] as { default?: unknown; description?: string }
  const [value, standard] = [textOf(config[name]), textOf(initial)]
  const isSecret = SECRET.test(name)
  return {
    name,
    value: isSecret && value !== '' ? 'set' : value,
    default: standard,
    is_default: value === standard,
    source: sourceOf(config, name),
    is_secret: isSecret,
    description: description ?? '',
  }
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value ?? '')
}

export const operatorAppliance = [readVersion, readMachine, listSettings, readOwnRecords]
