// Names of the API's types that pages use.

import type { components } from './schema.d.ts'

type Schemas = components['schemas']
export type ApiKey = Schemas['ApiKey']
export type AppPassword = Schemas['AppPassword']
export type DeliveryGroup = Schemas['DeliveryGroup']
export type DeliveryLog = Schemas['DeliveryLog']
export type DeliveryLogDetail = Schemas['DeliveryLogDetail']
export type Domain = Schemas['Domain']
export type DomainCheck = Schemas['DomainCheck']
export type EmailMetrics = Schemas['EmailMetrics']
export type EmailMetricsPoint = Schemas['EmailMetricsPoint']
export type InboundLog = Schemas['InboundLog']
export type InboundLogDetail = Schemas['InboundLogDetail']
export type FilterState = Schemas['FilterState']
export type MailboxAdmin = Schemas['MailboxAdmin']
export type MailboxAlias = Schemas['MailboxAlias']
export type Member = Schemas['Member']
export type NewApiKey = Schemas['NewApiKey']
export type NewAppPassword = Schemas['NewAppPassword']
export type Provider = Schemas['Provider']
export type ProviderTest = Schemas['ProviderTest']
export type SignIn = Schemas['SignIn']
export type Suppression = Schemas['Suppression']
export type Team = Schemas['Team']
export type TeamLimit = Schemas['TeamLimit']
export type NewWebhook = Schemas['NewWebhook']
export type Webhook = Schemas['Webhook']
export type WebhookCreate = Schemas['WebhookCreate']
export type WebhookDelivery = Schemas['WebhookDelivery']
export type WebhookDeliveryDetail = Schemas['WebhookDeliveryDetail']
export type AuditEntry = Schemas['AuditEntry']
export type BillingTransaction = Schemas['BillingTransaction']

/** The signed-in person. */
export interface Self {
  email: string
  display_name: string | null
  locale: string | null
  time_zone: string | null
  teams: OwnTeam[]
  mailboxes: OwnMailbox[]
  is_operator: boolean
  sign_in: {
    passkeys: number
    password: boolean
    recovery_codes: number
    links: boolean
    allowed: ('passkey' | 'link' | 'password')[]
  }
  session_id: string
  confirmed_until: string
  version: string
}

export interface OwnTeam {
  id: string
  name: string
  member_id: string
  role: string
  permissions: string[]
  status: 'active' | 'suspended'
}

export interface OwnMailbox {
  id: string
  team_id: string
  email: string
  display_name: string | null
  access: 'owner' | 'editor' | 'reader'
  status: 'active' | 'suspended'
}
