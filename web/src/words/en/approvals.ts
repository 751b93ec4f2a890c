// Words of what waits for a decision of the person.

export const approvals = {
  title: 'Asks you',
  note: 'What agents, programs and teams wait for until you decide',
  waiting: (count: number) => (count === 1 ? '1 waits for you' : `${count} wait for you`),
  headlines: {
    agent_owner: (subject: string) => `${subject} asks you to be its owner`,
    agent_sending: (subject: string) => `${subject} asks to send messages`,
    limit_request: (subject: string) => `${subject} asks for a higher limit`,
  },
  notes: {
    agent_owner: 'It reads its own inbox. As its owner you decide whether it may send, and can end it at any time.',
    agent_sending: 'It reads its own inbox and cannot send yet. You can take the permission back at any time.',
    limit_request: 'The team sends through the shared account of this server.',
  },
  asked: 'Asked',
  until: 'Waits until',
  approve: { agent_owner: 'Become its owner', agent_sending: 'Let it send', limit_request: 'Grant the limit' },
  deny: 'Refuse',
  denyTitle: (subject: string) => `Refuse ${subject}?`,
  denyText: {
    agent_owner: 'The agent learns that you do not own it. It may ask another person.',
    agent_sending: 'The agent goes on reading its inbox. You can let it send later.',
    limit_request: 'The limit of the team stays as it is.',
  },
  allowSending: 'It may also send from its address',
  optOut: 'No agent may ask this address again',
  notVerified: 'not verified',
  of: (index: number, all: number) => `${index} of ${all}`,
  earlier: 'The one before',
  later: 'The next one',
  approved: 'Approved',
  denied: 'Refused',
  emptyTitle: 'Nothing waits for you',
  emptyText:
    'Agents that want an owner or want to send, and messages of programs that need your approval, appear here.',
  read: 'Decide',
}
