// Words of outside accounts: mailboxes that are accounts at other servers.

export const outside = {
  badge: 'Outside account',
  attach: 'Attach an account',
  attachTitle: 'Attach an outside account',
  attachText: 'A mailbox is made for it, with its folders and messages. What changes on one side changes on the other.',
  email: 'Address of the account',
  look: 'Find its servers',
  found: (source: string) =>
    ({ known: 'A known provider.', srv: 'Found in DNS.', autoconfig: 'Found by its domain.' })[source],
  notFound: 'No servers were found for this address. Ask its provider for their names.',
  password: 'Password',
  passwordHint: 'Many providers want an app password, made in the settings of the account.',
  imapHost: 'IMAP server',
  smtpHost: 'SMTP server',
  smtpHint: 'Without one the mailbox sends nothing.',
  goTo: (company: string) => `Continue at ${company}`,
  companies: { google: 'Google', microsoft: 'Microsoft' },
  consent: (company: string) => `You sign in at ${company} and allow reading and sending mail. You come back here.`,
  attached: 'The account is attached. Its messages arrive now, newest first.',
  // One that a mailbox collects from
  collects: 'Collects from',
  collectsNote: 'New messages of these accounts are copied into this mailbox. Nothing changes at their servers.',
  collect: 'Collect from an account',
  collectTitle: (email: string) => `Collect for ${email}`,
  collectText: 'Its messages are copied into the Inbox of this mailbox, and stay in the account.',
  collectBegun: 'Its messages are being collected.',
  noneCollected: 'It collects from no account',
  noneCollectedText: 'Such as an address at an earlier provider, whose messages are still wanted here.',
  since: 'Only messages since',
  sinceHint: 'Empty: all of them.',
  endCollect: 'Stop collecting',
  endCollectLabel: (email: string) => `Stop collecting from ${email}`,
  endCollectTitle: (email: string) => `Stop collecting from ${email}?`,
  endCollectText: 'Messages that were collected stay in this mailbox. Its password is deleted here.',
  collectEnded: (email: string) => `Nothing more is collected from ${email}`,
  upToDate: 'Up to date.',
  pending: 'Signing in…',
  importing: (done: string, total: string) => `${done} of ${total} messages are here. Newer ones came first.`,
  counting: 'Its messages are being counted.',
  active: 'In sync.',
  waiting: 'In sync, but for a removal.',
  differs: 'In sync, but for this:',
  delayed: (reason: string) => `Waiting: ${reason} It is tried again by itself.`,
  paused: 'Paused. What changes here is kept, and carried out later.',
  error: (reason: string) => `Stopped: ${reason}`,
  unknown: 'the reason is not known.',
  held: {
    here: 'Many messages were removed at the other side at once. They are kept here for a day: confirm the removal, or put them back.',
    server:
      'Many messages were deleted here at once. They are kept at the other side until you confirm the removal, or put them back.',
  },
  pause: 'Pause',
  resume: 'Sign in again',
  confirmRemoval: { here: 'Remove them here, too', server: 'Remove them there, too' },
  confirmTitle: { here: 'Remove the messages here, too?', server: 'Remove the messages at the other side, too?' },
  confirmText: {
    here: 'They are gone at the other side. Here they can be restored for 30 days.',
    server: 'They are gone here. At the other side they cannot be restored afterwards.',
  },
  undoRemoval: 'Keep them and put them back',
  undoTitle: { here: 'Put the messages back at the other side?', server: 'Put the messages back here?' },
  undoText: {
    here: 'They stay here, and are stored at the other side again, in the same folders.',
    server: 'They are still at the other side, and are fetched from there again.',
  },
  newPassword: 'New password',
  newPasswordTitle: (email: string) => `Password of ${email}`,
  save: 'Save',
}

/** Messages that were removed at the server. */
export const removed = {
  held: (total: string, isOne: boolean) =>
    isOne
      ? '1 message was removed at the other side in the last 30 days, and can be restored.'
      : `${total} messages were removed at the other side in the last 30 days, and can be restored.`,
  full: 'The mailbox is full: these were not restored. Delete messages or raise its quota.',
  restore: 'Restore them',
  title: 'Restore the removed messages?',
  text: 'They are stored here and at the other side again, in the folders they were in. Single messages are restored by the API or the command line.',
}
