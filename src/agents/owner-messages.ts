// The mails that confirm what an owner did: if it was somebody else, she learns it.

import type { Config } from '../config/config.ts'
import type { PersonalMail } from '../people/deps.ts'
import type { Registration } from './records.ts'

export type Deed = 'accepted' | 'accepted_and_approved' | 'approved' | 'sending_revoked' | 'revoked'

const SENTENCES: Readonly<Record<Deed, { subject: string; text: string }>> = {
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
    text: 'You took back that this agent may send mail. What was still waiting was not sent. It can go on reading.',
  },
  revoked: {
    subject: 'Ended:',
    text: 'You ended this agent. Its tokens are void, its inbox is closed and will be deleted after 30 days.',
  },
}

export function deedLetter(deed: Deed, { email }: Registration, to: string, config: Config): PersonalMail {
  const { subject, text } = SENTENCES[deed]
  const page = `${config.APP_ORIGIN}/owner/agents`
  return {
    to,
    subject: `${subject} ${email}`,
    text: `${email}\n\n${text}\n\nYour agents:\n\n${page}\n\nIf this was not you, end the agent on that page.\n`,
  }
}
