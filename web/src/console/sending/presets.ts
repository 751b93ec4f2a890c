// Servers of well-known providers, offered by the form of a new account.

export interface Preset {
  name: string
  host: string
  port: number
  security: 'tls' | 'starttls'
}

export const PRESETS: readonly Preset[] = [
  { name: 'Amazon SES (SMTP)', host: 'email-smtp.eu-west-1.amazonaws.com', port: 587, security: 'starttls' },
  { name: 'Brevo', host: 'smtp-relay.brevo.com', port: 587, security: 'starttls' },
  { name: 'Fastmail', host: 'smtp.fastmail.com', port: 465, security: 'tls' },
  { name: 'Gmail (app password)', host: 'smtp.gmail.com', port: 465, security: 'tls' },
  { name: 'iCloud', host: 'smtp.mail.me.com', port: 587, security: 'starttls' },
  { name: 'Mailgun', host: 'smtp.mailgun.org', port: 587, security: 'starttls' },
  { name: 'Mailjet', host: 'in-v3.mailjet.com', port: 587, security: 'starttls' },
  { name: 'Postmark', host: 'smtp.postmarkapp.com', port: 587, security: 'starttls' },
  { name: 'Resend', host: 'smtp.resend.com', port: 465, security: 'tls' },
  { name: 'Scaleway', host: 'smtp.tem.scw.cloud', port: 465, security: 'tls' },
  { name: 'SendGrid', host: 'smtp.sendgrid.net', port: 587, security: 'starttls' },
  { name: 'Yahoo', host: 'smtp.mail.yahoo.com', port: 465, security: 'tls' },
]
