// Agents: programs that register an inbox for themselves, and the people who own them.

import type { Tx } from '../db/db.ts'
import { Approvals } from './approvals.ts'
import { Assertions } from './assertions.ts'
import type { AgentDeps } from './deps.ts'
import { Grants } from './grants.ts'
import { Invites } from './invites.ts'
import { Owners } from './owners.ts'
import { Ownership } from './ownership.ts'
import { ProofOfWork } from './proof-of-work.ts'
import { Registrations } from './registrations.ts'
import type { SendAllowance } from './send-allowance.ts'
import { endSignInsThrough } from './sign-ins.ts'
import { Switches } from './switches.ts'
import { AgentTokens } from './tokens.ts'

export interface Agents {
  proofOfWork: ProofOfWork
  registrations: Registrations
  assertions: Assertions
  tokens: AgentTokens
  grants: Grants
  invites: Invites
  ownership: Ownership
  /** Actions of owners on their pages. */
  owners: Owners
  /** What agents wait for from a person. */
  approvals: Approvals
  allowance: SendAllowance
  switches: Switches
  /** Ends the links and invitations mailed to a mailbox and their sessions, inside a unit of work that deletes it or one of its addresses. */
  endSignInsThrough(tx: Tx, mailboxId: string): void
}

const POW_PURPOSE = 'proof-of-work'

export function openAgents(deps: AgentDeps): Agents {
  const { clock, config, db, vault } = deps
  const secret = config.POW_SECRET || vault.mac(POW_PURPOSE, '').toString('base64url')
  const registrations = new Registrations(deps)
  const tokens = new AgentTokens(deps)
  const assertions = new Assertions({ db, clock, vault, issuer: `${config.APP_ORIGIN}/agent-auth` })
  const ownership = new Ownership({ ...deps, registrations, tokens, assertions })
  const invites = new Invites({ ...deps, registrations, ownership })
  const owners = new Owners({ ...deps, registrations, ownership, invites })
  return {
    proofOfWork: new ProofOfWork({ clock, secret, cost: config.POW_COST }),
    registrations,
    assertions,
    tokens,
    ownership,
    invites,
    owners,
    approvals: new Approvals({ invites, owners }),
    grants: new Grants({ ...deps, registrations, tokens, assertions, invites, ownership }),
    allowance: deps.allowance,
    switches: new Switches(deps),
    endSignInsThrough: (tx, mailboxId) => endSignInsThrough(tx, deps.people, mailboxId),
  }
}
