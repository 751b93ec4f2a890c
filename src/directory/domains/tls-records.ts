// The MTA-STS policy of a domain here (RFC 8461), and the records by which others find it and report about TLS (RFC 8460).

import { isIP } from 'node:net'
import { sha256 } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import { type StsMode, stsPolicyText } from '../../tls-policy/sts.ts'
import { isHostName } from '../names/domain-name.ts'

/** The first label of the name that serves policies. */
export const POLICY_LABEL = 'mta-sts'
/** Local part that TLS reports are sent to, at the mail host. */
export const TLS_REPORTS_TO = 'tlsrpt'
/** Seconds. While it is tested, a mistake is over after a day. */
const MAX_AGE: Readonly<Record<StsMode, number>> = { testing: 86_400, enforce: 604_800, none: 86_400 }
/** RFC 8461 §3.1 allows 32 characters. */
const ID_LENGTH = 24

/** A record that protects mail to the domain: recommended, not required. */
export interface TlsRecord {
  name: string
  type: 'TXT' | 'CNAME'
  value: string
}

/** The text that is served at `mta-sts.<domain>`. */
export function ownPolicy(mode: StsMode, { MAIL_HOSTS }: Pick<Config, 'MAIL_HOSTS'>): string {
  return stsPolicyText({ mode, mx: [...MAIL_HOSTS], maxAge: MAX_AGE[mode] })
}

/** The id of the record: that of the text, so that another text has another id. */
export function policyId(text: string): string {
  return sha256(Buffer.from(text)).toString('hex').slice(0, ID_LENGTH)
}

/** None in a trial, whose origin is no name that HTTPS can be served under. */
export function tlsRecords(
  domain: string,
  mode: StsMode,
  config: Pick<Config, 'MAIL_HOSTS' | 'APP_ORIGIN'>,
): TlsRecord[] {
  const { hostname, protocol } = new URL(config.APP_ORIGIN)
  if (protocol !== 'https:' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || !isHostName(hostname)) return []
  const id = policyId(ownPolicy(mode, config))
  return [
    { name: `_${POLICY_LABEL}.${domain}`, type: 'TXT', value: `v=STSv1; id=${id}` },
    { name: `${POLICY_LABEL}.${domain}`, type: 'CNAME', value: hostname },
    {
      name: `_smtp._tls.${domain}`,
      type: 'TXT',
      value: `v=TLSRPTv1; rua=mailto:${TLS_REPORTS_TO}@${config.MAIL_HOSTS[0]}`,
    },
  ]
}
