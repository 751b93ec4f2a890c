// `mailstead key list`, `key revoke`: the API keys of a team and its mailboxes.

import { type ApiKeyJson, presentKey } from '../api/schemas/api-key.ts'
import { ProductError } from '../base/errors.ts'
import { idPattern } from '../base/ids.ts'
import { oneOf } from './choice.ts'
import { type Command, TEAM_OPTION } from './command.ts'
import { cut, LIMIT_OPTION, readLimit } from './limit.ts'
import { table } from './table.ts'
import { chooseTeam } from './team-choice.ts'

const STATUSES = ['active', 'expired', 'revoked'] as const
const KEY_ID = new RegExp(idPattern('key'))

export const keyList: Command = {
  words: 'key list',
  summary: 'List the API keys of a team and its mailboxes, newest first.',
  options: {
    ...TEAM_OPTION,
    status: { value: 'status', says: `one of ${STATUSES.join(', ')}` },
    ...LIMIT_OPTION,
  },
  async run(call) {
    const status = oneOf('status', call.text('status'), STATUSES)
    const limit = readLimit(call)
    const { directory } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const page = directory.keys.list(team.id, { status, limit, after: null })
    const rows = page.items.map(presentKey)
    const head = ['Key', 'Prefix', 'Status', 'Permissions', 'Last used', 'Name']
    const lines = rows.length === 0 ? ['There are no keys.'] : table([head, ...rows.map(cellsOf)])
    return { data: rows, lines: cut(lines, page.next !== null) }
  },
}

export const keyRevoke: Command = {
  words: 'key revoke',
  summary: 'Revoke an API key immediately.',
  operands: ['key (key_…)'],
  async run(call) {
    const id = call.operands[0]!
    if (!KEY_ID.test(id)) throw new ProductError('invalid_parameter', `${id} is not the id of a key (key_…).`)
    const { directory } = await call.open()
    const teamId = directory.keys.teamOf(id)
    if (teamId === undefined) throw new ProductError('not_found', `There is no key ${id}.`)
    await directory.keys.revoke(teamId, id)
    return { data: { id, team_id: teamId, status: 'revoked' }, lines: [`Key ${id} is revoked.`] }
  },
}

function cellsOf({ id, prefix, status, role, kind, last_used_at, name }: ApiKeyJson): string[] {
  return [
    id,
    `${prefix}…`,
    status,
    role ?? (kind === 'mailbox' ? 'its mailbox' : 'custom'),
    last_used_at ?? 'never',
    name,
  ]
}
