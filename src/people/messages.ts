// Texts of the sign-in and invitation messages.

import { isoTime } from '../base/clock.ts'
import { mailedName } from '../mime/one-line.ts'
import { browserName } from './browser-name.ts'
import type { PersonalMessage } from './deps.ts'
import type { SessionRecord, SignInMethod } from './sessions.ts'

const METHODS: Readonly<Record<SignInMethod, string>> = {
  link: 'a sign-in link',
  passkey: 'a passkey',
  password: 'the password',
  recovery: 'a recovery code',
  first_run: 'the address of the first run',
}

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

/** @param facts.team the name of the team, as its owners wrote it */
export function invitationMessage(facts: { to: string; team: string; url: string }): PersonalMessage {
  const { to, url } = facts
  const team = mailedName(facts.team)
  const text = [
    team === '' ? 'You have been added to a team.' : `You have been added to the team "${team}".`,
    '',
    'To sign in, open this page within 7 days; you do not need a password:',
    '',
    url,
    '',
    'The link works once. You can request a new one on the sign-in page.',
    '',
  ].join('\n')
  // Anyone may found a team: its name stays out of the subject.
  return { to, subject: 'You have been added to a team', text }
}

/** Notifies an owner of a mailbox of who may open it. @param facts.access null when it was taken back */
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

/** Notifies an owner of a mailbox that others of the team can read it by something they made. @param facts.what such as `An API key` */
export function credentialMessage(facts: { to: string; mailbox: string; what: string; by: string }): PersonalMessage {
  const { to, mailbox, what, by } = facts
  const text = [
    `${what} for the mailbox ${mailbox} was made by ${by}. It gives access to the messages of the mailbox.`,
    '',
    'If you did not expect this, ask an owner of your team.',
    '',
  ].join('\n')
  return { to, subject: `Access to ${mailbox}`, text }
}

/** Reports that a link was shown which signs in as a person. @param facts.mailboxes that it opens, as far as they concern the receiver */
export function shownLinkMessage(facts: {
  to: string
  person: string
  by: string
  mailboxes: readonly string[]
}): PersonalMessage {
  const { to, person, by, mailboxes } = facts
  const opened = mailboxes.length === 0 ? '' : ` It opens: ${mailboxes.join(', ')}.`
  const text = [
    `${by} was shown a link that signs in as ${person}, to hand it over. It works once, for 15 minutes.${opened}`,
    '',
    'If you did not expect this, ask an owner of your team.',
    '',
  ].join('\n')
  return { to, subject: `A link that signs in as ${person}`, text }
}

/** Reports to a person that a browser signed in that was not known. It has no link that signs in. @param origin of the pages */
export function newDeviceMessage(
  { email, method, userAgent, source, createdAt }: SessionRecord,
  origin: string,
): PersonalMessage {
  const text = [
    `A new browser has signed in as ${email}.`,
    '',
    `Time: ${isoTime(createdAt)}. Browser: ${browserName(userAgent)}. Network address: ${source}. With: ${METHODS[method]}.`,
    '',
    'If this was you, there is nothing to do. If not, sign in, end that session and replace what it signed in with:',
    '',
    `${origin}/me`,
    '',
  ].join('\n')
  return { to: email, subject: 'A new browser has signed in', text }
}
