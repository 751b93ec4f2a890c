// `mailstead mcp`: the tools of a mailbox for an assistant on this machine, over standard input and output.

import { finished } from 'node:stream/promises'
import { ProductError } from '../../base/errors.ts'
import { callOverHttp, ToolError } from '../../mcp/api-caller.ts'
import type { Command } from '../frame/command.ts'

/** Calls that change something, and are not repeated within ten minutes. */
const REMEMBERED_MAX = 500

export const mcp: Command = {
  words: 'mcp',
  summary: 'Serve a mailbox to an assistant (MCP over standard input and output); the key is in MAILSTEAD_KEY.',
  options: {
    url: { value: 'url', says: 'origin of the appliance, such as https://mail.example (APP_ORIGIN unless given)' },
  },
  examples: ['MAILSTEAD_KEY=… mailstead mcp --url https://mail.example'],
  async run(call) {
    const key = call.variable('MAILSTEAD_KEY')
    if (key === undefined || key === '') {
      const rule = 'MAILSTEAD_KEY is missing. Set it to a mailbox key: mailstead mailbox key <address>.'
      throw new ProductError('missing_parameter', rule)
    }
    const api = callOverHttp(call.text('url') ?? call.config.APP_ORIGIN, key)
    // The SDK is loaded by this command only.
    const [{ mcpServer, rightsOf }, { CallMemory }, { serveStdio }] = await Promise.all([
      import('../../mcp/server.ts'),
      import('../../mcp/call-memory.ts'),
      import('@modelcontextprotocol/server/stdio'),
    ])
    const rights = await rightsOf(api).catch((error: unknown) => {
      throw error instanceof ToolError ? new ProductError('authentication_required', error.message) : error
    })
    const memory = new CallMemory(REMEMBERED_MAX)
    const { close } = serveStdio(() => mcpServer(api, { rights, memory }))
    await finished(process.stdin, { writable: false }).catch(() => undefined)
    await close()
    return undefined
  },
}
