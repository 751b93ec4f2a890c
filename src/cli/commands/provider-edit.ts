// `mailstead provider create`, `update`, `connect`: adds and changes sending accounts.

import { presentProvider } from '../../api/schemas/provider.ts'
import { ProviderCreate, ProviderUpdate, readNewProvider, readProvider } from '../../api/schemas/provider-input.ts'
import { isoTime } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { closed, compileCheck, wrongBody } from '../../http/validate.ts'
import type { Provider } from '../../outbound/model/records.ts'
import { openedByAccount } from '../../people/opens.ts'
import { auditCredential } from '../frame/audit-command.ts'
import { oneOf } from '../frame/choice.ts'
import { type Call, type Command, type CommandOption, TEAM_OPTION } from '../frame/command.ts'
import { readSecret } from '../frame/input.ts'
import { inOptionNames, readNumber } from '../frame/options.ts'
import { chooseTeam } from '../frame/team-choice.ts'
import { chooseProvider, PROVIDER_OPERAND, providerLine } from './providers.ts'

const PROTOCOLS = ['starttls', 'ssl', 'tls', 'none'] as const
const CONNECTED = ['gmail', 'outlook'] as const
/** The word that removes an optional value. */
const NONE = 'none'
const DEFAULT_PORT = '587'
const DEFAULT_PROTOCOL = 'starttls'
const TEXTS = ['name', 'smtp-host', 'smtp-protocol', 'smtp-username'] as const
const OPTIONAL_TEXTS = ['from-email', 'from-name', 'reply-to-email', 'reply-to-name', 'return-path'] as const
const CAPS = ['per-second', 'per-minute', 'per-hour', 'per-day'] as const

const FIELDS: Readonly<Record<string, CommandOption>> = {
  name: { value: 'name', says: 'name of the account, shown in lists' },
  'smtp-host': { value: 'host', says: 'DNS name or IP address of the server' },
  'smtp-port': { value: 'port', says: `port of the server (${DEFAULT_PORT} unless given)` },
  'smtp-protocol': {
    value: 'protocol',
    says: 'starttls (required), ssl (implicit TLS), tls (by port) or none; starttls unless given',
    words: PROTOCOLS,
  },
  'smtp-username': { value: 'name', says: 'user name; the password is read from standard input' },
  'from-email': { value: 'email', says: 'default From address' },
  'from-name': { value: 'name', says: 'default From name' },
  'reply-to-email': { value: 'email', says: 'default Reply-To address' },
  'reply-to-name': { value: 'name', says: 'default Reply-To name' },
  'return-path': { value: 'email', says: 'envelope sender of all messages of the account' },
  ...Object.fromEntries(
    CAPS.map((cap) => [
      cap,
      { value: 'number', says: `recipients ${cap.replace('-', ' ')}: a number or a range such as 50-60` },
    ]),
  ),
  percentage: { value: 'number', says: 'share of the traffic, 0 to 100' },
}

const NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...TEXTS, ...OPTIONAL_TEXTS, 'smtp-port', 'percentage'].map((name) => [memberOf(name), `--${name}`]),
  ),
  ...Object.fromEntries(CAPS.map((name) => [`quotas.${memberOf(name)}`, `--${name}`])),
}

const checkNew = compileCheck(() => closed(ProviderCreate))
const checkChange = compileCheck(() => closed(ProviderUpdate))

export const providerCreate: Command = {
  words: 'provider create',
  summary: 'Add an SMTP sending account; its password is read from standard input.',
  options: { ...TEAM_OPTION, ...FIELDS },
  examples: ['mailstead provider create --name Relay --smtp-host smtp.example.com --smtp-username me < password-file'],
  async run(call) {
    for (const name of ['name', 'smtp-host', 'smtp-username']) {
      if (call.text(name) === undefined) throw new ProductError('missing_parameter', `--${name} is missing.`)
    }
    const given = bodyOf(call)
    const password = await readSecret(call.input(), 'The password', 'mailstead provider create …')
    const body = { smtp_protocol: DEFAULT_PROTOCOL, smtp_port: Number(DEFAULT_PORT), ...given, smtp_password: password }
    const app = await call.open()
    const { directory, outbound } = app
    const team = chooseTeam(directory, call.text('team'))
    const provider = await inOptionNames(NAMES, () => {
      if (!checkNew.passes(body)) throw wrongBody(checkNew.issues(body))
      return outbound.accounts.providers.create(team.id, readNewProvider(body as ProviderCreate))
    })
    await noteOpened(app, providerCreate.words, provider)
    const row = presentProvider(provider)
    return { data: row, lines: [providerLine(row), `To check it now: mailstead provider test ${row.id}`] }
  },
}

export const providerUpdate: Command = {
  words: 'provider update',
  summary: 'Change a sending account; what is not given stays.',
  operands: [PROVIDER_OPERAND],
  options: { ...FIELDS, 'password-stdin': { says: 'read a new password from standard input' } },
  examples: [`mailstead provider update dprov_… --per-day 2000 --from-name ${NONE}   # ${NONE} removes a value`],
  async run(call) {
    const given = bodyOf(call)
    const secret = call.has('password-stdin')
      ? {
          smtp_password: await readSecret(call.input(), 'The password', 'mailstead provider update … --password-stdin'),
        }
      : {}
    const body = { ...given, ...secret }
    if (Object.keys(body).length === 0) {
      throw new ProductError('missing_parameter', 'Nothing to change. See mailstead provider update --help.')
    }
    const app = await call.open()
    const { teamId, id } = chooseProvider(app, call.operands[0]!)
    const provider = await inOptionNames({ ...NAMES, smtp_password: '--password-stdin' }, () => {
      if (!checkChange.passes(body)) throw wrongBody(checkChange.issues(body))
      return app.outbound.accounts.providers.update(teamId, id, readProvider(body as ProviderUpdate))
    })
    if (given.smtp_host !== undefined) await noteOpened(app, providerUpdate.words, provider)
    const row = presentProvider(provider)
    return { data: row, lines: [providerLine(row)] }
  },
}

/** A sending account sees what is sent. */
function noteOpened(app: Context, words: string, { teamId, id, name, smtpHost }: Provider): Promise<void> {
  const target = { type: 'provider', id, label: name }
  return auditCredential(app, words, { teamId, target, opens: openedByAccount(smtpHost) })
}

export const providerConnect: Command = {
  words: 'provider connect',
  summary: 'Print a link with which a person connects a Gmail or Outlook account to a team.',
  operands: [CONNECTED.join('|')],
  options: { ...TEAM_OPTION, name: { value: 'name', says: 'name of the account, shown in lists' } },
  async run(call) {
    const type = oneOf('kind of account', call.operands[0], CONNECTED)!
    const { directory, outbound } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const input = { type: `${type}_api` as const, name: call.text('name') ?? type, redirectAfter: null }
    const { authorizationUrl, stateExpiresAt } = await outbound.accounts.oauth.authorize(team.id, input)
    const until = isoTime(stateExpiresAt)
    return {
      data: { authorization_url: authorizationUrl, state_expires_at: until },
      lines: [`Open this link in a browser and allow sending. It works once, until ${until}:`, `  ${authorizationUrl}`],
    }
  },
}

/** The members of the API's body that were given as options. @throws ProductError invalid_parameter */
function bodyOf(call: Call): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  const set = (option: string, value: unknown) => {
    if (value !== undefined) body[memberOf(option)] = value
  }
  for (const option of TEXTS) set(option, call.text(option))
  for (const option of OPTIONAL_TEXTS) set(option, call.text(option) === NONE ? null : call.text(option))
  set('smtp-port', readNumber('port', call.text('smtp-port')))
  const percentage = call.text('percentage')
  set('percentage', percentage === NONE ? null : readNumber('percentage', percentage))
  const caps = CAPS.flatMap((cap) => {
    const text = call.text(cap)
    return text === undefined ? [] : [[memberOf(cap), readCap(cap, text)]]
  })
  if (caps.length > 0) body.quotas = Object.fromEntries(caps)
  return body
}

function readCap(option: string, text: string): number | { min: number; max: number } | null {
  if (text === NONE) return null
  const [, min, max] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text) ?? []
  if (min === undefined) {
    throw new ProductError('invalid_parameter', `--${option} must be a number, a range such as 50-60, or ${NONE}.`)
  }
  return max === undefined ? Number(min) : { min: Number(min), max: Number(max) }
}

function memberOf(option: string): string {
  return option.replaceAll('-', '_')
}
