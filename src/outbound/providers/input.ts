// What may be asked of a sending account (specification §2.2, decisions §3.1).

import { isIP } from 'node:net'
import { invalid, ProductError } from '../../base/errors.ts'
import { isPublicAddress } from '../../base/public-address.ts'
import { checkEmail } from '../../mime/compose/draft-rules.ts'
import type { Provider, QuotaRange, Quotas, SmtpProtocol } from '../records.ts'

/** A cap as it is asked for: a number, a range, or null for none. */
export type QuotaInput = number | QuotaRange | null

export type QuotasInput = Partial<Record<keyof Quotas, QuotaInput>>

/** What can be said of an account; what is left out of a change stays. */
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

/** A new account on SMTP. */
export type NewProvider = ProviderChange &
  Required<Pick<ProviderChange, 'name' | 'smtpHost' | 'smtpPort' | 'smtpProtocol' | 'smtpUsername' | 'smtpPassword'>>

export const NO_QUOTAS: Quotas = { perSecond: null, perMinute: null, perHour: null, perDay: null }

const QUOTA_NAMES: Record<keyof Quotas, string> = {
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
/** What a check depends on: where the server is, who signs in, and the envelope sender it has to take. */
const CONNECTION = ['smtpHost', 'smtpPort', 'smtpProtocol', 'smtpUsername', 'fromEmail', 'returnPath'] as const

/**
 * Checks what the schema cannot and gives it its stored form.
 * @param allowPrivate whether hosts may lie in private networks
 * @throws ProductError validation_error
 */
export function checkChange<C extends ProviderChange>(change: C, allowPrivate: boolean): C {
  for (const [member, field] of TEXT_FIELDS) checkText(field, change[member])
  const { smtpHost, fromEmail, replyToEmail, returnPath, trackingDomain } = change
  return {
    ...change,
    ...(smtpHost === undefined ? {} : { smtpHost: checkHost(smtpHost, allowPrivate) }),
    ...(fromEmail == null ? {} : { fromEmail: checkEmail('from_email', fromEmail) }),
    ...(replyToEmail == null ? {} : { replyToEmail: checkEmail('reply_to_email', replyToEmail) }),
    ...(returnPath == null ? {} : { returnPath: checkEmail('return_path', returnPath) }),
    ...(trackingDomain == null ? {} : { trackingDomain: checkTracking(trackingDomain) }),
  }
}

/** Whether a change, once checked, leads to another connection. A password counts as another one: it is not compared. */
export function touchesConnection(change: ProviderChange, current: Provider): boolean {
  const differs = (member: (typeof CONNECTION)[number]) =>
    change[member] !== undefined && change[member] !== current[member]
  return change.smtpPassword !== undefined || CONNECTION.some(differs)
}

/** The caps after a change: null takes one away, what is left out stays. @throws ProductError validation_error */
export function mergeQuotas(before: Quotas, change: QuotasInput = {}): Quotas {
  const after = { ...before }
  for (const member of Object.keys(QUOTA_NAMES) as (keyof Quotas)[]) {
    const asked = change[member]
    if (asked === undefined) continue
    const range = typeof asked === 'number' ? { min: asked, max: asked } : asked
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
 * Connected accounts send as whom they are connected as, over the API of their host.
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
  throw invalid(field, 'invalid_format', `The ${field} must not hold control characters.`)
}

function checkHost(text: string, allowPrivate: boolean): string {
  const host = text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
  if (isIP(host) !== 0) {
    if (!allowPrivate && !isPublicAddress(host)) {
      throw invalid(
        'smtp_host',
        'forbidden_value',
        'The host lies in a private network, which this appliance does not allow.',
      )
    }
    return host
  }
  // A resolver would take the last label for a number, and the name for an address.
  if (!HOST_NAME.test(host) || /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(host)) {
    throw invalid('smtp_host', 'invalid_format', 'The host must be a DNS name or an IP address.')
  }
  if (!allowPrivate && (host === 'localhost' || host.endsWith('.localhost'))) {
    throw invalid('smtp_host', 'forbidden_value', 'The host lies on this machine, which this appliance does not allow.')
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
