// Loads and validates the settings from the environment and an optional file; no other module reads the environment.

import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { ProductError } from '../base/errors.ts'
import { CHOOSABLE_AT_ONCE, readChosen } from './chosen-settings.ts'
import { CLIENT_LISTENERS, LISTENER_PORTS } from './client-listeners.ts'
import { type Config, settings } from './config.ts'
import { PATTERN_TEXTS } from './setting-types.ts'
import { suggestionFor, unknownInEnvironment } from './unknown-settings.ts'

/** Path of the optional settings file, relative to the working directory. */
export const CONFIG_FILE = 'config/mailstead.json'

/** Where the value of a setting is from. */
export const SETTING_SOURCES = ['environment', 'file', 'console', 'default'] as const
export type SettingSource = (typeof SETTING_SOURCES)[number]

/** The sources of the settings that are not the default, by the configuration they were loaded into. */
const sources = new WeakMap<Config, Map<string, SettingSource>>()

/** Where a setting of a loaded configuration is from. */
export function sourceOf(config: Config, name: keyof Config): SettingSource {
  return sources.get(config)?.get(name) ?? 'default'
}

type Raw = Record<string, string | undefined>

/**
 * The settings of this process. The environment takes precedence over the file, the file over what was chosen in the console, that over
 * the defaults.
 * @throws ProductError whose message names the invalid setting
 */
export function loadConfig(env: Raw, file: string = CONFIG_FILE): Config {
  const fromFile = readFile(file)
  const unknown = unknownInEnvironment(env)
  if (unknown !== undefined) throw wrong(unknown)
  const config: Record<string, unknown> = {}
  const { default: usual } = settings.DATA_DIR as { default?: unknown }
  const chosen: Record<string, unknown> = readChosen(String(env.DATA_DIR || (fromFile.DATA_DIR ?? usual)))
  const given = new Map<string, SettingSource>()
  for (const [name, schema] of Object.entries(settings)) {
    const isInEnvironment = env[name] !== undefined && env[name] !== ''
    const value = isInEnvironment ? parse(name, schema, env[name]!) : (fromFile[name] ?? chosen[name])
    config[name] = check(name, schema, value ?? structuredClone((schema as { default?: unknown }).default))
    const source = isInEnvironment ? 'environment' : fromFile[name] == null ? 'console' : 'file'
    if (value != null) given.set(name, source)
  }
  deriveOrigins(config)
  const checked = checkTogether(config as unknown as Config)
  sources.set(checked, given)
  return checked
}

/**
 * Takes up what was chosen since the start, in the console or by a command, of the settings that hold at once.
 * @throws ProductError whose message names the invalid setting
 */
export function followChosen(config: Config): void {
  const given = sources.get(config)
  const chosen: Record<string, unknown> = readChosen(config.DATA_DIR)
  for (const name of CHOOSABLE_AT_ONCE) {
    const source = sourceOf(config, name)
    if (source === 'environment' || source === 'file') continue
    const usual = structuredClone((settings[name] as { default?: unknown }).default)
    Object.assign(config, { [name]: check(name, settings[name], chosen[name] ?? usual) })
    if (chosen[name] === undefined) given?.delete(name)
    else given?.set(name, 'console')
  }
}

// Without configuration the origins follow the ports, so that a server on one machine works immediately.
function deriveOrigins(config: Record<string, unknown>): void {
  config.APP_ORIGIN ||= `http://localhost:${config.HTTP_PORT}`
  config.SEND_ORIGIN ||= `http://localhost:${config.SEND_PORT}`
}

function readFile(file: string): Record<string, unknown> {
  if (!existsSync(file)) return {}
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw wrong(`The settings file ${file} is not valid JSON. Correct it or remove it.`)
  }
  if (content === null || typeof content !== 'object' || Array.isArray(content)) {
    throw wrong(`The settings file ${file} must contain one JSON object.`)
  }
  for (const name of Object.keys(content)) {
    if (name !== '$schema' && !Object.hasOwn(settings, name))
      throw wrong(`The settings file ${file} contains the unknown setting ${name}.${suggestionFor(name)}`)
  }
  return content as Record<string, unknown>
}

const INTEGER = /^-?\d{1,15}$/
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,15})?$/

function notANumber(name: string, schema: TSchema): string {
  const { type, default: example } = schema as { type?: string; default?: unknown }
  const kind = type === 'integer' ? 'a whole number in decimal digits' : 'a decimal number'
  return `The setting ${name} is not ${kind}. Use a value such as ${String(example)}.`
}

function parse(name: string, schema: TSchema, text: string): unknown {
  const { type, items } = schema as { type?: string; items?: TSchema }
  if (type === 'array') {
    const listed = text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
    return listed.map((item) => parse(name, items!, item))
  }
  if (type === 'integer' || type === 'number') {
    // Number() would also read 0x50, 1e3 and blanks.
    if (!(type === 'integer' ? INTEGER : DECIMAL).test(text.trim())) throw wrong(notANumber(name, schema))
    return Number(text)
  }
  if (type === 'boolean') {
    if (!['true', 'false'].includes(text)) throw wrong(`The setting ${name} must be true or false.`)
    return text === 'true'
  }
  return text
}

function check(name: string, schema: TSchema, value: unknown): unknown {
  if (Value.Check(schema, value)) return value
  const [first] = Value.Errors(schema, value)
  throw wrong(`The setting ${name} ${requirementOf(schema) ?? first?.message ?? 'does not have the expected form'}.`)
}

/** What a value must be, for schemas with a known pattern, of items as well. */
function requirementOf(schema: TSchema): string | undefined {
  const { pattern, items } = schema as { pattern?: string; items?: { pattern?: string } }
  return PATTERN_TEXTS.get(pattern ?? items?.pattern ?? '')
}

/** Settings that require each other. */
const PAIRS = [
  ['TLS_CERT_FILE', 'TLS_KEY_FILE'],
  ['ACME_EAB_KID', 'ACME_EAB_KEY'],
  ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
  ['MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET'],
  ['SES_ACCESS_KEY_ID', 'SES_SECRET_ACCESS_KEY'],
] as const
const SECRET_BYTES = 32

function checkTogether(config: Config): Config {
  for (const [one, other] of PAIRS) {
    if ((config[one] === '') === (config[other] === '')) continue
    throw wrong(
      `The settings ${one} and ${other} must be set together; ${config[one] === '' ? one : other} is missing.`,
    )
  }
  checkAcme(config)
  checkSecrets(config)
  if (config.SPAM_REFUSE_SCORE < config.SPAM_JUNK_SCORE) {
    throw wrong('The setting SPAM_REFUSE_SCORE must not be less than SPAM_JUNK_SCORE.')
  }
  checkDomains(config)
  checkAddresses(config)
  checkListeners(config)
  return config
}

function checkAcme({ ACME, ACME_DIRECTORY, TLS_CERT_FILE }: Config): void {
  if (ACME === 'off') return
  if (TLS_CERT_FILE !== '') {
    throw wrong(
      'The settings ACME and TLS_CERT_FILE both name a certificate. Remove TLS_CERT_FILE and TLS_KEY_FILE, or set ACME to off.',
    )
  }
  if (!ACME_DIRECTORY.startsWith('https:')) throw wrong('The setting ACME_DIRECTORY must be an https URL.')
}

function checkSecrets(config: Config): void {
  for (const name of ['APP_SECRET', 'POW_SECRET'] as const) {
    const secret = config[name]
    if (secret !== '' && secret.trim() === '') {
      throw wrong(`The setting ${name} contains only blanks. Set ${SECRET_BYTES} random bytes or more, or remove it.`)
    }
    if (secret !== '' && Buffer.byteLength(secret) < SECRET_BYTES) {
      throw wrong(`The setting ${name} must be at least ${SECRET_BYTES} bytes long.`)
    }
  }
}

/** Messages to the mail host itself go to its operator, and bounces to its subdomain "bounce": agents need a separate domain. */
function checkDomains({ AGENT_MAILBOX_DOMAIN: domain, MAIL_HOSTS }: Config): void {
  if (!MAIL_HOSTS.some((host) => domain === host || domain === `bounce.${host}`)) return
  throw wrong(
    `The setting AGENT_MAILBOX_DOMAIN is ${domain}, which is a host name of this server (MAIL_HOSTS). Use a separate domain, such as agents.${domain}.`,
  )
}

function checkAddresses(config: Config): void {
  for (const name of ['DNS_SERVERS', 'DNSSEC_RESOLVERS'] as const) {
    for (const server of config[name]) {
      if (isServer(server)) continue
      throw wrong(
        `The setting ${name} contains ${server}, which is not an ip or ip:port. Use a value such as 127.0.0.1:53.`,
      )
    }
  }
  for (const name of ['TRUSTED_PROXIES', 'PROXY_PROTOCOL_FROM'] as const) {
    for (const range of config[name]) {
      if (!isRange(range))
        throw wrong(`The setting ${name} contains ${range}, which is neither an address nor a CIDR range.`)
    }
  }
  if (config.CLAMAV_HOST !== '' && !isHostPort(config.CLAMAV_HOST)) {
    throw wrong(`The setting CLAMAV_HOST is ${config.CLAMAV_HOST}, which is not host:port, such as 127.0.0.1:3310.`)
  }
}

/** Two listeners cannot share a port, unless each has an address of its own. */
function checkListeners(config: Config): void {
  const { length } = config.CLIENT_PUBLIC_PORTS
  if (length !== 0 && length !== CLIENT_LISTENERS.length) {
    throw wrong(`The setting CLIENT_PUBLIC_PORTS must name ${CLIENT_LISTENERS.length} ports, or none.`)
  }
  const [, address = '', digits = ''] = /^(.+):(\d+)$/.exec(config.OPERATOR_BIND) ?? []
  const operator = { name: 'OPERATOR_BIND', host: address.replace(/^\[|\]$/g, ''), port: Number(digits) }
  if (isIP(operator.host) === 0 || operator.port > 65535) {
    throw wrong(
      `The setting OPERATOR_BIND is ${config.OPERATOR_BIND}, which is not an IP address and a port. Use a value such as 127.0.0.1:9090.`,
    )
  }
  const listeners = [
    { name: 'HTTP_PORT', host: config.HTTP_BIND, port: config.HTTP_PORT },
    { name: 'SEND_PORT', host: config.HTTP_BIND, port: config.SEND_PORT },
    { name: 'HTTPS_PORT', host: config.HTTP_BIND, port: config.HTTPS_PORT },
    { name: 'SMTP_PORT', host: config.SMTP_BIND, port: config.SMTP_PORT },
    ...clientListeners(config),
    operator,
  ]
  for (const [index, one] of listeners.entries()) {
    const rest = listeners.slice(index + 1)
    const other = rest.find(({ host, port }) => port !== 0 && port === one.port && overlap(host, one.host))
    if (other === undefined) continue
    throw wrong(`The settings ${one.name} and ${other.name} name the same port, ${one.port}. Give each its own port.`)
  }
}

function clientListeners(config: Config) {
  const { CLIENT_PROTOCOLS: served, CLIENT_BIND: host } = config
  return served.map((protocol) => ({ name: LISTENER_PORTS[protocol], port: config[LISTENER_PORTS[protocol]], host }))
}

/** True when two sockets cannot be bound to one port at these addresses. "::" also takes IPv4. */
function overlap(one: string, other: string): boolean {
  const covers = (wide: string, host: string) =>
    wide === host ||
    wide === '::' ||
    (wide === '0.0.0.0' && isIP(host) !== 6) ||
    (wide === 'localhost' && ['127.0.0.1', '::1'].includes(host))
  return covers(one, other) || covers(other, one)
}

function isServer(text: string): boolean {
  const [, literal, name, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  return isIP(text) !== 0 || (isIP(literal ?? name ?? '') !== 0 && isPort(port))
}

function isHostPort(text: string): boolean {
  const [, literal, name, port] = /^(?:\[([^\]]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text) ?? []
  const isHost = literal === undefined ? name !== undefined : isIP(literal) === 6
  return isHost && isPort(port!)
}

function isPort(digits: string): boolean {
  return Number(digits) >= 1 && Number(digits) <= 65535
}

/** Complete addresses only: ipaddr.js would read 1.2.3 as 1.2.0.3. */
function isRange(text: string): boolean {
  const [address = '', bits] = text.split('/', 2)
  return isIP(address) !== 0 && (bits === undefined || ipaddr.isValidCIDR(text))
}

function wrong(sentence: string): ProductError {
  return new ProductError('invalid_parameter', sentence)
}
