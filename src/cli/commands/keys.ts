// `mailstead key list`, `key revoke`, `key rotate`: the API keys of a team and its mailboxes.

import { type ApiKeyJson, presentKey, presentNewKey } from '../../api/schemas/api-key.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import type { Directory } from '../../directory/directory.ts'
import type { Command } from '../frame/command.ts'
import { checkId, readNumber } from '../frame/options.ts'
import { statusList } from '../frame/status-list.ts'

const KEY_OPERAND = 'key (key_…)'
const KEY_ID = new RegExp(idPattern('key'))

export const keyList = statusList({
  words: 'key list',
  summary: 'List the API keys of a team and its mailboxes, newest first.',
  statuses: ['active', 'expired', 'revoked'],
  list: ({ directory }, teamId, filter) => directory.keys.list(teamId, filter),
  present: presentKey,
  table: {
    none: 'There are no keys.',
    head: ['Key', 'Prefix', 'Status', 'Permissions', 'Last used', 'Name'],
    cells: cellsOf,
  },
})

export const keyRevoke: Command = {
  words: 'key revoke',
  summary: 'Revoke an API key immediately.',
  operands: [KEY_OPERAND],
  async run(call) {
    const id = checkId(call.operands[0]!, KEY_ID, KEY_OPERAND)
    const { directory } = await call.open()
    const teamId = teamOf(directory, id)
    await directory.keys.revoke(teamId, id)
    return { data: { id, team_id: teamId, status: 'revoked' }, lines: [`Key ${id} is revoked.`] }
  },
}

export const keyRotate: Command = {
  words: 'key rotate',
  summary: 'Replace the secret of an API key; id, name and permissions stay.',
  operands: [KEY_OPERAND],
  options: { grace: { value: 'seconds', says: 'how long the old secret stays valid (0 unless given)' } },
  async run(call) {
    const id = checkId(call.operands[0]!, KEY_ID, KEY_OPERAND)
    const grace = readNumber('grace period', call.text('grace')) ?? 0
    const { directory } = await call.open()
    const key = await directory.keys.rotate(teamOf(directory, id), id, grace)
    const old = grace === 0 ? 'the old one is no longer valid' : `the old one is valid for ${grace} more seconds`
    return { data: presentNewKey(key), lines: [`New secret of key ${id}, shown this once; ${old}:`, `  ${key.secret}`] }
  },
}

/** @throws ProductError not_found */
function teamOf({ keys }: Directory, id: string): string {
  const teamId = keys.teamOf(id)
  if (teamId === undefined) throw new ProductError('not_found', `There is no key ${id}.`)
  return teamId
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
