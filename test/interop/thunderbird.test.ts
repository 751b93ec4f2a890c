// Thunderbird sets up a mailbox by its address alone: it finds the settings, signs in, makes the account and reads a message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePorts, startAppliance } from '../support/appliance.ts'
import { sendMail } from '../support/smtp.ts'
import { Thunderbird, thunderbirdMissing } from '../support/thunderbird.ts'

/** What the dialogue "Set up an existing address" does, without the dialogue. */
const FIND = `
  const [email, password] = args
  const load = (name) => ChromeUtils.importESModule('resource:///modules/accountcreation/' + name + '.sys.mjs')
  const { FindConfig } = load('FindConfig'), { AccountConfig } = load('AccountConfig')
  const search = FindConfig.parallelAutoDiscovery(email.split('@')[1], email, new AbortController().signal)
  let step
  do { step = await search.next() } while (!step.done)
  if (step.value === null) throw new Error('no settings were found')
  AccountConfig.replaceVariables(step.value, 'Ana', email, password)
  globalThis.found = step.value
  const of = ({ type, hostname, port, socketType, username, auth }) => ({ type, hostname, port, socketType, username, auth })
  return { from: step.value.subSource, incoming: of(step.value.incoming), outgoing: of(step.value.outgoing) }`

const CREATE = `
  const load = (name) => ChromeUtils.importESModule('resource:///modules/accountcreation/' + name + '.sys.mjs')
  const { ConfigVerifier } = load('ConfigVerifier'), { CreateInBackend } = load('CreateInBackend')
  const verifier = new ConfigVerifier(null, new AbortController().signal)
  const config = await verifier.verifyConfig(globalThis.found)
  const account = await CreateInBackend.createAccountInBackend(config)
  const { server } = account.incomingServer ? { server: account.incomingServer } : { server: account }
  const until = async (test) => {
    for (let tries = 0; tries < 600; tries++) {
      const value = test()
      if (value) return value
      await new Promise((done) => ChromeUtils.importESModule('resource://gre/modules/Timer.sys.mjs').setTimeout(done, 100))
    }
    throw new Error('nothing after a minute: ' + test)
  }
  server.performExpand(null)
  const names = () => server.rootFolder.descendants.map((folder) => folder.name)
  await until(() => names().includes('Sent'))
  const inbox = server.rootFolder.getFolderWithFlags(Ci.nsMsgFolderFlags.Inbox)
  inbox.updateFolder(null)
  await until(() => inbox.getTotalMessages(false) === 1)
  const [message] = [...inbox.messages]
  return { folders: names(), subject: message.mime2DecodedSubject, identity: account.defaultIdentity.email }`

const skip = thunderbirdMissing()

test('an account is made by the address and an app password', { skip, timeout: 900_000 }, async () => {
  const [imaps, submissions] = await freePorts()
  await using appliance = await startAppliance({
    env: {
      ...{ CLIENT_PROTOCOLS: 'imaps,submissions', CLIENT_HOST: 'imap.acme.test' },
      ...{ IMAPS_PORT: String(imaps), SUBMISSIONS_PORT: String(submissions) },
      CLIENT_PUBLIC_PORTS: `${imaps},143,${submissions},587,4190`,
    },
  })
  const team = await appliance.team()
  await team.domain('acme.test')
  const ana = await team.mailbox('ana@acme.test')
  const made = await appliance.call('POST', `/mailboxes/${ana.id}/app-passwords`, team.key, { name: 'Thunderbird' })
  const sent = { from: 'bob@friends.example', to: ana.email, subject: 'Grüße', text: 'Hello.' }
  await sendMail(appliance.ports.smtp, sent)

  await using program = await Thunderbird.start({
    preferences: {
      // Every name leads to the appliance over http; https is refused, and the program falls back.
      ...{ 'network.proxy.type': 1, 'network.proxy.allow_hijacking_localhost': true },
      ...{ 'network.proxy.http': '127.0.0.1', 'network.proxy.http_port': Number(new URL(appliance.origin).port) },
      ...{ 'network.proxy.ssl': '127.0.0.1', 'network.proxy.ssl_port': 1 },
      'network.dns.localDomains': 'imap.acme.test',
    },
  })
  const server = { hostname: 'imap.acme.test', socketType: 3, username: ana.email, auth: 3 }
  assert.deepEqual(await program.run(FIND, ana.email, made.body.data.password), {
    from: 'xml-from-isp-http',
    incoming: { type: 'imap', port: imaps, ...server },
    outgoing: { type: 'smtp', port: submissions, ...server },
  })
  const result = await program.run<{ folders: string[]; subject: string; identity: string }>(CREATE)
  assert.equal(result.subject, 'Grüße')
  assert.equal(result.identity, ana.email)
  for (const name of ['Drafts', 'Sent', 'Trash']) assert.ok(result.folders.includes(name), result.folders.join())
  const [signIn] = (await appliance.get('/mailbox/sign-ins', ana.key)).body.data
  assert.deepEqual([signIn.protocol, signIn.outcome, signIn.credential_id], ['imap', 'ok', made.body.data.id])
})
