// The names under which others reach this server: that of the mail server and the address of the console.

import { networkInterfaces } from 'node:os'
import { type Static, Type } from 'typebox'
import { conflict, invalid } from '../../base/errors.ts'
import { choose, readChosen } from '../../config/chosen-settings.ts'
import { sourceOf } from '../../config/load.ts'
import { hasOneOrigin } from '../../config/origins.ts'
import { isReserved } from '../../config/reserved-names.ts'
import { HostName, Origin } from '../../config/setting-types.ts'
import type { Context } from '../../context.ts'
import { domainName, isHostName } from '../../directory/names/domain-name.ts'
import { route } from '../../http/route.ts'
import { Nullable } from '../../http/schema.ts'
import { askRecord } from '../../maintenance/doctor/mail-host.ts'
import { record } from '../schemas/record.ts'

const ServerName = record('ServerName', 'The names of this server.', {
  mail_host: Type.String({ description: 'In effect: the first of `MAIL_HOSTS`.' }),
  next_mail_host: Nullable(Type.String({ description: 'Chosen, and in effect after the next start; null without.' })),
  app_origin: Type.String({ description: 'In effect: `APP_ORIGIN`.' }),
  next_app_origin: Nullable(Type.String({ description: 'Chosen, and in effect after the next start; null without.' })),
  is_changeable: Type.Boolean({ description: 'False where the environment or the settings file has `MAIL_HOSTS`.' }),
  is_public: Type.Boolean({ description: 'Whether the name, the chosen one first, can exist in public DNS.' }),
  addresses: Type.Array(
    record('ServerAddress', 'An address of the name in DNS.', {
      address: Type.String(),
      is_here: Type.Boolean({
        description: 'Whether a network interface of this machine has it; behind address translation none has.',
      }),
    }),
  ),
})

const readServerName = route({
  method: 'GET',
  surface: 'operator',
  path: '/server-name',
  docs: {
    operation: 'getServerName',
    tag: 'Service',
    summary: 'Get the names of this server, and what DNS says of them',
    description: 'Name, HTTPS and port 25, as the first run asks for them.',
  },
  access: { as: 'operator' },
  reply: { schema: ServerName },
  handle: ({ app }) => presentServerName(app),
})

const setServerName = route({
  method: 'PUT',
  surface: 'operator',
  path: '/server-name',
  docs: {
    operation: 'setServerName',
    tag: 'Service',
    summary: 'Choose the names of this server, for the next start',
    description:
      'Stored in the data folder. 409 where the environment or the settings file has the setting. Passkeys belong to the host of the ' +
      'address of the console: with another host each person signs in by a link once, and makes a new one.',
  },
  access: { as: 'operator' },
  body: {
    schema: record(
      'ServerNameChange',
      'The names.',
      {
        mail_host: { ...HostName, description: 'Name of the mail server, such as mail.example.com.' },
        app_origin: Type.Optional({
          ...Origin,
          description: 'Address of the console, such as https://mail.example.com.',
        }),
      },
      { mail_host: 'mail.example.com', app_origin: 'https://mail.example.com' },
    ),
  },
  reply: {
    schema: record('ChosenServerName', 'The names, and the way in at the new address.', {
      ...ServerName.properties,
      sign_in_link: Nullable(
        Type.String({
          description:
            'Signs the person who asked in at the new address, once, within 24 hours; null while the host of the console stays.',
        }),
      ),
    }),
    secret: true,
  },
  async handle({ body, app, principal }) {
    await chooseServerName(app, body.mail_host, body.app_origin)
    const email = principal.person?.email
    const origin = body.app_origin ?? app.config.APP_ORIGIN
    const moves = email !== undefined && new URL(origin).hostname !== new URL(app.config.APP_ORIGIN).hostname
    const link = moves ? await app.db.write((tx) => app.people.makeMoveLink(tx, email)) : null
    return { ...(await presentServerName(app)), sign_in_link: link && link.replace(app.config.APP_ORIGIN, origin) }
  },
})

/** @throws ProductError validation_error, conflict where another source has the setting */
export async function chooseServerName(app: Pick<Context, 'config'>, written: string, origin?: string): Promise<void> {
  const { config } = app
  const host = domainName(written)
  if (host === null || !isHostName(host)) {
    throw invalid('mail_host', 'invalid_format', 'The name must be a host name with at least two labels.')
  }
  if ([host, `bounce.${host}`].includes(config.AGENT_MAILBOX_DOMAIN)) {
    throw invalid(
      'mail_host',
      'forbidden_value',
      'Agent inboxes have this name (AGENT_MAILBOX_DOMAIN). Use another one.',
    )
  }
  if (origin === config.SEND_ORIGIN && !hasOneOrigin(config)) {
    throw invalid('app_origin', 'forbidden_value', 'The Sending API has this address (SEND_ORIGIN). Use another one.')
  }
  requireFree(config, 'MAIL_HOSTS')
  if (origin !== undefined) requireFree(config, 'APP_ORIGIN')
  await choose(config.DATA_DIR, { MAIL_HOSTS: [host], ...(origin === undefined ? {} : { APP_ORIGIN: origin }) })
}

function requireFree(config: Context['config'], name: 'MAIL_HOSTS' | 'APP_ORIGIN'): void {
  const source = sourceOf(config, name)
  if (source === 'default' || source === 'console') return
  throw conflict(`The ${source === 'file' ? 'settings file' : 'environment'} has ${name}. Change it there.`)
}

async function presentServerName({
  config,
  resolver,
}: Pick<Context, 'config' | 'resolver'>): Promise<Static<typeof ServerName>> {
  const chosen = readChosen(config.DATA_DIR)
  const current = config.MAIL_HOSTS[0]!
  const next = chosen.MAIL_HOSTS?.[0] ?? current
  const nextOrigin = chosen.APP_ORIGIN ?? config.APP_ORIGIN
  const source = sourceOf(config, 'MAIL_HOSTS')
  return {
    mail_host: current,
    next_mail_host: next === current ? null : next,
    app_origin: config.APP_ORIGIN,
    next_app_origin: nextOrigin === config.APP_ORIGIN ? null : nextOrigin,
    is_changeable: source === 'default' || source === 'console',
    is_public: !isReserved(next),
    addresses: isReserved(next) ? [] : await addressesOf(resolver, next),
  }
}

async function addressesOf(resolver: Context['resolver'], host: string) {
  const answers = await Promise.all(['A', 'AAAA'].map((type) => askRecord(resolver, host, type)))
  const own = new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)))
  return answers.flatMap(({ values }) => values).map((address) => ({ address, is_here: own.has(address) }))
}

export const operatorServerName = [readServerName, setServerName]
