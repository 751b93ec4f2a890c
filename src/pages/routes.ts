// Routes at the origin that are not part of the API: pages for people, settings for mail programs, and the hook for Amazon SNS.

import type { Route } from '../http/route.ts'
import { acmeChallenge } from './acme-challenge.ts'
import { appPasswordPages } from './app-passwords.ts'
import { assetRoute } from './assets.ts'
import { autoconfigRoutes } from './autoconfig.ts'
import { autodiscoverRoutes } from './autodiscover.ts'
import { consolePages } from './console.ts'
import { docPages } from './docs.ts'
import { forwardPages } from './forwards.ts'
import { heldPages } from './held.ts'
import { invitePages } from './invites.ts'
import { mailSetupRoutes } from './mail-setup.ts'
import { memberPages } from './members.ts'
import { mtaStsPolicy } from './mta-sts.ts'
import { oauthCallbackPages } from './oauth-callback.ts'
import { ownerPages } from './owner-agents.ts'
import { sesHook } from './ses-hook.ts'
import { shellRoutes } from './shells.ts'
import { signInPages } from './sign-in.ts'
import { stylesheet } from './style.ts'
import { WebBuild } from './web-build.ts'

const build = new WebBuild()

export const webRoutes: readonly Route[] = [
  ...oauthCallbackPages,
  sesHook,
  stylesheet,
  assetRoute(build),
  ...shellRoutes(build),
  ...docPages,
  ...signInPages,
  ...consolePages,
  ...memberPages,
  ...appPasswordPages,
  ...invitePages,
  ...forwardPages,
  ...heldPages,
  ...ownerPages,
  acmeChallenge,
  mtaStsPolicy,
  ...autoconfigRoutes,
  ...autodiscoverRoutes,
  ...mailSetupRoutes,
]
