// Words of what programs of a mailbox may send without a person.

export const sendPolicies = {
  title: 'What programs may send',
  text: 'Programs are keys, agents and app passwords. People who are signed in send freely.',
  approval: 'Messages of programs that wait',
  approvals: {
    none: 'None',
    first_contact: 'To new recipients',
    after_reading_strangers: 'After reading a message of a stranger',
    always: 'All',
  },
  hints: {
    none: 'Programs send by themselves, within the lists below.',
    first_contact: 'Messages to addresses that no person has written to wait for the owner.',
    after_reading_strangers:
      'For a day after a program has read a message of a stranger, and always to new recipients.',
    always: 'The owner of the mailbox looks at each message before it leaves.',
  },
  allow: 'Only to',
  allowHint: 'Addresses, or @domain, one a line. Empty: to everybody.',
  block: 'Never to',
  blockHint: 'Addresses, or @domain, one a line.',
  repliesOnly: 'Only replies to verified authors of a thread',
  tainted: (until: string) => `A program has read a message of a stranger. This counts until ${until}.`,
  save: 'Save the policy',
  saved: 'Policy saved',
}
