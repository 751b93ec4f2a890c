// `mailstead operator key` and `operator revoke`: issues and revokes keys of the Operator API.

import { auditCredential } from '../frame/audit-command.ts'
import type { Command } from '../frame/command.ts'

export const operatorKey: Command = {
  words: 'operator key',
  summary: 'Issue a key for the Operator API.',
  options: {
    name: { value: 'name', says: 'name of the key, shown in lists' },
  },
  async run(call) {
    const app = await call.open()
    const { directory, config } = app
    const name = call.text('name') ?? 'command line'
    const { id, secret } = await directory.operatorKeys.issue(name)
    const target = { type: 'key', id, label: name }
    await auditCredential(app, operatorKey.words, { teamId: null, target, opens: 'the whole appliance' })
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
