// Commands for app passwords, client settings and sign-ins of a mailbox.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { startAppliance } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'
import { signIn } from '../../support/mail-program.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('in.test')
const { email } = await team.mailbox('ana@in.test')
const other = await team.mailbox('ben@in.test')
const cli = new Commands({
  ...{ DATA_DIR: appliance.dataDir, DNS_SERVERS: appliance.dns.address },
  ...{
    MAIL_HOSTS: 'mx.mailstead.test',
    CLIENT_HOST: 'mail.in.test',
    CLIENT_PROTOCOLS: 'imap',
    CLIENT_PUBLIC_PORTS: '993,143,465,587,4190',
  },
})

test('an app password is created, signs in, is listed without its secret, and revoked', async () => {
  const create = ['mailbox', 'app-password', 'create', email, '--name', 'Telephone', '--read-only']
  const { code, out } = await cli.run(...create, '--expires', '2100-01-01')
  assert.deepEqual([code, out], [1, []], 'more than five years ahead')
  const shown = await cli.run(...create)
  const [, grouped] = /^ {2}((?:\w{5}-){3}\w{5})$/.exec(shown.out[1]!)!
  const result = await signIn(appliance, email, grouped!, { client: 'Mail 1.0' })
  assert.ok(result.accepted)
  assert.deepEqual(result.session.principal.permissions, ['mailbox.read'])
  const made = await cli.json(...create, '--saves-sent', '--expires', new Date(Date.now() + 86_400_000).toISOString())
  assert.deepEqual([made.saves_sent, made.created_by, made.permissions], [true, 'operator', ['mailbox.read']])
  const listed = await cli.json('mailbox', 'app-password', 'list', email, '--status', 'active')
  assert.deepEqual(
    listed.map(({ id }: { id: string }) => id),
    [made.id, result.session.principal.keyId],
  )
  const { out: lines } = await cli.run('mailbox', 'app-password', 'list', email)
  assert.match(lines[1]!, new RegExp(`^${made.id} +…${made.last4} +active +never +Telephone$`))
  assert.ok(!lines.join('\n').includes(made.password))
  await cli.refused(['mailbox', 'app-password', 'revoke', other.email, made.id], 'no such app password')
  await cli.refused(['mailbox', 'app-password', 'revoke', email, newId('appPassword')], 'no such app password')
  await cli.refused(['mailbox', 'app-password', 'revoke', email, 'x'], 'not the id of an app password')
  assert.equal((await cli.json('mailbox', 'app-password', 'revoke', email, made.id)).status, 'revoked')
  assert.equal((await cli.json('mailbox', 'app-password', 'list', email, '--status', 'revoked')).length, 1)
})

test('sign-ins are listed with what the program says of itself', async () => {
  const rows = await cli.json('mailbox', 'sign-ins', email)
  assert.deepEqual([rows.length, rows[0].outcome, rows[0].client], [1, 'ok', 'Mail 1.0'])
  const { out } = await cli.run('mailbox', 'sign-ins', email)
  assert.match(out[1]!, /^\d{4}-.* +1 +imap +ok +192\.0\.2\.1 +apw_\w{24} +Mail 1\.0$/)
  assert.deepEqual((await cli.run('mailbox', 'sign-ins', email, '--outcome', 'expired')).out, [
    'There are no sign-ins.',
  ])
  await cli.refused(['mailbox', 'sign-ins', email, '--outcome', 'fine'], 'outcome')
})

test('settings say what to enter', async () => {
  const { out } = await cli.run('mailbox', 'settings', email)
  assert.ok(out.includes('Incoming (IMAP)  mail.in.test, port 143, STARTTLS'), out.join('\n'))
  assert.ok(out.includes('Outgoing (SMTP)  not served'))
  assert.equal((await cli.json('mailbox', 'settings', email)).username, email)
  await cli.refused(['mailbox', 'settings', 'eve@in.test'], 'no mailbox')
})
