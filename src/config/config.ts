// All settings: name, type, default and description. The JSON schema, the example file and the README table are generated from this list.

import { type Static, type TSchema, Type } from 'typebox'
import { internetSettings } from './internet-settings.ts'
import { mailProgramSettings } from './mail-program-settings.ts'
import {
  BACKUP_TIMES_MAX,
  BackupKeep,
  BaseUrl,
  CURRENCY_PATTERN,
  Days,
  EXTENSION_PATTERN,
  HostName,
  HostPort,
  Origin,
  Port,
  REGION_PATTERN,
  TEAM_ID_PATTERN,
  TimeOfDay,
  TOPIC_ARN_PATTERN,
} from './setting-types.ts'
import { spamSettings } from './spam-settings.ts'

/** Features of the Mailbox API that an operator can disable (docs/design/mailbox.md §2). */
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
  'imap',
  'submission',
  'managesieve',
  'app_passwords',
  'forwarding',
] as const
export type MailboxGate = (typeof MAILBOX_GATES)[number]

/** How people can sign in. */
export const SIGN_IN_METHODS = ['passkey', 'link', 'password'] as const

/** One schema per setting. `default` applies when neither environment nor file sets it; `description` is shown to the operator. */
export const settings = {
  DATA_DIR: Type.String({
    default: './data',
    minLength: 1,
    description: 'Folder in which Mailstead stores all its data.',
  }),
  BACKUP_DIR: Type.String({
    default: '',
    description:
      'Folder of the backups that are scheduled, or started in the browser or by the operator API. Empty: backups in DATA_DIR. Another disk is safer.',
  }),
  BACKUP_TIMES: Type.Array(TimeOfDay, {
    default: [],
    maxItems: BACKUP_TIMES_MAX,
    description: 'Times of the day, in UTC, at which a backup is made, such as 03:15. Empty: none is scheduled.',
  }),
  BACKUP_KEEP: {
    ...BackupKeep,
    default: '7d 4w 6m',
    description:
      'Which scheduled backups are kept: the newest of each of the last days, weeks and months that have one, or all. Without BACKUP_TIMES none is deleted.',
  },
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Lowest level of messages written to the log.',
  }),

  HTTP_PORT: { ...Port, default: 8080, description: 'TCP port of the Management and Mailbox API.' },
  HTTP_BIND: Type.String({ default: '0.0.0.0', description: 'Address the HTTP servers listen on.' }),
  HTTP_MAX_PER_ADDRESS: Type.Integer({
    default: 500,
    minimum: 1,
    maximum: 65535,
    description:
      'Maximum number of open connections of each HTTP port per source address (IPv6: per /64). Those of TRUSTED_PROXIES are not counted.',
  }),
  SEND_PORT: { ...Port, default: 8081, description: 'TCP port of the Sending API.' },
  APP_ORIGIN: {
    ...Origin,
    default: '',
    description:
      'Public origin of the Management and Mailbox API, such as https://mail.example.com, without a path. Empty: http://localhost:HTTP_PORT.',
  },
  SEND_ORIGIN: {
    ...Origin,
    default: '',
    description:
      'Public origin of the Sending API, without a path. That of APP_ORIGIN: the Sending API is below APP_ORIGIN/send. Empty: http://localhost:SEND_PORT.',
  },
  APP_SECRET: Type.String({
    default: '',
    description:
      'Root secret from which all keys are derived, at least 32 bytes. Empty: generated at the first start and stored in DATA_DIR/keys/app-secret.',
  }),
  TRUSTED_PROXIES: Type.Array(Type.String(), {
    default: [],
    description: 'Addresses or CIDR ranges of reverse proxies whose X-Forwarded-For header is trusted.',
  }),
  CORS_ORIGINS: Type.Array(Type.String(), {
    default: [],
    description: 'Origins that browsers may call the API from (CORS).',
  }),
  RATE_LIMIT_PER_MINUTE: Type.Integer({
    default: 600,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Requests allowed per minute and credential.',
  }),

  SMTP_PORT: { ...Port, default: 2525, description: 'TCP port on which mail is received (25 on the public internet).' },
  SMTP_BIND: Type.String({ default: '0.0.0.0', description: 'Address the SMTP server listens on.' }),
  MAIL_HOSTS: Type.Array(HostName, {
    default: ['localhost'],
    minItems: 1,
    description: 'Host names of this server in MX records; the first is its name in SMTP greetings.',
  }),
  AGENT_MAILBOX_DOMAIN: { ...HostName, default: 'agents.localhost', description: 'Mail domain of agent mailboxes.' },
  TLS_CERT_FILE: Type.String({
    default: '',
    description:
      'File with the PEM certificate chain of the SMTP server and of mail programs, read again when it changes. Empty: a self-signed certificate is generated.',
  }),
  TLS_KEY_FILE: Type.String({ default: '', description: 'File with the PEM private key of TLS_CERT_FILE.' }),
  EXTRA_CA_FILE: Type.String({
    default: '',
    description: 'File with PEM certificates of additional certificate authorities trusted for outgoing connections.',
  }),
  DNS_SERVERS: Type.Array(Type.String(), {
    default: [],
    description: 'DNS servers as ip, ip:port or [ipv6]:port. Empty: those of the operating system.',
  }),
  PROXY_PROTOCOL_FROM: Type.Array(Type.String(), {
    default: [],
    description:
      'Addresses or CIDR ranges of proxies whose PROXY protocol header (v1 or v2) is trusted on the ports of SMTP and of mail programs.',
  }),
  TRUSTED_ARC: Type.Array(HostName, {
    default: [],
    description:
      'Domains whose ARC seal is trusted: a message that fails DMARC with policy reject is accepted if they authenticated it.',
  }),
  ...spamSettings,
  SMTP_MAX_CONNECTIONS: Type.Integer({
    default: 5000,
    minimum: 1,
    maximum: 65535,
    description: 'Maximum number of open SMTP connections.',
  }),
  SMTP_MAX_PER_ADDRESS: Type.Integer({
    default: 50,
    minimum: 1,
    maximum: 65535,
    description: 'Maximum number of open SMTP connections per source address (IPv6: per /64).',
  }),
  RECEIVE_THREADS: Type.Integer({
    default: 1,
    minimum: 0,
    maximum: 64,
    description:
      'Threads that speak SMTP and check messages, started when connections need them. 0: the first thread speaks SMTP, and one thread checks messages.',
  }),

  ...internetSettings,

  ...mailProgramSettings,

  LOG_RETENTION_DAYS: {
    ...Days,
    default: 90,
    description: 'Days for which rows of the inbound and delivery logs are kept.',
  },

  GOOGLE_CLIENT_ID: Type.String({
    default: '',
    description:
      'OAuth client id at Google, with the redirect URI APP_ORIGIN/oauth/callback/gmail_api. Empty: Gmail accounts are disabled.',
  }),
  GOOGLE_CLIENT_SECRET: Type.String({ default: '', description: 'OAuth client secret at Google.' }),
  GOOGLE_AUTH_BASE: {
    ...BaseUrl,
    default: 'https://accounts.google.com',
    description: 'Base URL of the Google OAuth authorization endpoint.',
  },
  GOOGLE_TOKEN_BASE: {
    ...BaseUrl,
    default: 'https://oauth2.googleapis.com',
    description: 'Base URL of the Google OAuth token endpoint.',
  },
  GOOGLE_API_BASE: { ...BaseUrl, default: 'https://gmail.googleapis.com', description: 'Base URL of the Gmail API.' },
  MICROSOFT_CLIENT_ID: Type.String({
    default: '',
    description:
      'OAuth client id at Microsoft, with the redirect URI APP_ORIGIN/oauth/callback/outlook_api. Empty: Outlook accounts are disabled.',
  }),
  MICROSOFT_CLIENT_SECRET: Type.String({ default: '', description: 'OAuth client secret at Microsoft.' }),
  MICROSOFT_AUTH_BASE: {
    ...BaseUrl,
    default: 'https://login.microsoftonline.com/common',
    description: 'Base URL of the Microsoft OAuth authorization and token endpoints.',
  },
  MICROSOFT_API_BASE: {
    ...BaseUrl,
    default: 'https://graph.microsoft.com',
    description: 'Base URL of the Microsoft Graph API.',
  },
  SES_ACCESS_KEY_ID: Type.String({
    default: '',
    description: 'Access key id of the shared Amazon SES account. Empty: there is no shared account.',
  }),
  SES_SECRET_ACCESS_KEY: Type.String({ default: '', description: 'Secret access key of SES_ACCESS_KEY_ID.' }),
  SES_REGION: Type.String({
    default: 'us-east-1',
    pattern: REGION_PATTERN,
    description: 'Region of the shared Amazon SES account.',
  }),
  SES_ENDPOINT: { ...Origin, default: '', description: 'Origin of the SES API. Empty: that of SES_REGION.' },
  SES_TOPIC_ARNS: Type.Array(Type.String({ pattern: TOPIC_ARN_PATTERN }), {
    default: [],
    description: 'ARNs of SNS topics whose SES notifications are trusted; each is subscribed to APP_ORIGIN/hooks/ses.',
  }),

  TRASH_RETENTION_DAYS: { ...Days, default: 30, description: 'Days for which messages stay in Trash and Junk.' },
  DELETED_MAILBOX_RETENTION_DAYS: {
    ...Days,
    default: 30,
    description: 'Days for which the content of a deleted mailbox is kept.',
  },
  OPERATOR_BIND: {
    ...HostPort,
    default: '127.0.0.1:9090',
    description: 'Address and port of the Operator API.',
  },
  DIRECT_DELIVERY: Type.Boolean({
    default: true,
    description: 'Deliver directly to the MX hosts of a recipient when no sending account applies.',
  }),
  DIRECT_PORT: {
    ...Port,
    default: 25,
    minimum: 1,
    description: 'TCP port of remote mail servers for direct delivery; change it only for tests.',
  },
  DIRECT_IPV6: Type.Boolean({
    default: true,
    description:
      'Deliver directly over IPv6 too. false: only to mail servers without an IPv4 address; for an IPv6 address without reverse DNS, which many servers refuse.',
  }),
  ALLOW_PRIVATE_SMTP_HOSTS: Type.Boolean({
    default: false,
    description: 'Allow sending accounts and remote mail servers at private network addresses.',
  }),
  ALLOW_PRIVATE_IMAP_HOSTS: Type.Boolean({
    default: false,
    description: 'Allow outside accounts at private network addresses, and without TLS.',
  }),
  REMOTE_CONNECTIONS: Type.Integer({
    default: 50,
    minimum: 1,
    maximum: 1000,
    description: 'Maximum number of connections to outside accounts at a time.',
  }),
  REMOTE_MAIL_PER_DAY: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description: 'MiB fetched per outside account and UTC day; 0: only what its provider allows.',
  }),
  ALLOW_PRIVATE_WEBHOOKS: Type.Boolean({ default: false, description: 'Allow webhooks at private network addresses.' }),
  PICTURES: Type.Boolean({
    default: true,
    description: 'Fetch the remote pictures of messages for their readers, when these ask for them.',
  }),
  WEBHOOK_PAYLOAD_RETENTION_DAYS: {
    ...Days,
    default: 7,
    description: 'Days for which an event and the payload of its webhook deliveries are kept.',
  },
  BILLING_CURRENCY: Type.String({
    default: 'USD',
    pattern: CURRENCY_PATTERN,
    description: 'Currency of the billing summary.',
  }),
  BILLING_UNIT_PRICE: Type.Number({
    default: 0,
    minimum: 0,
    maximum: 100,
    description: 'Price per recipient of a sent message, with up to six decimal places; 0: metered, not charged.',
  }),
  BILLING_ENFORCE: Type.Boolean({
    default: false,
    description: 'Reject messages that exceed the credit of the team, queued messages included.',
  }),
  ATTACHMENT_EXTRA_EXTENSIONS: Type.Array(Type.String({ pattern: EXTENSION_PATTERN }), {
    default: [],
    description: 'Additional file name extensions allowed for attachments of sent messages, without a dot.',
  }),
  MAILBOX_GATED: Type.Array(Type.Enum([...MAILBOX_GATES]), {
    default: [],
    description: `Features of the Mailbox API to disable for all mailboxes: ${MAILBOX_GATES.join(', ')}.`,
  }),
  CLAMAV_HOST: Type.String({
    default: '',
    description:
      'host:port of a ClamAV daemon (clamd) that scans uploads and received messages. Empty: nothing is scanned.',
  }),
  PDFTOTEXT_PATH: Type.String({
    default: '',
    description: 'Path of pdftotext (poppler), which extracts the text of PDF files. Empty: PDF files are not parsed.',
  }),
  AGENT_REGISTRATION: Type.Enum(['on', 'off'], {
    default: 'on',
    description: 'Whether agents may register mailboxes.',
  }),
  AGENT_VARIANT: Type.Enum(['proof_of_work', 'durable_token'], {
    default: 'proof_of_work',
    description: 'How agents register: with a proof of work and short-lived tokens, or with a durable token.',
  }),
  POW_SECRET: Type.String({
    default: '',
    description: 'Secret that signs proof-of-work challenges, at least 32 bytes. Empty: derived from APP_SECRET.',
  }),
  POW_COST: Type.Integer({
    default: 10_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'PBKDF2 iterations of one attempt to solve a challenge.',
  }),
  AGENT_IDLE_DAYS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 3660,
    description: 'Days of inactivity after which an agent is revoked; 0: never.',
  }),
  SIGN_IN: Type.Array(Type.Enum(SIGN_IN_METHODS), {
    default: ['passkey', 'link'],
    minItems: 1,
    description: 'How people may sign in: passkey, link (mailed), password. Recovery codes always work.',
  }),
  OPERATOR_WEB: Type.Boolean({
    default: true,
    description: 'Whether people who are operators (mailstead operator grant) reach the operator pages in the browser.',
  }),
  SIGN_IN_LINKS_TO_LOCAL: Type.Boolean({
    default: false,
    description:
      'Send sign-in links also to mailboxes of this server: anyone with a key of such a mailbox can then sign in as its owner.',
  }),
  AGENT_SEND_HOURLY: Type.Integer({
    default: 100,
    minimum: 0,
    description: 'Maximum number of recipients per hour and agent.',
  }),
  AGENT_SEND_DAILY: Type.Integer({
    default: 500,
    minimum: 0,
    description: 'Maximum number of recipients per day and agent.',
  }),
  AGENT_ROUTE_TEAM: Type.String({
    default: '',
    pattern: TEAM_ID_PATTERN,
    description:
      'Team whose sending accounts are used for messages of agents and of the server itself. Empty: these are delivered directly. ' +
      'Anyone who manages these accounts can read sign-in links.',
  }),
} as const satisfies Record<string, TSchema>

type Settings = { [K in keyof typeof settings]: Static<(typeof settings)[K]> }

/** All settings, validated. Names are those of the environment variables. */
export type Config = Readonly<Settings>
