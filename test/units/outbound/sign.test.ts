// Who is signed for: the team's own proven domains whose key is in DNS, with the keys as they are now.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { authenticate } from '../../../src/auth/authenticate.ts'
import { Db } from '../../../src/db/db.ts'
import { type DirectoryDeps, openDirectory } from '../../../src/directory/directory.ts'
import { compose } from '../../../src/mime/compose/compose.ts'
import { READY_KEYS_MAX, Signer } from '../../../src/outbound/sign.ts'
import { arrival } from '../../support/arrivals.ts'
import { openTestDirectory, type TestDirectory } from '../../support/directory.ts'
import { zoneResolver } from '../../support/dns.ts'
import { draft } from '../../support/drafts.ts'

const mailFrom = (email: string) => compose(draft({ from: { email, name: '' } })).bytes

/** Selectors of the signatures, each with what another implementation says of it. */
async function judged(house: TestDirectory, mail: Uint8Array): Promise<string[]> {
  const { verdict } = await authenticate(mail, arrival(), zoneResolver(house.dns.zone))
  return verdict.signatures.map(({ selector, domain, result }) => `${selector} ${domain} ${result}`)
}

async function publish(house: TestDirectory, teamId: string, id: string): Promise<void> {
  const { records } = (await house.directory.domains.get(teamId, id))!
  for (const { name, value } of [records.verification, ...records.dkim]) house.dns.zone[name] = { TXT: [value] }
  await house.directory.domains.verify(teamId, id)
}

const sender = (teamId: string, email: string) => ({ teamId, mailboxId: null, from: { email, name: '' } })

test('mail is signed once the domain is proven and its key is found, and no longer when it is lost', async () => {
  await using house = await openTestDirectory()
  const signer = new Signer(house)
  const teamId = await house.team()
  const { id, records } = await house.directory.domains.create(teamId, 'example.org')
  const mail = mailFrom('Ann@Example.ORG')
  const sign = () => signer.sign(sender(teamId, 'Ann@Example.ORG'), mail)
  assert.equal(await sign(), mail)
  house.dns.zone[records.dkim[0]!.name] = { TXT: [records.dkim[0]!.value] }
  await house.directory.domains.verify(teamId, id)
  assert.equal(await sign(), mail, 'the key is there, but nobody has proven the domain')
  await publish(house, teamId, id)
  const signed = Buffer.from(await sign())
  assert.deepEqual(await judged(house, signed), ['s1 example.org pass'])
  assert.ok(signed.subarray(signed.length - mail.length).equals(mail), 'the mail itself is untouched')
  house.dns.zone[records.dkim[0]!.name] = { TXT: ['v=DKIM1; p='] }
  await house.directory.domains.verify(teamId, id)
  assert.equal(await sign(), mail)
})

test('nobody signs for the domain of another team, for a name below, or for none at all', async () => {
  await using house = await openTestDirectory()
  const signer = new Signer(house)
  const teamId = await house.team()
  await house.directory.domains.create(teamId, 'shop.test')
  const mail = mailFrom('ann@shop.test')
  assert.notEqual(await signer.sign(sender(teamId, 'ann@shop.test'), mail), mail)
  assert.equal(await signer.sign(sender(await house.team('Two'), 'ann@shop.test'), mail), mail)
  for (const from of ['ann@sub.shop.test', 'ann@test', '"ann@shop.test"@other.test', '', 'ann', 'ann@shop.test.']) {
    assert.equal(await signer.sign(sender(teamId, from), mail), mail, from)
  }
})

test('keys that another thread made sign here at once, two kinds side by side', async () => {
  await using house = await openTestDirectory()
  const teamId = await house.team()
  const { id } = await house.directory.domains.create(teamId, 'example.org')
  await publish(house, teamId, id)
  // As the worker has it: its own connection and its own directory on the same file.
  const db = new Db({ file: house.db.file })
  try {
    const directory = openDirectory({
      db,
      clock: house.clock,
      vault: house.vault,
      config: {},
    } as unknown as DirectoryDeps)
    const signer = new Signer({ db, clock: house.clock, directory })
    const mail = mailFrom('ann@example.org')
    const sign = async () => judged(house, await signer.sign(sender(teamId, 'ann@example.org'), mail))
    assert.deepEqual(await sign(), ['s1 example.org pass'])
    await house.directory.domains.rotateKey(teamId, id, 'rsa')
    assert.deepEqual(await sign(), ['s1 example.org pass'])
    await publish(house, teamId, id)
    assert.deepEqual(await sign(), ['s2 example.org pass'])
    await house.directory.domains.rotateKey(teamId, id, 'ed25519')
    await publish(house, teamId, id)
    assert.deepEqual(await sign(), ['s2 example.org pass', 's3 example.org pass'])
    await house.directory.domains.delete(teamId, id)
    assert.equal(await signer.sign(sender(teamId, 'ann@example.org'), mail), mail)
    // The same name again, and the same number of the row: another key.
    const again = await house.directory.domains.create(teamId, 'example.org')
    await publish(house, teamId, again.id)
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
    domains: { statusFor: async () => ({ id: 'mdom_1', name: 'x.test', verificationStatus: 'verified' }) },
    dkimKeys: {
      signing: async () => [{ selector: 's1', algorithm: 'ed25519', public: asked }],
      open: async () => {
        read++
        return privateKey
      },
    },
  }
  const signer = new Signer({ db: {}, clock: { now: () => 0 }, directory } as never)
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
