// Texts of the sign-in and invitation messages.

import type { PersonalMessage } from './deps.ts'

/** The message with a requested sign-in link. */
export function signInMessage({ to, url }: { to: string; url: string }): PersonalMessage {
  const text = [
    'A sign-in link was requested for this address. To sign in, open this page within 15 minutes:',
    '',
    url,
    '',
    'The link works once. If you did not request it, ignore this message: signing in is not possible without the link.',
    '',
  ].join('\n')
  return { to, subject: 'Your link to sign in', text }
}

/** @param team the name of the team, one line */
export function invitationMessage({ to, team, url }: { to: string; team: string; url: string }): PersonalMessage {
  const text = [
    `You have been added to the team "${team}".`,
    '',
    'To sign in, open this page within 7 days; you do not need a password:',
    '',
    url,
    '',
    'The link works once. You can request a new one on the sign-in page.',
    '',
  ].join('\n')
  return { to, subject: `You have been added to ${team}`, text }
}

/** Tells an owner of a mailbox who may open it. @param facts.access null when it was taken back */
export function accessMessage(facts: {
  to: string
  mailbox: string
  person: string
  access: string | null
}): PersonalMessage {
  const { person, mailbox, access } = facts
  const text = [
    access === null
      ? `${person} no longer has access to the mailbox ${mailbox}.`
      : `${person} now has access to the mailbox ${mailbox} (${access}).`,
    '',
    `An administrator of your team ${access === null ? 'took it back' : 'granted it'}. If you did not expect this, ask them.`,
    '',
  ].join('\n')
  return { to: facts.to, subject: `Access to ${facts.mailbox}`, text }
}
