// IMAP in the demo: a mail program signs in with an app password and reads a message.

import { once } from 'node:events'
import { connect } from 'node:tls'
import { ImapClient } from '../../test/support/imap.ts'
import { heading, line } from './print.ts'

const SHOWN = ['STATUS INBOX (MESSAGES UNSEEN)', 'FETCH 1 (FLAGS BODY.PEEK[TEXT])']

/** @param port of IMAP with TLS */
export async function demoImap(port: number, email: string, password: string): Promise<void> {
  heading('7  IMAP', `a mail program signs in as ${email} with an app password; two of its commands`)
  line(`settings: server localhost, port ${port}, SSL/TLS, user ${email}, app password ${password}`)
  // The certificate of the demo is self-signed.
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  await using client = new ImapClient(socket)
  const greeting = await client.response()
  if (!greeting?.startsWith('* OK')) throw new Error(`IMAP greets with ${greeting}`)
  await run(client, `LOGIN ${email} ${password}`)
  await run(client, 'EXAMINE INBOX')
  for (const command of SHOWN) {
    line(`> ${command}`)
    for (const response of await run(client, command)) {
      for (const text of response.trimEnd().split('\r\n')) line(`  ${text}`.trimEnd())
    }
  }
  await run(client, 'LOGOUT')
}

/** @returns the untagged responses */
async function run(client: ImapClient, command: string): Promise<string[]> {
  const { status, tagged, untagged } = await client.run(command)
  if (status !== 'OK') throw new Error(`IMAP answers ${tagged}`)
  return untagged
}
