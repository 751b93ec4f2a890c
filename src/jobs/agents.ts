// Jobs for agents: expiry of registrations, invitations, tokens and proofs; inboxes of registrations of an earlier version.

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

/** Runs at the start: earlier versions registered an agent first and set its inbox up later. */
export const agentInboxes = job({
  name: 'agent-inboxes',
  every: MINUTE_MS,
  async run({ app }) {
    let done = 0
    for (let some = -1; some !== 0; done += some) some = await app.agents.registrations.provisionDue()
    return done
  },
})
