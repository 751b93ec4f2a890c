// The client for the operator's Amazon SES account: reads only our own configuration, makes one attempt per call, with a timeout.

import type { SESv2Client } from '@aws-sdk/client-sesv2'
import { MINUTE_MS } from '../../../base/durations.ts'
import type { Config } from '../../../config/config.ts'

/** Timeout of one call, from connecting to the last byte, in ms. */
export const SES_CALL_MS = MINUTE_MS
const CONNECT_MS = 5_000
const CONNECTIONS_MAX = 8

/** Loads the SDK on first use: most appliances have no Amazon SES account. */
export async function openSesClient(config: Config): Promise<SESv2Client> {
  const { SESv2Client } = await import('@aws-sdk/client-sesv2')
  const agent = { keepAlive: true, maxSockets: CONNECTIONS_MAX }
  return new SESv2Client({
    region: config.SES_REGION,
    ...(config.SES_ENDPOINT === '' ? {} : { endpoint: config.SES_ENDPOINT }),
    credentials: { accessKeyId: config.SES_ACCESS_KEY_ID, secretAccessKey: config.SES_SECRET_ACCESS_KEY },
    // The queue decides about retries.
    maxAttempts: 1,
    // Set explicitly, so that environment variables and AWS configuration files have no effect.
    retryMode: 'standard',
    defaultsMode: 'standard',
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    userAgentAppId: 'mailstead',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: SES_CALL_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  })
}

/** Aborts a call after its timeout, or when the given signal aborts. */
export function sesTimeout(signal?: AbortSignal, ms = SES_CALL_MS): { abortSignal: AbortSignal } {
  const timeout = AbortSignal.timeout(ms)
  return { abortSignal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]) }
}

/** The Message-ID that SES generates: `id@email.amazonses.com` in us-east-1, `id@region.amazonses.com` elsewhere. */
export function sesMessageId(region: string, id: string): string {
  return `${id}@${region === 'us-east-1' ? 'email' : region}.amazonses.com`
}
