// All routes at /me/v1: what concerns the signed-in person.

import type { Route } from '../http/route.ts'
import { agentRoutes } from './agents.ts'
import { approvalRoutes } from './approvals.ts'
import { credentialRoutes } from './credentials.ts'
import { eventRoutes } from './events.ts'
import { firstRunRoutes } from './first-run.ts'
import { heldMessageRoutes } from './held-messages.ts'
import { passkeyRoutes } from './passkeys.ts'
import { profileRoutes } from './profile.ts'
import { selfRoutes } from './self.ts'
import { sessionRoutes } from './sessions.ts'
import { signInRoutes } from './sign-in.ts'

export const meRoutes: readonly Route[] = [
  ...firstRunRoutes,
  ...signInRoutes,
  ...selfRoutes,
  ...profileRoutes,
  ...sessionRoutes,
  ...passkeyRoutes,
  ...credentialRoutes,
  ...agentRoutes,
  ...approvalRoutes,
  ...heldMessageRoutes,
  ...eventRoutes,
]
