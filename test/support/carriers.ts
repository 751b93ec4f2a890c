// Transports opened for a test, and messages to deliver.

import type { Clock } from '../../src/base/clock.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Resolver } from '../../src/base/resolver.ts'
import { Vault } from '../../src/base/secrets.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { MailTokens } from '../../src/outbound/model/deps.ts'
import type { Provider } from '../../src/outbound/model/records.ts'
import type {
  DirectHandover,
  Handed,
  Handover,
  LocalHandover,
  NotTried,
  Transport,
  Verdict,
} from '../../src/outbound/model/transport.ts'
import { openSmtp } from '../../src/outbound/transports/smtp/smtp.ts'
import { type Zone, zoneResolver } from './dns.ts'

/** Test settings that allow mail servers on loopback. */
export function carrierConfig(env: Record<string, string> = {}): Config {
  const own = { MAIL_HOSTS: 'mx.mailstead.test', ALLOW_PRIVATE_SMTP_HOSTS: 'true' }
  return loadConfig({ ...own, ...env }, '/there/is/no/settings-file.json')
}

export function providerOf(given: Partial<Provider> = {}): Provider {
  return {
    n: 1,
    id: 'dprov_test',
    teamId: 'team_test',
    name: 'Test',
    type: 'smtp',
    status: 'active',
    statusReason: null,
    isShared: false,
    smtpHost: 'smtp.relay.test',
    smtpPort: 25,
    smtpProtocol: 'none',
    smtpUsername: null,
    hasSmtpPassword: false,
    fromEmail: 'ann@house.test',
    fromName: null,
    replyToEmail: null,
    replyToName: null,
    returnPath: null,
    takesVerp: false,
    oauthEmail: null,
    hasRefreshToken: false,
    quotas: { perSecond: null, perMinute: null, perHour: null, perDay: null },
    percentage: null,
    trackingDomain: null,
    remoteAccountId: null,
    connectionVersion: 1,
    createdAt: 0,
    updatedAt: 0,
    lastTestedAt: null,
    lastUsedAt: null,
    ...given,
  }
}

export const LOOPBACK_ZONE: Zone = { 'smtp.relay.test': { A: ['127.0.0.1'] } }

/** An account at a server on loopback. */
export function openAccount(
  account: Partial<Provider> & { smtpPort: number },
  given: { password?: string; clock?: Clock; resolver?: Resolver; config?: Config; mailTokens?: MailTokens } = {},
): Transport {
  const {
    password = null,
    clock = systemClock,
    resolver = zoneResolver(LOOPBACK_ZONE),
    config = carrierConfig(),
    mailTokens = { of: async () => ({ kind: 'refused', text: 'There is no token.' }) },
  } = given
  const deps = { clock, config, resolver, vault: new Vault(Buffer.alloc(32)), mailTokens }
  return openSmtp(deps, providerOf(account), password)
}

export const MAIL = Buffer.from(
  'From: ann@house.test\r\nTo: bob@out.test\r\nSubject: Hello\r\n\r\nHow are you?\r\n.\r\n..\r\nLine\r\n',
)

/** Fits every transport. */
export type AnyHandover = Handover & LocalHandover & DirectHandover

export function handover(given: Partial<AnyHandover> = {}): AnyHandover {
  const { bytes = MAIL, recipients = ['bob@out.test'] } = given
  return {
    emailId: 'eml_test',
    from: 'ann@house.test',
    mailFrom: 'b+1@bounce.house.test',
    recipients,
    hidden: [],
    bytes,
    internetMessageId: 'one@house.test',
    isForwarded: false,
    isChanged: false,
    uncertain: false,
    signal: new AbortController().signal,
    isUrgent: false,
    record: async () => {},
    lend: (use) => use(bytes, recipients, () => {}),
    ...given,
  }
}

/** The verdicts in short: "sent", "later throttled", "never recipient", and the failure of an account. */
export function shortOutcomes(handed: Handed | NotTried): string[] {
  if (handed.kind === 'not_tried') return [`not tried ${handed.failure?.cause ?? 'yet'}`]
  if (handed.kind === 'unavailable') return [`unavailable ${handed.stage} ${handed.cause}`]
  return handed.verdicts.map((verdict) => {
    if (verdict.kind === 'sent') return 'sent'
    return verdict.kind === 'later' ? `later ${verdict.cause}` : `never ${verdict.about}`
  })
}

/** The reply text for the first recipient, or of the account. */
export function wordsOf(handed: Handed | NotTried): string {
  if (handed.kind === 'not_tried') return handed.failure?.reply.text ?? ''
  return handed.kind === 'unavailable' ? handed.reply.text : handed.verdicts[0]!.reply.text
}

export function firstVerdict(handed: Handed | NotTried): Verdict {
  if (handed.kind !== 'answered') throw new Error(`${handed.kind}: ${wordsOf(handed)}`)
  return handed.verdicts[0]!
}

/** Waits for some turns of the event loop: arrived data is read by then. */
export async function turns(count = 3): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}
