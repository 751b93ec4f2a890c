// Nothing that opens a door reaches the log.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { openLog } from '../../../src/base/log.ts'
import { newSecret } from '../../../src/base/secrets.ts'

function written(write: (log: ReturnType<typeof openLog>) => void): string {
  let out = ''
  write(openLog('info', { write: (line: string) => (out += line) }))
  return out
}

describe('the log', () => {
  const secret = newSecret('srk_')
  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

  it('hides members that are secret by name', () => {
    const out = written((log) =>
      log.info({ password: 'p4ss', request: { headers: { authorization: 'Basic eDp5' } } }, 'x'),
    )
    assert.ok(!out.includes('p4ss') && !out.includes('eDp5'), out)
  })

  it('hides secrets wherever they stand: messages, values, errors and stacks', () => {
    const out = written((log) => {
      log.info(`key ${secret}`)
      log.info({ deep: { er: { url: `https://x/?k=${secret}` } } }, 'x')
      log.error({ err: new Error(`failed with Bearer ${secret}`) }, 'x')
      log.error({ err: new Error('bad', { cause: new Error(secret) }) }, 'x')
      log.info({ pem }, 'x')
    })
    assert.ok(!out.includes(secret.slice(4, 30)), out)
    assert.ok(!out.includes(pem.split('\n')[1]!), out)
    assert.equal(out.trim().split('\n').length, 5)
    for (const line of out.trim().split('\n')) JSON.parse(line)
  })
})
