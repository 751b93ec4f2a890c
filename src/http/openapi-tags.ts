// What each group of operations is about, for the description.

/** By tag; every tag of a public route has its sentence. */
export const TAGS: Readonly<Record<string, string>> = {
  Agents: 'Inboxes that programs register for themselves, and the tokens they get.',
  'API keys': 'Credentials of the team and of mailboxes.',
  Billing: 'What was bought and what was used.',
  'Delivery groups': 'Sending accounts that share out the mail.',
  'Delivery log': 'What became of every mail that went.',
  Domains: 'Names mail is taken for and sent from, proven by DNS.',
  Folders: 'Where the messages of a mailbox lie.',
  'Inbound log': 'What became of every mail that came.',
  Mailbox: 'The mailbox of this credential, and what it can do.',
  Mailboxes: 'Addresses with a quota, as their team administers them.',
  Messages: 'The messages of a mailbox, their content, files and changes.',
  Metrics: 'Counts of mail by hour.',
  Providers: 'Accounts mail is sent through, their groups and limits.',
  Sending: 'Mail is accepted for delivery.',
  Service: 'Health, and documents strangers find the service by.',
  Submissions: 'What a mailbox asked to be sent, and as whom.',
  Suppressions: 'Who gets no more mail.',
  Sync: 'What changed since a client last looked.',
  Team: 'The team of this key and its members.',
  Threads: 'Conversations.',
  Usage: 'Room, and how much of it is taken.',
  Webhooks: 'Who is told of what happens.',
}
