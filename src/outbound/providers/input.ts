// Validates the input for sending accounts (docs/design/contract.md §2.2, docs/design/sending.md §1).

import { isIP } from 'node:net'
import { invalid, ProductError } from '../../base/errors.ts'
import { isPublicAddress } from '../../base/public-address.ts'
import { checkEmail } from '../../mime/compose/draft-rules.ts'
import type { Provider, ProviderQuotas, QuotaRange, SmtpProtocol } from '../model/records.ts'

/** A requested quota: a number, a range, or null for none. */
export type QuotaInput = number | QuotaRange | null

export type QuotasInput = Partial<Record<keyof ProviderQuotas, QuotaInput>>

/** The changeable fields of an account; absent fields stay unchanged. */
export interface ProviderChange {
  name?: string
  smtpHost?: string
  smtpPort?: number
  smtpProtocol?: SmtpProtocol
  smtpUsername?: string
  smtpPassword?: string
  fromEmail?: string | null
  fromName?: string | null
  replyToEmail?: string | null
  replyToName?: string | null
  returnPath?: string | null
  quotas?: QuotasInput
  percentage?: number | null
  trackingDomain?: string | null
}

/** A new SMTP account; without a password only that of an outside account that is connected. */
export type NewProvider = ProviderChange &
  Required<Pick<ProviderChange, 'name' | 'smtpHost' | 'smtpPort' | 'smtpProtocol' | 'smtpUsername'>>

export const NO_QUOTAS: ProviderQuotas = { perSecond: null, perMinute: null, perHour: null, perDay: null }

const QUOTA_NAMES: Record<keyof ProviderQuotas, string> = {
  perSecond: 'per_second',
  perMinute: 'per_minute',
  perHour: 'per_hour',
  perDay: 'per_day',
}
const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const TEXT_FIELDS = [
  ['name', 'name'],
  ['smtpUsername', 'smtp_username'],
  ['smtpPassword', 'smtp_password'],
  ['fromName', 'from_name'],
  ['replyToName', 'reply_to_name'],
] as const
/** The fields a check depends on: server, credentials and envelope sender. */
const CONNECTION = ['smtpHost', 'smtpPort', 'smtpProtocol', 'smtpUsername', 'fromEmail', 'returnPath'] as const

/**
 * Validates what the schema cannot, and normalizes the values for storage.
 * @param allowPrivate whether hosts may have private addresses
 * @throws ProductError validation_error
 */
export function checkChange<C extends ProviderChange>(change: C, allowPrivate: boolean): C {
  for (const [member, field] of TEXT_FIELDS) checkText(field, change[member])
  const { smtpHost, fromEmail, replyToEmail, returnPath, trackingDomain } = change
  return {
    ...change,
    ...(smtpHost === undefined ? {} : { smtpHost: checkHost('smtp_host', smtpHost, allowPrivate) }),
    ...(fromEmail == null ? {} : { fromEmail: checkEmail('from_email', fromEmail) }),
    ...(replyToEmail == null ? {} : { replyToEmail: checkEmail('reply_to_email', replyToEmail) }),
    ...(returnPath == null ? {} : { returnPath: checkEmail('return_path', returnPath) }),
    ...(trackingDomain == null ? {} : { trackingDomain: checkTracking(trackingDomain) }),
  }
}

/** Whether a validated change alters the connection. Any given password counts, because passwords are not compared. */
export function touchesConnection(change: ProviderChange, current: Provider): boolean {
  const differs = (member: (typeof CONNECTION)[number]) =>
    change[member] !== undefined && change[member] !== current[member]
  return change.smtpPassword !== undefined || CONNECTION.some(differs)
}

const SERVER_FIELDS = { smtpHost: 'smtp_host', smtpUsername: 'smtp_username', smtpPort: 'smtp_port' } as const
type ServerMember = keyof typeof SERVER_FIELDS
/** Another port is one of the same server, */
const SERVER = ['smtpHost', 'smtpUsername'] as const
/** but of an outside account it may be the service of another user, as for its IMAP server. */
export const OWNED_SERVER = [...SERVER, 'smtpPort'] as const

/**
 * Keeps the stored password from a server that it was not given for: a credential that may change accounts does not thereby learn it.
 * Without TLS the password can be read on its way.
 * @param change validated @param members what names the server @throws ProductError validation_error on `smtp_password`
 */
export function refuseOtherServer(
  change: ProviderChange,
  current: Provider,
  members: readonly ServerMember[] = SERVER,
): void {
  if (change.smtpPassword !== undefined || !current.hasSmtpPassword) return
  const other = members.find((member) => change[member] !== undefined && change[member] !== current[member])
  const isPlain = change.smtpProtocol === 'none' && current.smtpProtocol !== 'none'
  if (other === undefined && !isPlain) return
  const where = other === undefined ? 'without TLS' : `to another ${SERVER_FIELDS[other]}`
  throw invalid('smtp_password', 'required', `The stored password is not sent ${where}. Give smtp_password, too.`)
}

/** The quotas after a change: null removes one, absent ones stay. @throws ProductError validation_error */
export function mergeQuotas(before: ProviderQuotas, change: QuotasInput = {}): ProviderQuotas {
  const after = { ...before }
  for (const member of Object.keys(QUOTA_NAMES) as (keyof ProviderQuotas)[]) {
    const given = change[member]
    if (given === undefined) continue
    const range = typeof given === 'number' ? { min: given, max: given } : given
    if (range !== null && range.min > range.max) {
      throw invalid(
        `quotas.${QUOTA_NAMES[member]}.min`,
        'too_big',
        'The lower end of a range must not be above the upper one.',
      )
    }
    after[member] = range
  }
  return after
}

/**
 * Refuses SMTP and sender fields for connected accounts: they send from their own address over the provider's API.
 * @throws ProductError validation_error
 */
export function refuseForeign(change: ProviderChange): void {
  const fields = [
    ['smtpHost', 'smtp_host'],
    ['smtpPort', 'smtp_port'],
    ['smtpProtocol', 'smtp_protocol'],
    ['smtpUsername', 'smtp_username'],
    ['smtpPassword', 'smtp_password'],
    ['fromEmail', 'from_email'],
    ['returnPath', 'return_path'],
  ] as const
  const issues = fields
    .filter(([member]) => change[member] !== undefined)
    .map(([, field]) => ({
      field,
      code: 'forbidden_value',
      message: `A connected account has no ${field} of its own.`,
    }))
  if (issues.length > 0) throw new ProductError('validation_error', issues[0]!.message, { issues })
}

function checkText(field: string, text: string | null | undefined): void {
  if (text == null || !/[\x00-\x1f\x7f]/.test(text)) return
  throw invalid(field, 'invalid_format', `The ${field} must not contain control characters.`)
}

/** @param allowPrivate whether it may have a private address @throws ProductError validation_error on `field` */
export function checkHost(field: string, text: string, allowPrivate: boolean): string {
  const host = text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
  if (isIP(host) !== 0) {
    if (!allowPrivate && !isPublicAddress(host)) {
      throw invalid(field, 'forbidden_value', 'The host is in a private network, which this appliance does not allow.')
    }
    return host
  }
  // With a numeric last label, a resolver would parse the name as an IPv4 address.
  if (!HOST_NAME.test(host) || /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(host)) {
    throw invalid(field, 'invalid_format', 'The host must be a DNS name or an IP address.')
  }
  if (!allowPrivate && (host === 'localhost' || host.endsWith('.localhost'))) {
    throw invalid(field, 'forbidden_value', 'The host is this machine, which this appliance does not allow.')
  }
  return host
}

function checkTracking(text: string): string {
  const host = text.toLowerCase()
  if (!HOST_NAME.test(host) || !host.includes('.')) {
    throw invalid('tracking_domain', 'invalid_format', 'The tracking domain must be a host name.')
  }
  return host
}
