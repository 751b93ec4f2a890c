// Descriptions of the OpenAPI tags.

/** By tag; every tag of a public route has a description. */
export const TAGS: Readonly<Record<string, string>> = {
  Agents: 'Self-registration of agent inboxes, and their tokens.',
  'API keys': 'Credentials of the team and of mailboxes.',
  Billing: 'Credits, usage and transactions.',
  'Delivery groups': 'Groups of sending accounts that share outgoing messages.',
  'Delivery log': 'Outcome of every sent message.',
  Domains: 'Domains for receiving and sending, verified by DNS.',
  Drafts: 'Messages that are being written, replies and forwards.',
  Folders: 'Folders of a mailbox.',
  'Inbound log': 'Outcome of every received message.',
  Mailbox: 'The mailbox of this credential, and what it can do.',
  Mailboxes: 'Addresses with a quota, as their team administers them.',
  Messages: 'The messages of a mailbox, their content, files and changes.',
  Metrics: 'Counts of mail by hour.',
  Providers: 'Accounts messages are sent through, their groups and limits.',
  Sending: 'Submission of messages for delivery.',
  Service: 'Health and discovery documents.',
  Submissions: 'Submissions and sending identities of a mailbox.',
  Suppressions: 'Addresses that receive no more messages.',
  Sync: 'Changes since a known state.',
  Team: 'The team of this key and its members.',
  Threads: 'Conversations.',
  Usage: 'Storage quota and its use.',
  Webhooks: 'Subscriptions to events.',
}
