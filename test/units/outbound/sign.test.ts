// Who is signed for: the team's own proven domains whose key is in DNS, with the keys as they are now.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { authenticate } from '../../../src/auth/authenticate.ts'
import { Db } from '../../../src/db/db.ts'
import { type DirectoryDeps, openDirectory } from '../../../src/directory/directory.ts'
import { compose } from '../../../src/mime/compose/compose.ts'
import { READY_KEYS_MAX, Signer } from '../../../src/outbound/runner/sign.ts'
import { arrival } from '../../support/arrivals.ts'
import { openTestDirectory, type TestDirectory } from '../../support/directory.ts'
import { zoneResolver } from '../../support/dns.ts'
import { draft } from '../../support/drafts.ts'

const mailFrom = (email: string) => compose(draft({ from: { email, name: '' } })).bytes

/** Selectors of the signatures, each with what another implementation says of it. */
async function judged(appliance: TestDirectory, mail: Uint8Array): Promise<string[]> {
  const { verdict } = await authenticate(mail, arrival(), zoneResolver(appliance.dns.zone))
  return verdict.signatures.map(({ selector, domain, result }) => `${selector} ${domain} ${result}`)
}

async function publish(appliance: TestDirectory, teamId: string, id: string): Promise<void> {
  const { records } = appliance.directory.domains.get(teamId, id)!
  for (const { name, value } of [records.verification, ...records.dkim]) appliance.dns.zone[name] = { TXT: [value] }
  await appliance.administration.domains.verify(teamId, id)
}

const sender = (teamId: string, email: string) => ({ teamId, mailboxId: null, from: { email, name: '' } })

test('messages are signed while the domain is verified and its key is published', async () => {
  await using appliance = await openTestDirectory()
  const signer = new Signer(appliance)
  const teamId = await appliance.team()
  const { id, records } = await appliance.directory.domains.create(teamId, 'example.org')
  const mail = mailFrom('Ann@Example.ORG')
  const sign = () => signer.sign(sender(teamId, 'Ann@Example.ORG'), mail)
  assert.equal(await sign(), mail)
  appliance.dns.zone[records.dkim[0]!.name] = { TXT: [records.dkim[0]!.value] }
  await appliance.administration.domains.verify(teamId, id)
  assert.equal(await sign(), mail, 'the key exists, but the domain is not verified')
  await publish(appliance, teamId, id)
  const signed = Buffer.from(await sign())
  assert.deepEqual(await judged(appliance, signed), ['s1 example.org pass'])
  assert.ok(signed.subarray(signed.length - mail.length).equals(mail), 'the mail itself is untouched')
  appliance.dns.zone[records.dkim[0]!.name] = { TXT: ['v=DKIM1; p='] }
  await appliance.administration.domains.verify(teamId, id)
  assert.equal(await sign(), mail)
})

test('no signature for the domain of another team, a subdomain, or no domain', async () => {
  await using appliance = await openTestDirectory()
  const signer = new Signer(appliance)
  const teamId = await appliance.team()
  await appliance.directory.domains.create(teamId, 'shop.test')
  const mail = mailFrom('ann@shop.test')
  assert.notEqual(await signer.sign(sender(teamId, 'ann@shop.test'), mail), mail)
  assert.equal(await signer.sign(sender(await appliance.team('Two'), 'ann@shop.test'), mail), mail)
  for (const from of ['ann@sub.shop.test', 'ann@test', '"ann@shop.test"@other.test', '', 'ann', 'ann@shop.test.']) {
    assert.equal(await signer.sign(sender(teamId, from), mail), mail, from)
  }
})

test('keys that another thread made sign here at once, two kinds side by side', async () => {
  await using appliance = await openTestDirectory()
  const teamId = await appliance.team()
  const { id } = await appliance.directory.domains.create(teamId, 'example.org')
  await publish(appliance, teamId, id)
  // As the worker has it: its own connection and its own directory on the same file.
  const db = new Db({ file: appliance.db.file })
  try {
    const directory = openDirectory({
      db,
      clock: appliance.clock,
      vault: appliance.vault,
      config: {},
    } as unknown as DirectoryDeps)
    const signer = new Signer({ db, clock: appliance.clock, directory })
    const mail = mailFrom('ann@example.org')
    const sign = async () => judged(appliance, await signer.sign(sender(teamId, 'ann@example.org'), mail))
    assert.deepEqual(await sign(), ['s1 example.org pass'])
    await appliance.directory.domains.rotateKey(teamId, id, 'rsa')
    assert.deepEqual(await sign(), ['s1 example.org pass'])
    await publish(appliance, teamId, id)
    assert.deepEqual(await sign(), ['s2 example.org pass'])
    await appliance.directory.domains.rotateKey(teamId, id, 'ed25519')
    await publish(appliance, teamId, id)
    assert.deepEqual(await sign(), ['s2 example.org pass', 's3 example.org pass'])
    await appliance.directory.domains.delete(teamId, id)
    assert.equal(await signer.sign(sender(teamId, 'ann@example.org'), mail), mail)
    // The same name again, and the same number of the row: another key.
    const again = await appliance.directory.domains.create(teamId, 'example.org')
    await publish(appliance, teamId, again.id)
    assert.deepEqual(await sign(), ['s1 example.org pass'])
  } finally {
    await db.close()
  }
})

test('so many keys are held ready, and the others are read again', async () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  let read = 0
  let asked = ''
  const directory = {
    domains: { statusFor: () => ({ id: 'mdom_1', name: 'x.test', verificationStatus: 'verified' }) },
    dkimKeys: {
      signing: () => [{ selector: 's1', algorithm: 'ed25519', public: asked }],
      open: () => {
        read++
        return privateKey
      },
    },
  }
  let changes = 0
  // A database that has changed whenever it is looked at.
  const db = {
    foreignVersion: 0,
    get changes() {
      return ++changes
    },
  }
  const signer = new Signer({ db, clock: { now: () => 0 }, directory } as never)
  const sign = async (key: number) => {
    asked = `key ${key}`
    await signer.sign(sender('team_1', 'a@x.test'), mailFrom('a@x.test'))
  }
  for (let key = 0; key < READY_KEYS_MAX; key++) await sign(key)
  for (let key = 0; key < READY_KEYS_MAX; key++) await sign(key)
  assert.equal(read, READY_KEYS_MAX)
  await sign(READY_KEYS_MAX)
  await sign(1)
  assert.equal(read, READY_KEYS_MAX + 1, 'the one used longest ago made room')
  await sign(0)
  assert.equal(read, READY_KEYS_MAX + 2)
})
