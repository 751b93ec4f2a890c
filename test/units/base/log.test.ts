// No secret reaches the log.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { openLog } from '../../../src/base/log.ts'
import { readableLine } from '../../../src/base/log-text.ts'
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

describe('the log at a terminal', () => {
  const at = '2026-01-02T03:04:05.678Z'
  const line = (fields: object) => readableLine(JSON.stringify({ level: 30, time: at, msg: 'Open', ...fields }), false)

  it('is one short line: time of day, level, sentence, and what belongs to it', () => {
    const fields = { event: 'appliance.started', ports: { smtp: 2525, more: [1] }, data: './my data', none: null }
    const said = 'event=appliance.started ports.smtp=2525 ports.more=[1] data="./my data" none=null'
    const clock = new Date(at).toTimeString().slice(0, 8)
    assert.equal(line(fields), `${clock} info  Open  ${said}\n`)
    assert.equal(line({ level: 40 }), `${clock} warn  Open\n`)
  })

  it('shows where an error comes from, and the message of a warning alone', () => {
    const err = {
      type: 'Error',
      message: 'no disk',
      stack: 'Error: no disk\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)',
    }
    assert.match(
      line({ level: 50, err }),
      /error Open {2}err="no disk"\n {4}at one \(a\.ts:1:2\)\n {4}at two \(b\.ts:3:4\)\n$/,
    )
    assert.match(line({ level: 40, err }), /warn {2}Open {2}err="no disk"\n$/)
  })

  it('lets nothing through a terminal acts on', () => {
    const said = line({ msg: 'a\u001b[2Jb', subject: 'x\u009b1m\u202ey', list: ['\u001b'], 'k\u0007': 1 })
    assert.doesNotMatch(said.trimEnd(), /[\u0000-\u001f\u007f-\u009f\u202e]/)
    assert.match(readableLine('not JSON \u001b[1m\n', false), /^not JSON \\u001b\[1m\n$/)
  })

  it('hides secrets as in JSON, which stays the form everywhere else', () => {
    let out = ''
    const secret = newSecret('srk_')
    const log = openLog('info', { write: (text: string) => (out += text) }, 'text')
    log.info({ password: 'p4ss', url: `https://x/?k=${secret}` }, 'hello')
    assert.ok(!out.includes('p4ss') && !out.includes(secret), out)
    assert.match(out, /^\d\d:\d\d:\d\d info {2}hello {2}password=\[redacted\]|password="\[redacted\]"/)
    assert.doesNotThrow(() => JSON.parse(written((json) => json.info('hello'))))
  })
})
