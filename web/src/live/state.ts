// What the stream says of itself and of the server.

import { signal } from '@preact/signals'

/** Whether the server notifies the pages of changes. */
export const isLive = signal(false)

/** Whether the server was upgraded since this page was loaded. */
export const isOutdated = signal(false)
