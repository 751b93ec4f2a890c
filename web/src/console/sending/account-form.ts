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
