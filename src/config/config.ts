// Every setting of the house: its name, type, default and meaning. The operator's schema and the README are made from this list.

import { type Static, type TSchema, Type } from 'typebox'

const Port = Type.Integer({ minimum: 0, maximum: 65535 })
const Origin = Type.String({ pattern: '^(https?://[^/?#@\\s]+)?$' })
const BaseUrl = Type.String({ pattern: '^https?://[^?#@\\s]*[^/?#@\\s]$' })
const HostName = Type.String({
  pattern: '^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
})
const HostPort = Type.String({ pattern: '^(\\[[0-9a-fA-F:.]+\\]|[0-9.]+):[0-9]{1,5}$' })
const Days = Type.Integer({ minimum: 1, maximum: 3660 })

/** Features of the Mailbox API an operator can withhold (decisions §10.2). */
export const MAILBOX_GATES = [
  'identity_mutation',
  'quota_mutation',
  'vacation_response',
  'filter_script_writes',
  'events',
  'raw_protocol',
  'attachment_parsing',
  'message_copy',
  'message_import',
  'message_parse',
  'blob_lookup',
  'blob_copy',
] as const
export type MailboxGate = (typeof MAILBOX_GATES)[number]

/** One schema per setting. `default` is what holds when nobody says otherwise; `description` is what the operator reads. */
export const settings = {
  DATA_DIR: Type.String({
    default: './data',
    minLength: 1,
    description: 'Folder that holds everything Mailstead keeps.',
  }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'How much is written to the log.',
  }),

  HTTP_PORT: { ...Port, default: 8080, description: 'TCP port of the Management and Mailbox API.' },
  HTTP_BIND: Type.String({ default: '0.0.0.0', description: 'Address both HTTP ports listen on.' }),
  SEND_PORT: { ...Port, default: 8081, description: 'TCP port of the Sending API.' },
  APP_ORIGIN: {
    ...Origin,
    default: '',
    description: 'Public origin of the Management and Mailbox API, without a path. Empty: http://localhost:HTTP_PORT.',
  },
  SEND_ORIGIN: {
    ...Origin,
    default: '',
    description: 'Public origin of the Sending API; differs from APP_ORIGIN. Empty: http://localhost:SEND_PORT.',
  },
  APP_SECRET: Type.String({
    default: '',
    description: 'Root secret, at least 32 bytes as text. Empty: made at setup and kept in DATA_DIR/keys/app-secret.',
  }),
  TRUSTED_PROXIES: Type.Array(Type.String(), {
    default: [],
    description: 'Addresses or CIDR ranges whose X-Forwarded-For is believed.',
  }),
  CORS_ORIGINS: Type.Array(Type.String(), {
    default: [],
    description: 'Origins whose browsers may call the API routes.',
  }),
  RATE_LIMIT_PER_MINUTE: Type.Integer({
    default: 600,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Requests per minute and credential.',
  }),

  SMTP_PORT: { ...Port, default: 2525, description: 'TCP port mail is received on (25 in public).' },
  SMTP_BIND: Type.String({ default: '0.0.0.0', description: 'Address the SMTP port listens on.' }),
  MAIL_HOSTS: Type.Array(HostName, {
    default: ['localhost'],
    minItems: 1,
    description: 'Host names of this appliance in MX records; the first one is its name in SMTP.',
  }),
  AGENT_MAILBOX_DOMAIN: { ...HostName, default: 'agents.localhost', description: 'Mail domain of agent inboxes.' },
  TLS_CERT_FILE: Type.String({
    default: '',
    description: 'PEM certificate chain for STARTTLS. Empty: a self-signed one of the setup.',
  }),
  TLS_KEY_FILE: Type.String({ default: '', description: 'PEM private key that belongs to TLS_CERT_FILE.' }),
  EXTRA_CA_FILE: Type.String({
    default: '',
    description: 'PEM certificates trusted beside the usual ones for outgoing connections.',
  }),
  DNS_SERVERS: Type.Array(Type.String(), {
    default: [],
    description: 'Name servers as ip or ip:port ([v6]:port). Empty: those of the system.',
  }),
  PROXY_PROTOCOL_FROM: Type.Array(Type.String(), {
    default: [],
    description: 'Addresses or CIDR ranges whose PROXY v1/v2 header is believed on the SMTP port.',
  }),
  TRUSTED_ARC: Type.Array(HostName, {
    default: [],
    description: 'Domains whose ARC seal lets mail pass that a DMARC reject policy would refuse.',
  }),
  SPAM_JUNK_SCORE: Type.Number({
    default: 5,
    minimum: 0,
    maximum: 1000,
    description:
      'Spam score from which mail goes to Junk. A message whose author is unclear, or that names a domain of this appliance without proof, goes there whatever its score.',
  }),
  SPAM_REFUSE_SCORE: Type.Number({
    default: 15,
    minimum: 0,
    maximum: 1000,
    description: 'Spam score from which mail is refused.',
  }),
  SMTP_MAX_CONNECTIONS: Type.Integer({
    default: 5000,
    minimum: 1,
    maximum: 65535,
    description: 'Open SMTP connections in all.',
  }),
  SMTP_MAX_PER_ADDRESS: Type.Integer({
    default: 50,
    minimum: 1,
    maximum: 65535,
    description: 'Open SMTP connections per source address (IPv6: per /64).',
  }),

  LOG_RETENTION_DAYS: {
    ...Days,
    default: 90,
    description: 'Days the rows of the inbound and delivery logs are kept.',
  },

  GOOGLE_CLIENT_ID: Type.String({
    default: '',
    description:
      'OAuth client id at Google, with the redirect URI APP_ORIGIN/oauth/callback/gmail_api. Empty: no Gmail accounts.',
  }),
  GOOGLE_CLIENT_SECRET: Type.String({ default: '', description: 'OAuth client secret at Google.' }),
  GOOGLE_AUTH_BASE: {
    ...BaseUrl,
    default: 'https://accounts.google.com',
    description: 'Where a person allows the use of a Google account.',
  },
  GOOGLE_TOKEN_BASE: {
    ...BaseUrl,
    default: 'https://oauth2.googleapis.com',
    description: 'Where Google gives tokens.',
  },
  GOOGLE_API_BASE: { ...BaseUrl, default: 'https://gmail.googleapis.com', description: 'The Gmail API.' },
  MICROSOFT_CLIENT_ID: Type.String({
    default: '',
    description:
      'OAuth client id at Microsoft, with the redirect URI APP_ORIGIN/oauth/callback/outlook_api. Empty: no Outlook accounts.',
  }),
  MICROSOFT_CLIENT_SECRET: Type.String({ default: '', description: 'OAuth client secret at Microsoft.' }),
  MICROSOFT_AUTH_BASE: {
    ...BaseUrl,
    default: 'https://login.microsoftonline.com/common',
    description: 'Where a person allows the use of a Microsoft account, and where Microsoft gives tokens.',
  },
  MICROSOFT_API_BASE: { ...BaseUrl, default: 'https://graph.microsoft.com', description: 'The Microsoft Graph API.' },
  SES_ACCESS_KEY_ID: Type.String({
    default: '',
    description: 'Access key of the shared Amazon SES account. Empty: no shared account.',
  }),
  SES_SECRET_ACCESS_KEY: Type.String({ default: '', description: 'Secret that belongs to SES_ACCESS_KEY_ID.' }),
  SES_REGION: Type.String({
    default: 'us-east-1',
    pattern: '^[a-z0-9-]{1,32}$',
    description: 'Region of the shared Amazon SES account.',
  }),
  SES_ENDPOINT: { ...Origin, default: '', description: 'Address of the SES API. Empty: that of the region.' },
  SES_TOPIC_ARNS: Type.Array(
    Type.String({ pattern: '^arn:[a-z0-9-]+:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$' }),
    {
      default: [],
      description:
        'SNS topics whose notifications about sent mail are believed; each is subscribed to APP_ORIGIN/hooks/ses.',
    },
  ),

  TRASH_RETENTION_DAYS: { ...Days, default: 30, description: 'Days mail stays in Trash and Junk.' },
  DELETED_MAILBOX_RETENTION_DAYS: {
    ...Days,
    default: 30,
    description: 'Days the content of a deleted mailbox is kept.',
  },
  OPERATOR_BIND: {
    ...HostPort,
    default: '127.0.0.1:9090',
    description: 'Address and port of the Operator API.',
  },
  DIRECT_DELIVERY: Type.Boolean({
    default: true,
    description: 'Delivers to the MX of a recipient where no sending account fits.',
  }),
  DIRECT_PORT: {
    ...Port,
    default: 25,
    minimum: 1,
    description: 'TCP port of the mail servers of others; another one only for trials.',
  },
  ALLOW_PRIVATE_SMTP_HOSTS: Type.Boolean({
    default: false,
    description: 'Sending accounts and mail servers of others may lie in private networks.',
  }),
  ALLOW_PRIVATE_WEBHOOKS: Type.Boolean({ default: false, description: 'Webhooks may lie in private networks.' }),
  WEBHOOK_PAYLOAD_RETENTION_DAYS: {
    ...Days,
    default: 7,
    description: 'Days an event and the payload of its webhook deliveries are kept.',
  },
  BILLING_CURRENCY: Type.String({
    default: 'USD',
    pattern: '^[A-Z]{3}$',
    description: 'Currency of the billing summary.',
  }),
  BILLING_UNIT_PRICE: Type.Number({
    default: 0,
    minimum: 0,
    maximum: 100,
    description: 'Price of one recipient a mail was sent to, to six places; 0: metered, not charged.',
  }),
  BILLING_ENFORCE: Type.Boolean({
    default: false,
    description: 'Refuses mail a team has no credit for, that of what still waits included.',
  }),
  ATTACHMENT_EXTRA_EXTENSIONS: Type.Array(Type.String({ pattern: '^[a-z0-9]{1,16}$' }), {
    default: [],
    description: 'File name extensions that may be sent beside the usual ones.',
  }),
  MAILBOX_GATED: Type.Array(Type.Enum([...MAILBOX_GATES]), {
    default: [],
    description: `Features of the Mailbox API that are withheld from everybody: ${MAILBOX_GATES.join(', ')}.`,
  }),
  CLAMAV_HOST: Type.String({
    default: '',
    description: 'host:port of a ClamAV daemon (clamd) that scans uploads. Empty: they are not scanned.',
  }),
  PDFTOTEXT_PATH: Type.String({
    default: '',
    description: 'Program that turns PDF files into text (pdftotext of poppler). Empty: PDF files are not looked into.',
  }),
  AGENT_REGISTRATION: Type.Enum(['on', 'off'], { default: 'on', description: 'Agents may register inboxes.' }),
  AGENT_VARIANT: Type.Enum(['proof_of_work', 'durable_token'], {
    default: 'proof_of_work',
    description: 'How agents register: by a proof of work and short-lived tokens, or by a durable token at once.',
  }),
  POW_SECRET: Type.String({
    default: '',
    description: 'Secret that signs challenges, at least 32 bytes as text. Empty: derived from APP_SECRET.',
  }),
  POW_COST: Type.Integer({
    default: 10_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'PBKDF2 iterations of one try at a challenge.',
  }),
  AGENT_IDLE_DAYS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 3660,
    description: 'Days after which an unused agent is revoked; 0: never.',
  }),
  SIGN_IN_LINKS_TO_LOCAL: Type.Boolean({
    default: false,
    description:
      'Mails links that sign in also to mailboxes of this appliance: whoever holds a key of such a mailbox can then sign in as its owner.',
  }),
  AGENT_SEND_HOURLY: Type.Integer({ default: 100, minimum: 0, description: 'Recipients per hour and agent.' }),
  AGENT_SEND_DAILY: Type.Integer({ default: 500, minimum: 0, description: 'Recipients per day and agent.' }),
  AGENT_ROUTE_TEAM: Type.String({
    default: '',
    pattern: '^(team_[a-z0-9]{24})?$',
    description:
      'Team whose sending accounts carry the mail of agents and of the appliance itself. Empty: straight to the mail servers of others. ' +
      'Whoever manages these accounts can read links that sign in.',
  }),
} as const satisfies Record<string, TSchema>

type Settings = { [K in keyof typeof settings]: Static<(typeof settings)[K]> }

/** All settings, checked. Names are those of the environment. */
export type Config = Readonly<Settings>
