// Agents: inboxes strangers' programs register for themselves, and the people who may own them.

import { Assertions } from './assertions.ts'
import type { AgentParts } from './deps.ts'
import { Grants } from './grants.ts'
import { Invites } from './invites.ts'
import { Owners } from './owners.ts'
import { Ownership } from './ownership.ts'
import { ProofOfWork } from './proof-of-work.ts'
import { Registrations } from './registrations.ts'
import type { SendAllowance } from './send-allowance.ts'
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
  /** What owners do on their pages. */
  owners: Owners
  allowance: SendAllowance
  switches: Switches
}

const POW_PURPOSE = 'proof-of-work'

export function openAgents(parts: AgentParts): Agents {
  const { clock, config, db, vault } = parts
  const secret = config.POW_SECRET || vault.mac(POW_PURPOSE, '').toString('base64url')
  const registrations = new Registrations(parts)
  const tokens = new AgentTokens(parts)
  const assertions = new Assertions({ db, clock, vault, issuer: `${config.APP_ORIGIN}/agent-auth` })
  const ownership = new Ownership({ ...parts, registrations, tokens, assertions })
  const invites = new Invites({ ...parts, registrations, ownership })
  return {
    proofOfWork: new ProofOfWork({ clock, secret, cost: config.POW_COST }),
    registrations,
    assertions,
    tokens,
    ownership,
    invites,
    owners: new Owners({ ...parts, registrations, ownership, invites }),
    grants: new Grants({ ...parts, registrations, tokens, assertions, invites }),
    allowance: parts.allowance,
    switches: new Switches(parts),
  }
}
