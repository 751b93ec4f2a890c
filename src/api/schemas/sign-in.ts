// Sign-ins of mail programs, and what a mail program must be set to (docs/design/mail-programs.md §1.1, §1.2).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { CLIENT_PROTOCOLS, clientSettings } from '../../config/client-protocols.ts'
import type { Config } from '../../config/config.ts'
import { SIGN_IN_OUTCOMES, type SignIn as SignInRecord } from '../../directory/keys/sign-ins.ts'
import { Nullable, Words } from '../../http/schema.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

export const SignInProtocol = Words(CLIENT_PROTOCOLS, 'What was signed in to.')
export const SignInOutcomeText = Words(
  SIGN_IN_OUTCOMES,
  '`expired` also for a revoked app password; `not_allowed`: the credential may not use this protocol, or the team is suspended; ' +
    '`too_many`: refused without looking at the secret.',
)

export const SignInJson = record(
  'SignIn',
  'A sign-in of a mail program. Equal ones within ten minutes are one.',
  {
    at: TimeOf('When the first took place.'),
    protocol: SignInProtocol,
    mechanism: Type.String({ description: 'SASL mechanism.' }),
    outcome: SignInOutcomeText,
    source: Type.String({ description: 'Address of the program.' }),
    credential_id: Nullable(
      Type.String({ description: '`apw_…`, `key_…` or `areg_…`; null when no credential was recognised.' }),
    ),
    client: Nullable(Type.String({ description: 'What the program said of itself.' })),
    times: Type.Integer({ minimum: 1, description: 'How often.' }),
  },
  {
    at: '2030-01-02T03:04:05.000Z',
    protocol: 'imap',
    mechanism: 'PLAIN',
    outcome: 'ok',
    source: '192.0.2.7',
    credential_id: 'apw_0a1b2c3d4e5f6g7h8i9j0k1l',
    client: 'Thunderbird 140.0',
    times: 3,
  },
)
export type SignInJson = Static<typeof SignInJson>

export function presentSignIn(signIn: SignInRecord): SignInJson {
  const { at, protocol, mechanism, outcome, source, credentialId: credential_id, client, times } = signIn
  return { at: isoTime(at), protocol, mechanism, outcome, source, credential_id, client, times }
}

const Endpoint = record('ClientEndpoint', 'Where a protocol is served.', {
  host: Type.String(),
  port: Type.Integer({ minimum: 1, maximum: 65535 }),
  security: Words(['tls', 'starttls'], 'TLS from the first byte, or after STARTTLS.'),
})

export const ClientSettingsJson = record(
  'ClientSettings',
  'What to enter in a mail program; null for protocols that are not served. The password is an app password.',
  {
    username: Type.String({ description: 'The address of the mailbox. Its aliases work as well.' }),
    imap: Nullable(Endpoint),
    submission: Nullable(Endpoint),
    managesieve: Nullable(Endpoint),
    setup_url: Nullable(
      Type.String({ description: 'A page with the same for people; null where no protocol is served.' }),
    ),
  },
  {
    username: 'ana@shop.example',
    imap: { host: 'mail.shop.example', port: 993, security: 'tls' },
    submission: null,
    managesieve: null,
    setup_url: 'https://mail.shop.example/mail-setup',
  },
)
export type ClientSettingsJson = Static<typeof ClientSettingsJson>

export function presentClientSettings(config: Config, email: string): ClientSettingsJson {
  const isServed = config.CLIENT_PROTOCOLS.length > 0
  return { ...clientSettings(config, email), setup_url: isServed ? `${config.APP_ORIGIN}/mail-setup` : null }
}
