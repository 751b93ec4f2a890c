// Proof of work against independent test vectors: hash, signature and first solution.

import assert from 'node:assert/strict'
import { pbkdf2Sync } from 'node:crypto'
import { test } from 'node:test'
import { ProofOfWork, requestHash, signatureOf } from '../../../src/agents/proof-of-work.ts'
import { ManualClock } from '../../support/clock.ts'
import { failure } from '../../support/directory.ts'
import { fixtureJson } from '../../support/fixtures.ts'

const REQUEST = { type: 'anonymous', mailboxLocalPart: 'scout', clientName: 'demo', idempotencyKey: 'k1' } as const
const SECRET = 'test-pow-secret'
const PARAMETERS = {
  algorithm: 'PBKDF2/SHA-256',
  cost: 10000,
  data: {
    purpose: 'agent_registration',
    request_hash: '6bdcc7d6ec76d610fe64fc1effc54e8cb90111d14d8c29b578be23e6c2dea739',
  },
  expiresAt: 4102444800,
  keyLength: 32,
  keyPrefix: '00',
  nonce: '00112233445566778899aabbccddeeff',
  salt: 'ffeeddccbbaa99887766554433221100',
}
const SIGNATURE = '8d953cb1a1b55c6379fc065e39810fedd05b917439964f5142a46a4e250e179f'
const SOLUTION = { counter: 53, derivedKey: '00e4efc3ebcb2b9d0cfc85b518e226fb9ba82f93b7febbad6204132606aa9683' }

const write = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const proof = write({ challenge: { parameters: PARAMETERS, signature: SIGNATURE }, solution: SOLUTION })

test('the request hash and the challenge signature match the vectors', () => {
  assert.equal(requestHash(REQUEST), PARAMETERS.data.request_hash)
  assert.equal(signatureOf(PARAMETERS, SECRET), SIGNATURE)
})

test('the first solution of the vector is valid until its expiry, for that request alone', async () => {
  const clock = new ManualClock()
  const work = new ProofOfWork({ clock, secret: SECRET, cost: 10 })
  const found = await work.check(proof, REQUEST)
  assert.equal(Buffer.from(found.nonce).toString('hex'), PARAMETERS.nonce)
  assert.equal(found.expiresAt, PARAMETERS.expiresAt * 1000)
  assert.equal((await work.check(proof.replaceAll('=', ''), REQUEST)).expiresAt, found.expiresAt)
  const wrong = (code: string) => failure('validation_error', { field: 'proof_of_work', code })
  await assert.rejects(work.check(proof, { ...REQUEST, clientName: 'other' }), wrong('request_mismatch'))
  const strangers = new ProofOfWork({ clock, secret: 'another', cost: 10 })
  await assert.rejects(strangers.check(proof, REQUEST), wrong('invalid_signature'))
  clock.leap(PARAMETERS.expiresAt * 1000 - clock.now() - 1)
  await work.check(proof, REQUEST)
  clock.leap(1)
  await assert.rejects(work.check(proof, REQUEST), wrong('expired'))
})

interface Vector {
  nonce: string
  salt: string
  cost: number
  keyLength: number
  keyPrefix: string
  counter: number
  derivedKey: string
}

/** First solutions, computed with hashlib of Python. */
const SOLVED: Omit<Vector, 'keyLength'>[] = [
  {
    nonce: '00112233445566778899aabbccddeeff',
    salt: 'ffeeddccbbaa99887766554433221100',
    cost: 10,
    keyPrefix: '00',
    counter: 582,
    derivedKey: '00a4e97e4669f8c5eda5ed2e544168a793de7e94d73827d446090a8243b3a712',
  },
  {
    nonce: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    salt: '00000000000000000000000000000001',
    cost: 10,
    keyPrefix: '000',
    counter: 1655,
    derivedKey: '00084c839d6cea71cfa9fd4e4a3c1e21d4b459c913a9893d2083e3fde695eb4c',
  },
  {
    nonce: 'a1',
    salt: 'b2',
    cost: 10,
    keyPrefix: '0',
    counter: 32,
    derivedKey: '0f591955e719b1392953a80c6accee792aa6158a8d287c8d07327e80f7ae7d96',
  },
  {
    nonce: 'deadbeefdeadbeefdeadbeefdeadbeef',
    salt: 'cafebabecafebabecafebabecafebabe',
    cost: 100,
    keyPrefix: '00',
    counter: 169,
    derivedKey: '008d5c250c3e555b5d23ff3e855c0f9bc84a5de4822a317de278b7827d47751a',
  },
  {
    nonce: '00000000000000000000000000000000',
    salt: 'ffffffffffffffffffffffffffffffff',
    cost: 1000,
    keyPrefix: '00',
    counter: 20,
    derivedKey: '0060a6a43e3972f1929436ad71029aa8b7d10e666cb681d994e04e843b81ddab',
  },
  {
    nonce: 'ffffffffffffffffffffffffffffffff',
    salt: '00000000000000000000000000000000',
    cost: 1000,
    keyPrefix: 'f',
    counter: 34,
    derivedKey: 'fd675438b4c62c712cc9e1a776c24a63907b462464871a592379d53229cac958',
  },
  {
    nonce: '1234567890abcdef1234567890abcdef',
    salt: 'abcdef1234567890abcdef1234567890',
    cost: 10,
    keyPrefix: 'abc',
    counter: 1532,
    derivedKey: 'abcf578af755ee26b132ac21896e24596936b43ba21fc59abc40fb9a19a15c67',
  },
]

test('independent solutions are valid, and those off by one are not', async () => {
  const work = new ProofOfWork({ clock: new ManualClock(), secret: SECRET, cost: 10 })
  const foreign = fixtureJson<Vector[]>('pow/altcha-v2-pbkdf2-sha256.json')
  const vectors = [...SOLVED.map((vector) => ({ ...vector, keyLength: 32 })), ...foreign]
  for (const { counter, derivedKey, ...given } of vectors.filter(({ cost }) => cost <= 1000)) {
    const parameters = { ...PARAMETERS, ...given }
    if (parameters.keyLength !== 32) continue
    const challenge = { parameters, signature: signatureOf(parameters, SECRET) }
    await work.check(write({ challenge, solution: { counter, derivedKey } }), REQUEST)
    const next = keyOf(given, counter + 1)
    if (next.startsWith(given.keyPrefix)) continue
    const off = write({ challenge, solution: { counter: counter + 1, derivedKey: next } })
    await assert.rejects(
      work.check(off, REQUEST),
      failure('validation_error', { field: 'proof_of_work', code: 'invalid_solution' }),
    )
  }
})

function keyOf({ nonce, salt, cost, keyLength }: Omit<Vector, 'counter' | 'derivedKey'>, counter: number): string {
  const password = Buffer.alloc(nonce.length / 2 + 4)
  password.write(nonce, 'hex')
  password.writeUInt32BE(counter, nonce.length / 2)
  return pbkdf2Sync(password, Buffer.from(salt, 'hex'), cost, keyLength, 'sha256').toString('hex')
}
