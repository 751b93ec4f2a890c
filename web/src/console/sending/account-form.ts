// What the form of an SMTP account holds, and the body of its request.

import type { Provider } from '../../api/types.ts'

export interface AccountForm {
  name: string
  host: string
  port: string
  security: 'starttls' | 'tls' | 'ssl' | 'none'
  user: string
  password: string
  from: string
  share: string
  perMinute: string
  perHour: string
  perDay: string
}

export const EMPTY_FORM: AccountForm = {
  name: '',
  host: '',
  port: '587',
  security: 'starttls',
  user: '',
  password: '',
  from: '',
  share: '',
  perMinute: '',
  perHour: '',
  perDay: '',
}

const textOf = (value: number | null | undefined) => (value == null ? '' : String(value))
const numberOf = (text: string) => (text.trim() === '' ? null : Number(text))

export function formOf(provider: Provider): AccountForm {
  const { quotas } = provider
  return {
    name: provider.name,
    host: provider.smtp_host ?? '',
    port: textOf(provider.smtp_port),
    security: provider.smtp_protocol ?? 'starttls',
    user: provider.smtp_username ?? '',
    password: '',
    from: provider.from_email ?? '',
    share: textOf(provider.percentage),
    perMinute: textOf(quotas.per_minute?.max),
    perHour: textOf(quotas.per_hour?.max),
    perDay: textOf(quotas.per_day?.max),
  }
}

/** What every account has. */
export function commonBody(form: AccountForm) {
  return {
    name: form.name.trim(),
    from_email: form.from.trim() || null,
    percentage: numberOf(form.share),
    quotas: { per_minute: numberOf(form.perMinute), per_hour: numberOf(form.perHour), per_day: numberOf(form.perDay) },
  }
}

/** What only an SMTP account has. */
export function smtpBody(form: AccountForm) {
  return {
    smtp_host: form.host.trim(),
    smtp_port: Number(form.port),
    smtp_protocol: form.security,
    smtp_username: form.user.trim(),
  }
}

const MEMBERS = {
  name: 'name',
  from: 'from_email',
  share: 'percentage',
  host: 'smtp_host',
  port: 'smtp_port',
  security: 'smtp_protocol',
  user: 'smtp_username',
} as const
const QUOTAS = { perMinute: 'per_minute', perHour: 'per_hour', perDay: 'per_day' } as const

/** What was changed, as the API names it. */
export function changedBody(form: AccountForm, changed: Partial<AccountForm>) {
  const whole = { ...commonBody(form), ...smtpBody(form) }
  const has = (field: string) => field in changed
  const members = Object.entries(MEMBERS).flatMap(([field, member]) => (has(field) ? [[member, whole[member]]] : []))
  const quotas = Object.entries(QUOTAS).flatMap(([field, name]) => (has(field) ? [[name, whole.quotas[name]]] : []))
  return {
    ...(Object.fromEntries(members) as Partial<typeof whole>),
    ...(quotas.length === 0 ? {} : { quotas: Object.fromEntries(quotas) as Partial<typeof whole.quotas> }),
    ...(changed.password ? { smtp_password: changed.password } : {}),
  }
}
