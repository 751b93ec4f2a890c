// Messages that confirm an action of an owner, so that they notice an action by another person.

import type { Config } from '../config/config.ts'
import type { PersonalMessage } from '../people/deps.ts'
import type { Registration } from './records.ts'

export type OwnerAction = 'accepted' | 'accepted_and_approved' | 'approved' | 'sending_revoked' | 'revoked'

const TEXTS: Readonly<Record<OwnerAction, { subject: string; text: string }>> = {
  accepted: {
    subject: 'You own',
    text: 'You are now the owner of this agent. It can read its mail; it cannot send until you allow it.',
  },
  accepted_and_approved: {
    subject: 'You own',
    text: 'You are now the owner of this agent, and you allowed it to send mail.',
  },
  approved: { subject: 'Sending allowed for', text: 'You allowed this agent to send mail.' },
  sending_revoked: {
    subject: 'Sending stopped for',
    text: "You revoked this agent's permission to send mail. Queued messages were not sent. The agent can still read its mail.",
  },
  revoked: {
    subject: 'Agent revoked:',
    text: 'You revoked this agent. Its tokens are invalid; its inbox is closed and will be deleted after 30 days.',
  },
}

export function ownerActionMessage(
  action: OwnerAction,
  { email }: Registration,
  to: string,
  config: Config,
): PersonalMessage {
  const { subject, text } = TEXTS[action]
  const page = `${config.APP_ORIGIN}/owner/agents`
  return {
    to,
    subject: `${subject} ${email}`,
    text: `${email}\n\n${text}\n\nYour agents:\n\n${page}\n\nIf this was not you, revoke the agent on that page.\n`,
  }
}
