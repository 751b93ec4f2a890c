// What opens on the pages: menus, dialogs and rows. Each is opened and checked by axe, in turn in light, in dark and on a phone.

const DIALOG = 'dialog[open]'
const MENU = '.menu:popover-open'

export interface Opening {
  path: string
  /** Names of buttons and menu items, pressed one after the other; `row` opens the first row of the list. */
  press: readonly string[]
  /** What is open then: closed by Escape. Undefined for a row, which is part of the page. */
  within?: string
}

const dialog = (path: string, ...press: string[]): Opening => ({ path, press, within: DIALOG })
const menu = (path: string, ...press: string[]): Opening => ({ path, press, within: MENU })
const row = (path: string): Opening => ({ path, press: ['row'] })

export const OPENINGS: readonly Opening[] = [
  menu('/console/{team}', 'Switch team'),
  menu('/console/{team}', 'owner@people.example'),
  menu('/console/{team}', 'Last 7 days'),
  dialog('/console/{team}', 'Search, or paste any id'),
  dialog('/console/{team}', 'as curl'),
  dialog('/console/{team}/domains', 'Add domain'),
  menu('/console/{team}/domains', 'Status'),
  dialog('/console/{team}/domains/{domain}', 'Zone file'),
  dialog('/console/{team}/domains/{domain}/settings', 'Delete domain'),
  dialog('/console/{team}/mailboxes', 'New mailbox'),
  dialog('/console/{team}/mailboxes/{mailbox}', 'New app password'),
  dialog('/console/{team}/mailboxes/{mailbox}/people', 'Give access'),
  dialog('/console/{team}/mailboxes/{mailbox}/settings', 'Delete mailbox'),
  dialog('/console/{team}/people', 'Invite a person'),
  row('/console/{team}/people'),
  dialog('/console/{team}/people', 'row', 'Give a mailbox'),
  menu('/console/{team}/people', 'Actions for viewer'),
  dialog('/console/{team}/people', 'Actions for viewer', 'Link to sign in'),
  dialog('/console/{team}/people', 'Actions for viewer', 'End sessions'),
  dialog('/console/{team}/people', 'Actions for viewer', 'Change role'),
  dialog('/console/{team}/people', 'Actions for viewer', 'Remove'),
  dialog('/console/{team}/sending', 'Connect an account'),
  dialog('/console/{team}/sending/in/groups', 'New group'),
  dialog('/console/{team}/sending/in/rules', 'New rule'),
  dialog('/me', 'as curl'),
  dialog('/console/{team}/sending/{provider}', 'Delete account'),
  row('/console/{team}/delivery'),
  dialog('/console/{team}/delivery', 'row', 'Show message'),
  row('/console/{team}/inbound'),
  dialog('/console/{team}/suppressed', 'Suppress an address'),
  dialog('/console/{team}/suppressed', 'Free gone@customer.example?'),
  row('/console/{team}/suppressed'),
  dialog('/console/{team}/suppressed', 'Import'),
  dialog('/console/{team}/delivery', 'Save as CSV'),
  dialog('/console/{team}/webhooks', 'New webhook'),
  dialog('/console/{team}/webhooks/{webhook}', 'Rotate the secret'),
  dialog('/console/{team}/webhooks/{webhook}', 'Delete'),
  dialog('/console/{team}/keys', 'New key'),
  row('/console/{team}/keys'),
  dialog('/console/{team}/keys', 'row', 'Rotate'),
  dialog('/console/{team}/keys', 'row', 'Revoke'),
  row('/console/{team}/audit'),
  dialog('/me/sign-in', 'Add a passkey'),
  dialog('/me/appearance', 'Keyboard shortcuts'),
  dialog('/operator/backups', 'Choose a schedule'),
  row('/operator/teams'),
  dialog('/operator/teams', 'New team'),
  dialog('/operator/teams', 'row', 'Rename'),
  dialog('/operator/teams', 'row', 'New root key'),
  dialog('/operator/teams', 'row', 'Suspend'),
  row('/operator/people'),
  dialog('/operator/people', 'Add an operator'),
  dialog('/operator/people', 'row', 'Link to sign in'),
  dialog('/operator/people?operator=true', 'row', 'Withdraw operator'),
  dialog('/operator/agents', 'End many'),
  menu('/operator/credits', 'Team'),
  dialog('/operator/credits', 'Enter a credit'),
  row('/operator/settings'),
  dialog('/operator/settings', 'as curl'),
  row('/operator/changes'),
]
