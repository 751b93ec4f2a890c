// Ends what agents left behind: unclaimed registrations, invitations nobody decided, tokens and proofs that are over.

import { job } from './job.ts'

const MINUTE_MS = 60 * 1000

export const agentSweep = job({
  name: 'agent-sweep',
  every: MINUTE_MS,
  byAge: true,
  async run({ app }) {
    const { invites, ownership, tokens, registrations } = app.agents
    const ended = (await invites.expireDue()) + (await ownership.sweep(app.config.AGENT_IDLE_DAYS))
    await app.people.prune()
    return ended + (await tokens.prune()) + (await registrations.forget())
  },
})
