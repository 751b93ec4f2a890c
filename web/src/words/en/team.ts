// Words of the page of the team.

export const teamSettings = {
  title: 'Team',
  note: 'Its name, and what it is known by',
  name: 'Name',
  nameHint: 'For people: in the console, in invitations and in notices.',
  facts: 'This team',
  shownName: 'Shown as',
  id: 'Id',
  idOf: 'id of the team',
  status: 'State',
  statuses: { active: 'Active', suspended: 'Suspended by the operator' },
  created: 'Created',
  role: 'Your role',
  toPeople: 'People and roles',
  toLimits: 'Limits and what is used',
  toAudit: 'Who changed what',
}
