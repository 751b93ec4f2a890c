// The message that invites a person to become the owner of an agent's inbox.

import type { Config } from '../config/config.ts'
import { mailedName } from '../mime/one-line.ts'
import type { PersonalMessage } from '../people/deps.ts'
import type { Registration } from './records.ts'

/** @param to `link` opens the page where the person decides; it is the only proof that they own the address */
export function inviteMessage(
  { email, clientName }: Registration,
  { to, link, config }: { to: string; link: string; config: Config },
): PersonalMessage {
  const host = new URL(config.APP_ORIGIN).host
  const name = mailedName(clientName ?? '')
  const named = name === '' ? 'An automated agent' : `An automated agent that calls itself "${name}"`
  const text = [
    `${named} has registered the mailbox`,
    `${email} on ${host} and named you as its owner.`,
    '',
    'If you expected this, open the page below within 7 days. There you can accept',
    'ownership and, separately, allow the agent to send mail:',
    link,
    '',
    'If you did not expect this, choose "Decline" on that page or ignore this mail.',
    'Nothing is sent in your name unless you allow it. Never forward this link: it',
    'is the only proof that you own this address. The agent itself cannot see it.',
    '',
  ].join('\n')
  return {
    from: `invites@${config.AGENT_MAILBOX_DOMAIN}`,
    to,
    subject: `Request to become owner of ${email}`,
    text,
  }
}
