// RSA key pairs for domains of tests, made once for all test processes: making one takes as long as a test.

import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { type DkimAlgorithm, type DkimPair, newDkimPair } from '../../src/directory/domains/dkim-keys.ts'
import { ROOT } from './source.ts'

/** More than a test needs different ones. */
const COUNT = 40
const FILE = join(ROOT, `node_modules/.cache/dkim-pairs-${COUNT}.json`)

let pairs: Promise<DkimPair[]> | undefined
let next = randomInt(COUNT)

async function readOrMake(): Promise<DkimPair[]> {
  if (!existsSync(FILE)) {
    const made: object[] = []
    for (let n = 0; n < COUNT; n++) {
      const { private: key, ...pair } = await newDkimPair('rsa')
      made.push({ ...pair, private: key.toString('base64') })
    }
    mkdirSync(dirname(FILE), { recursive: true })
    const own = `${FILE}.${process.pid}`
    writeFileSync(own, JSON.stringify(made), { mode: 0o600 })
    renameSync(own, FILE)
  }
  const stored = JSON.parse(readFileSync(FILE, 'utf8')) as (DkimPair & { private: string })[]
  return stored.map((pair) => ({ ...pair, private: Buffer.from(pair.private, 'base64') }))
}

/** As `newDkimPair`: the next pair of the supply. */
export async function suppliedDkimPair(algorithm: DkimAlgorithm): Promise<DkimPair> {
  if (algorithm !== 'rsa') return newDkimPair(algorithm)
  pairs ??= readOrMake()
  return (await pairs)[next++ % COUNT]!
}
