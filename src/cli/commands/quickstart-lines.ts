// The lines that `mailstead quickstart` prints for a person.

import type { Level } from '../../maintenance/doctor/finding.ts'
import { textOf } from '../../maintenance/quickstart/plan.ts'
import type { RecordStatus } from '../../maintenance/quickstart/published.ts'
import { RECORD_PURPOSES } from '../../maintenance/quickstart/records.ts'
import { table } from '../frame/table.ts'
import type { Made } from './quickstart-accounts.ts'
import type { Outlook } from './quickstart-outlook.ts'

const MARKS: Readonly<Record<Level, string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' }
const INDENT = '     '

/** The way out where port 25 is closed. */
export const RELAY_LINES = [
  'wait sending account: port 25 is closed outwards, and no mail leaves until a relay is connected',
  `${INDENT}mailstead provider create --name Relay --smtp-host smtp.example.com --smtp-username me < password-file`,
  `${INDENT}The console has the presets of providers under Sending.`,
]

export function headLines({ email, host }: Outlook): string[] {
  return [`Mailstead as the mail server ${host}, with the mailbox ${email}.`, '']
}

export function sectionLines({ sections, plan }: Outlook): string[] {
  const settings = Object.entries(plan.settings).map(([name, value]) => `+    ${name}=${textOf(value)}`)
  return sections.flatMap(({ title, findings }) => [
    title,
    ...findings.flatMap(({ level, says, do: advice }) => [
      `${MARKS[level]} ${says}`,
      ...(advice === null ? [] : [INDENT + advice]),
    ]),
    ...(title === 'Settings' ? settings : []),
    '',
  ])
}

export function madeLines(
  { runs, plan, email }: Outlook,
  { team, domain, mailbox, ownerLink, password, needsRelay }: Made,
): string[] {
  const restart = runs
    ? 'Restart Mailstead: the settings hold from its next start on.'
    : 'Start it with mailstead serve.'
  const isChanged = Object.keys(plan.settings).length > 0
  return [
    'Accounts',
    `ok   team ${team.name}, domain ${domain.name}${mailbox === null ? '' : `, mailbox ${mailbox.email}`}`,
    ...(needsRelay ? RELAY_LINES : []),
    ...(mailbox === null ? [`wait mailbox ${email}: once the domain is verified`] : []),
    ...(password === null ? [] : [`once app password ${password}`]),
    ...(ownerLink === null ? [] : [`open ${ownerLink}`, `${INDENT}It signs the owner in once, within 24 hours.`]),
    '',
    ...(isChanged || !runs ? [restart, ''] : []),
  ]
}

/** Each line begins with the state of the record. The MX record is the last one: with it mail arrives here. */
export function recordLines(records: readonly RecordStatus[]): string[] {
  return table(
    records.map(({ isPublished, isRequired, purpose, name, type, value }) => {
      const mark = isPublished ? 'ok' : purpose === 'mx' ? 'last' : isRequired ? 'wait' : 'also'
      return [mark.padEnd(4), type, name, RECORD_PURPOSES[purpose], value]
    }),
  )
}
