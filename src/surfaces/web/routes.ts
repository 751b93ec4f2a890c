// What lies at the origin for others than clients of the API: pages for people, and a hook for Amazon.

import type { Route } from '../http/route.ts'
import { oauthCallback } from './oauth-callback.ts'
import { sesHook } from './ses-hook.ts'

export const webRoutes: readonly Route[] = [oauthCallback, sesHook]
