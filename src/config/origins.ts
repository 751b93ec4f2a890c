// The public addresses of the two APIs.

import type { Config } from './config.ts'

/** Where the Sending API is when it has the origin of the app. */
export const SEND_PATH = '/send'

type Origins = Pick<Config, 'APP_ORIGIN' | 'SEND_ORIGIN'>

/** Whether one origin serves both. */
export function hasOneOrigin({ APP_ORIGIN, SEND_ORIGIN }: Origins): boolean {
  return APP_ORIGIN === SEND_ORIGIN
}

/** What paths of the Sending API are appended to. */
export function sendBase(config: Origins): string {
  return hasOneOrigin(config) ? config.APP_ORIGIN + SEND_PATH : config.SEND_ORIGIN
}
