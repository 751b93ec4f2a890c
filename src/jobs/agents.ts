// Job: expires unclaimed agent registrations, unanswered invitations, access tokens and proofs of work.

import { MINUTE_MS } from '../base/durations.ts'
import { job } from './job.ts'

export const agentSweep = job({
  name: 'agent-sweep',
  every: MINUTE_MS,
  byAge: true,
  async run({ app }) {
    const { invites, ownership, tokens, registrations } = app.agents
    const removed = (await invites.expireDue()) + (await ownership.sweep(app.config.AGENT_IDLE_DAYS))
    await app.people.prune()
    return removed + (await tokens.prune()) + (await registrations.prune())
  },
})
