// The operator's account at Amazon SES, as one client: settings only from ours, one try for each call, bounded in time.

import type { SESv2Client } from '@aws-sdk/client-sesv2'
import type { Config } from '../../config/config.ts'

/** One call, from the connection to the last byte. ms. */
export const SES_CALL_MS = 60_000
const CONNECT_MS = 5_000
const CONNECTIONS_MAX = 8

/** The package is read when it is needed first: most appliances have no account at Amazon. */
export async function openSesClient(config: Config): Promise<SESv2Client> {
  const sdk = await import('@aws-sdk/client-sesv2')
  const agent = { keepAlive: true, maxSockets: CONNECTIONS_MAX }
  return new sdk.SESv2Client({
    region: config.SES_REGION,
    ...(config.SES_ENDPOINT === '' ? {} : { endpoint: config.SES_ENDPOINT }),
    credentials: { accessKeyId: config.SES_ACCESS_KEY_ID, secretAccessKey: config.SES_SECRET_ACCESS_KEY },
    // What is tried again, and when, the queue decides.
    maxAttempts: 1,
    // Said here, so that neither the environment nor files of the machine say otherwise.
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

/** Ends a call after its time, and when the house closes. */
export function sesPatience(signal?: AbortSignal, ms = SES_CALL_MS): { abortSignal: AbortSignal } {
  const patience = AbortSignal.timeout(ms)
  return { abortSignal: signal === undefined ? patience : AbortSignal.any([patience, signal]) }
}

/** The host SES makes Message-IDs of: `<id@email.amazonses.com>` in its oldest region, `<id@region.amazonses.com>` elsewhere. */
export function sesMessageId(region: string, id: string): string {
  return `${id}@${region === 'us-east-1' ? 'email' : region}.amazonses.com`
}
