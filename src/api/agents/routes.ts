// The routes of the authorization server.

import type { Route } from '../../http/route.ts'
import { createChallenge } from './challenge.ts'
import { discovery } from './discovery.ts'
import { inviteOwner } from './invite.ts'
import { registerAgent } from './register.ts'
import { revokeToken } from './revoke.ts'
import { issueToken } from './token.ts'

export const agentRoutes: readonly Route[] = [
  createChallenge,
  registerAgent,
  inviteOwner,
  issueToken,
  revokeToken,
  ...discovery,
]
