// What people are written to get in.

import type { PersonalMail } from './deps.ts'

/** The mail with a link that was asked for. */
export function signInLetter({ to, url }: { to: string; url: string }): PersonalMail {
  const text = [
    'Somebody, probably you, asked to sign in. Open this page within 15 minutes:',
    '',
    url,
    '',
    'The link works once. If it was not you, ignore this mail: nobody gets in without the link.',
    '',
  ].join('\n')
  return { to, subject: 'Your link to sign in', text }
}

/** @param team its name, one line */
export function invitationLetter({ to, team, url }: { to: string; team: string; url: string }): PersonalMail {
  const text = [
    `You were made a member of the team "${team}".`,
    '',
    'Open this page within 7 days to sign in; there is no password:',
    '',
    url,
    '',
    'The link works once. Later you get a new one on the sign-in page.',
    '',
  ].join('\n')
  return { to, subject: `You are a member of ${team}`, text }
}
