// The settings of the listeners for mail programs: IMAP, submission and ManageSieve.

import { Type } from 'typebox'
import { CLIENT_LISTENERS } from './client-listeners.ts'
import { Days, Port } from './setting-types.ts'

/** Part of the list in `config.ts`, in the order of the documentation. */
export const mailProgramSettings = {
  CLIENT_PROTOCOLS: Type.Array(Type.Enum([...CLIENT_LISTENERS]), {
    default: ['imaps', 'submissions', 'submission', 'managesieve'],
    description: `Protocols for mail programs that are served: ${CLIENT_LISTENERS.join(', ')} (imap, submission and managesieve: STARTTLS). An empty list (\`,\` in the environment): none.`,
  }),
  CLIENT_BIND: Type.String({ default: '0.0.0.0', description: 'Address the listeners for mail programs listen on.' }),
  CLIENT_HOST: Type.String({
    default: '',
    description:
      'Host name mail programs connect to, which the certificate must contain. Empty: the first of MAIL_HOSTS.',
  }),
  IMAPS_PORT: { ...Port, default: 2993, description: 'TCP port of IMAP with TLS (993 on the public internet).' },
  IMAP_PORT: { ...Port, default: 2143, description: 'TCP port of IMAP with STARTTLS (143 on the public internet).' },
  SUBMISSIONS_PORT: { ...Port, default: 2465, description: 'TCP port of submission with TLS (465 in public).' },
  SUBMISSION_PORT: { ...Port, default: 2587, description: 'TCP port of submission with STARTTLS (587 in public).' },
  MANAGESIEVE_PORT: { ...Port, default: 4190, description: 'TCP port of ManageSieve (STARTTLS).' },
  CLIENT_PUBLIC_PORTS: Type.Array(Type.Integer({ minimum: 1, maximum: 65535 }), {
    default: [],
    maxItems: CLIENT_LISTENERS.length,
    description: `Ports as mail programs reach them, of ${CLIENT_LISTENERS.join(', ')}, in this order. Empty: 993, 143, 465, 587, 4190; in a trial, with a reserved name in MAIL_HOSTS such as localhost, those of the listeners.`,
  }),
  IMAP_MAX_CONNECTIONS: Type.Integer({
    default: 3000,
    minimum: 1,
    maximum: 65535,
    description: 'Maximum number of open IMAP connections (each takes some 85 KB of memory).',
  }),
  IMAP_MAX_PER_ADDRESS: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 65535,
    description: 'Maximum number of open IMAP connections per source address (IPv6: per /64).',
  }),
  IMAP_MAX_PER_MAILBOX: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 65535,
    description: 'Maximum number of open IMAP connections per mailbox.',
  }),
  IMAP_MAX_COMPRESSED: Type.Integer({
    default: 500,
    minimum: 0,
    maximum: 65535,
    description: 'IMAP connections that may compress (COMPRESS=DEFLATE) at a time; each takes some 80 KB more memory.',
  }),
  SUBMISSION_MAX_PER_ADDRESS: Type.Integer({
    default: 50,
    minimum: 1,
    maximum: 65535,
    description: 'Maximum number of open submission connections per source address (IPv6: per /64).',
  }),
  SIGN_IN_RETENTION_DAYS: {
    ...Days,
    default: 30,
    description: 'Days for which sign-ins of mail programs are kept.',
  },
} as const
