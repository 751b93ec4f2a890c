// An appliance with an account at a real server: attached by the API, with what each side has to compare.

import assert from 'node:assert/strict'
import { ImapFlow } from 'imapflow'
import type { Json, TestAppliance, TestTeam } from './appliance.ts'
import type { RemoteServer } from './remote-dovecot.ts'

export interface OutsideAccount {
  /** `racc_` */
  id: string
  mailboxId: string
  /** A key of its mailbox. */
  key: string
  record(): Promise<Json>
}

/** Attaches the account of `user` at the server, and makes a key for its mailbox. */
export async function attach(
  { app, call }: TestAppliance,
  team: TestTeam,
  server: RemoteServer,
  options: { user: string } & Record<string, unknown>,
): Promise<OutsideAccount> {
  const { user, ...more } = options
  const reply = await call('POST', '/remote-accounts', team.key, {
    ...{ email: user, password: server.password },
    ...{ imap_host: server.host, imap_port: server.port, imap_protocol: 'none', imap_username: user },
    ...more,
  })
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  const { id, mailbox_id: mailboxId } = reply.body.data
  const issued = await app.directory.keys.issue({
    ...{ teamId: team.id, kind: 'mailbox', mailboxId, name: 'test', createdBy: 'operator' },
  })
  const record = async () => (await call('GET', `/remote-accounts/${id}`, team.key)).body.data
  return { id, mailboxId, key: issued.secret, record }
}

/** Another program at the server. */
export async function signIn(server: RemoteServer, user: string): Promise<ImapFlow & AsyncDisposable> {
  const client = new ImapFlow({
    ...{ host: server.host, port: server.port, secure: false, doSTARTTLS: false, logger: false },
    auth: { user, pass: server.password },
  })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.logout().catch(() => {}) })
}
