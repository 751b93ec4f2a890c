// Words of the page of people.

export const people = {
  title: 'People',
  note: 'Who signs in to this team',
  search: 'Name or address',
  invite: 'Invite a person',
  inviteTitle: 'Invite a person',
  email: 'Mail address',
  emailHint: 'They get a link that works once. An address on this server cannot be mailed a link.',
  role: 'Role',
  roles: {
    owner: 'Owner: everything, and may remove other owners',
    admin: 'Admin: everything but owners',
    member: 'Member: sees everything, may send',
    viewer: 'Viewer: sees everything, changes nothing',
    user: 'User: opens mailboxes they were given',
  },
  shortRoles: { owner: 'Owner', admin: 'Admin', member: 'Member', viewer: 'Viewer', user: 'User' } as Record<
    string,
    string
  >,
  status: 'Status',
  statuses: { invited: 'Invited', active: 'Active' },
  lastSignIn: 'Last sign-in',
  you: 'you',
  change: 'Change role',
  changeTitle: (email: string) => `Role of ${email}`,
  changed: (email: string) => `Role of ${email} changed`,
  remove: 'Remove',
  removeTitle: (email: string) => `Remove ${email}?`,
  removeText:
    'They are signed out of this team at once and lose access to its mailboxes. Nothing they made is deleted.',
  removed: (email: string) => `${email} removed`,
  invited: (email: string) => `Invitation sent to ${email}`,
  link: 'Show links to sign in',
  notMailedTitle: (email: string) => `${email} is a member now`,
  notMailed:
    'No link was mailed: the address is on this server, where programs may read it. An owner of the team shows a link that works once, and hands it over.',
  actions: (email: string) => `Actions for ${email}`,
  emptyTitle: 'No people yet',
}
