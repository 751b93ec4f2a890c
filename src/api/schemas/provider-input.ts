// Bodies that create and update a sending account (docs/design/contract.md §2.2).

import { type Static, type TSchema, Type } from 'typebox'
import { Nullable } from '../../http/schema.ts'
import type { NewProvider, ProviderChange, QuotasInput } from '../../outbound/providers/providers.ts'
import { SmtpProtocol } from './provider.ts'
import { record } from './record.ts'

const short = (description: string) => Type.String({ minLength: 1, maxLength: 255, description })
const shortOrNull = (description: string) => Type.Optional(Nullable(Type.String({ maxLength: 255, description })))
const Email = Type.String({ minLength: 3, maxLength: 255, pattern: '^[^@\\s]+@[^@\\s]+$' })

const count = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
const Cap = Type.Union(
  [
    Type.Integer({ ...count, description: 'A fixed cap.' }),
    Type.Object(
      { min: Type.Integer(count), max: Type.Integer(count) },
      { additionalProperties: false, description: 'A range; the cap of each window is a random number in it.' },
    ),
    Type.Null(),
  ],
  { description: 'Recipients in a window: a number, a range, or null for no cap.' },
)

const OPTIONAL = {
  from_email: Type.Optional(Nullable({ ...Email, description: 'Default From address.' })),
  from_name: shortOrNull('Default From display name.'),
  reply_to_email: Type.Optional(Nullable({ ...Email, description: 'Default Reply-To address.' })),
  reply_to_name: shortOrNull('Default Reply-To display name.'),
  return_path: Type.Optional(
    Nullable({
      ...Email,
      description: 'Envelope sender of all messages of the account, which receives bounces; null for its `from_email`.',
    }),
  ),
  quotas: Type.Optional(
    record('QuotasInput', 'Caps; members left out stay.', {
      per_second: Type.Optional(Cap),
      per_minute: Type.Optional(Cap),
      per_hour: Type.Optional(Cap),
      per_day: Type.Optional(Cap),
    }),
  ),
  percentage: Type.Optional(
    Nullable(Type.Integer({ minimum: 0, maximum: 100, description: 'Share of the traffic; 0 takes none.' })),
  ),
  tracking_domain: shortOrNull('Host name for tracking.'),
}

const REQUIRED = {
  name: short('A note for the list of accounts.'),
  smtp_host: { ...short('DNS name or IP address of the server.'), examples: ['smtp.example.com'] },
  smtp_port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'Usually 587 or 465.' }),
  smtp_protocol: SmtpProtocol,
  smtp_username: short('User name.'),
  smtp_password: Type.String({ minLength: 1, maxLength: 500, description: 'Stored encrypted, and never shown.' }),
}

export const ProviderCreate = record(
  'ProviderCreate',
  'A new SMTP sending account.',
  { ...REQUIRED, ...OPTIONAL },
  {
    name: 'Office',
    smtp_host: 'smtp.example.com',
    smtp_port: 587,
    smtp_protocol: 'starttls',
    smtp_username: 'shop',
    smtp_password: 'secret',
  },
)
export type ProviderCreate = Static<typeof ProviderCreate>

type Optional<T extends Record<string, TSchema>> = { [K in keyof T]: ReturnType<typeof Type.Optional<T[K]>> }
const optional = Object.fromEntries(
  Object.entries(REQUIRED).map(([name, schema]) => [name, Type.Optional(schema)]),
) as unknown as Optional<typeof REQUIRED>

export const ProviderUpdate = Type.Object(
  { ...optional, ...OPTIONAL },
  {
    title: 'ProviderUpdate',
    description: 'The changes; members left out stay.',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ name: 'Office, new', from_name: 'Shop' }],
  },
)
export type ProviderUpdate = Static<typeof ProviderUpdate>

export function readProvider(body: ProviderUpdate): ProviderChange {
  const { quotas } = body
  const change: ProviderChange = {
    name: body.name,
    smtpHost: body.smtp_host,
    smtpPort: body.smtp_port,
    smtpProtocol: body.smtp_protocol,
    smtpUsername: body.smtp_username,
    smtpPassword: body.smtp_password,
    fromEmail: body.from_email,
    fromName: body.from_name,
    replyToEmail: body.reply_to_email,
    replyToName: body.reply_to_name,
    returnPath: body.return_path,
    quotas: quotas && readQuotas(quotas),
    percentage: body.percentage,
    trackingDomain: body.tracking_domain,
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

export function readNewProvider(body: ProviderCreate): NewProvider {
  return readProvider(body) as NewProvider
}

function readQuotas(quotas: NonNullable<ProviderUpdate['quotas']>): QuotasInput {
  return {
    perSecond: quotas.per_second,
    perMinute: quotas.per_minute,
    perHour: quotas.per_hour,
    perDay: quotas.per_day,
  }
}
