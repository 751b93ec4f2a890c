// Words of the audit log.

export const audit = {
  title: 'Audit',
  note: 'Every change that people and keys made to the team',
  search: 'Person, key, action or target',
  columns: { actor: 'Who', action: 'What', target: 'Target', time: 'Time', source: 'From' },
  kinds: { person: 'Person', key: 'Key', command: 'Command on the machine' },
  noTarget: 'the team',
  opens: 'Gives access to',
  request: 'Request',
  idOfRequest: 'request id',
  idOfActor: 'id',
  targetId: 'Target',
  idOfTarget: 'id of the target',
  at: 'Exact time',
  emptyTitle: 'Nothing has been changed yet',
  empty: 'Changes by people, keys and commands appear here, with who made them and from where.',
  onlyThis: 'Only this one',
}
