// `mailstead operator key` and `operator revoke`: issues and revokes keys of the Operator API.

import type { Command } from './command.ts'

export const operatorKey: Command = {
  words: 'operator key',
  summary: 'Issue a key for the Operator API.',
  options: {
    name: { value: 'name', says: 'name of the key, shown in lists' },
  },
  async run(call) {
    const { directory, config } = await call.open()
    const { id, secret } = await directory.operatorKeys.issue(call.text('name') ?? 'command line')
    const address = `http://${config.OPERATOR_BIND}/operator/v1`
    return {
      data: { id, key: secret },
      lines: [`Key ${id} for the Operator API at ${address}, shown this once:`, `  ${secret}`],
    }
  },
}

export const operatorRevoke: Command = {
  words: 'operator revoke',
  summary: 'Revoke all keys of the Operator API immediately.',
  async run(call) {
    const { directory } = await call.open()
    const revoked = await directory.operatorKeys.revokeAll()
    return { data: { revoked }, lines: [`${revoked} ${revoked === 1 ? 'key' : 'keys'} revoked.`] }
  },
}
