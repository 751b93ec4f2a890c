// Words of sender filters, which domains and mailboxes have.

export const senderFilters = {
  modes: {
    off: { label: 'All senders may write', note: 'The usual checks decide alone.' },
    allowlist: { label: 'Only senders that are listed', note: 'All others are refused.' },
    denylist: { label: 'All but senders that are listed', note: 'Those are refused.' },
  },
  allowed: 'May write',
  denied: 'Are refused',
  hint: 'One for each line: an address, @customer.example, *.customer.example, or a name with one *.',
  save: 'Save filter',
  saved: 'Filter saved',
  tryTitle: 'Would this sender pass?',
  tryLabel: 'Sender',
  passes: 'Would pass this filter',
  refused: (pattern: string) => `Would be refused by ${pattern}`,
  notListed: 'Would be refused: not listed',
  tryNote: 'Tried with the entries above, also before they are saved.',
}
