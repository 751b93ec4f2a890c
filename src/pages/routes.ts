// Routes at the origin that are not part of the API: pages for people, and the hook for Amazon SNS.

import type { Route } from '../http/route.ts'
import { appPasswordPages } from './app-passwords.ts'
import { consolePages } from './console.ts'
import { docPages } from './docs.ts'
import { invitePages } from './invites.ts'
import { memberPages } from './members.ts'
import { oauthCallback } from './oauth-callback.ts'
import { ownerPages } from './owner-agents.ts'
import { sesHook } from './ses-hook.ts'
import { signInPages } from './sign-in.ts'
import { stylesheet } from './style.ts'

export const webRoutes: readonly Route[] = [
  oauthCallback,
  sesHook,
  stylesheet,
  ...docPages,
  ...signInPages,
  ...consolePages,
  ...memberPages,
  ...appPasswordPages,
  ...invitePages,
  ...ownerPages,
]
