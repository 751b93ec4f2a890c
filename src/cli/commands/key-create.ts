// `mailstead key create`: issues a root key of a team.

import { presentNewKey } from '../../api/schemas/api-key.ts'
import { openedByKey } from '../../people/opens.ts'
import { auditCredential } from '../frame/audit-command.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseTeam } from '../frame/team-choice.ts'
import { readTime } from '../frame/time.ts'

const DEFAULT_ROLE = 'root:full'

export const keyCreate: Command = {
  words: 'key create',
  summary: 'Issue a root key of a team.',
  options: {
    ...TEAM_OPTION,
    name: { value: 'name', says: 'name of the key, shown in lists' },
    role: { value: 'role', says: `root:full, root:readonly or root:webhook_admin (${DEFAULT_ROLE} unless given)` },
    permissions: { value: 'a,b', says: 'permissions in place of a role, such as domain.read,webhook.*' },
    expires: { value: 'time', says: 'when it expires, such as 2030-01-02 (never unless given)' },
  },
  async run(call) {
    const permissions = call.text('permissions')?.split(',')
    const expiresAt = readTime(call.text('expires'))
    const app = await call.open()
    const { directory } = app
    const team = chooseTeam(directory, call.text('team'))
    const key = await directory.keys.issue({
      teamId: team.id,
      kind: 'root',
      name: call.text('name') ?? 'command line',
      role: call.text('role') ?? (permissions === undefined ? DEFAULT_ROLE : undefined),
      permissions,
      expiresAt,
      createdBy: 'operator',
    })
    const { id, name, permissions: granted } = key.record
    const target = { type: 'key', id, label: name }
    await auditCredential(app, keyCreate.words, { teamId: team.id, target, opens: openedByKey(granted) })
    const rights = key.record.role ?? key.record.permissions.join(', ')
    return {
      data: presentNewKey(key),
      lines: [`Key ${key.record.id} of team ${team.id} (${rights}), shown this once:`, `  ${key.secret}`],
    }
  },
}
