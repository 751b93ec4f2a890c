// The page of what the spam filter does.

export const spam = {
  title: 'Spam',
  note: 'What the spam filter catches, what people corrected, and what it has learned from them.',
  period: 'Time',
  periods: { 7: '7 days', 30: '30 days', 90: '90 days' },
  messages: 'Messages',
  received: 'Received',
  junk: 'In Junk',
  refused: 'Refused',
  shareOf: (share: string) => `${share} of what was received`,
  loss: 'Threshold',
  lossText: (count: string, score: string) =>
    `A score of ${score} or more goes to Junk. By its words alone that is about 1 in ${count} good messages (SPAM_JUNK_HAM_LOSS).`,
  corrected: 'Corrected by people',
  missed: 'Spam that was not caught',
  mistaken: 'Good messages found in Junk',
  learned: 'Learned',
  learnedText: (spam: string, ham: string, mailboxes: string) =>
    `${spam} spam and ${ham} good messages, by ${mailboxes}. Each mailbox has a model of its own, and the team the mean of them.`,
  learnedOn: 'Learned last',
  mailbox: 'mailbox',
  mailboxes: 'mailboxes',
  nothingLearned:
    'Nothing yet: the model that comes with the program decides. Move a message into or out of Junk to teach it.',
  labels: 'Where corrections come from',
  sources: {
    mail_program: 'Mail programs',
    api: 'API and these pages',
    answer: 'Answers to messages',
    kept: 'Read and kept, for comparison',
  },
  names: { spam: 'Spam', ham: 'Good' },
  columns: { source: 'Source', label: 'Called', messages: 'Messages', corrected: 'Corrections' },
  reasons: 'Why messages went to Junk',
  reason: 'Reason',
  senders: 'Who they said they were from',
  sender: 'Domain of the author',
  show: 'Show messages in Junk',
  emptyTitle: 'Nothing in Junk',
  empty: 'No message of this range went to Junk.',
} as const
