// The seals of forwarded messages (RFC 8617), verified by dkimpy: of one host, and of two one behind the other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { data, receiveRaw } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { rsaKey, signMail } from '../support/dkim.ts'
import { startMailServer } from '../support/mail-server.ts'
import { missingProgram } from '../support/programs.ts'
import { askPython, PYTHON } from '../support/python.ts'

const skip = missingProgram(PYTHON, ['-c', 'import dkim'], 'dkimpy (python3-dkim)')

const SCRIPT = `
import sys, json, dkim
records = json.loads(RECORDS)
def answer(name, timeout=5):
    return records[name.decode().rstrip('.')].encode()
def verdict(path):
    mail = open(path, 'rb').read()
    cv, results, reason = dkim.arc_verify(mail, dnsfunc=answer)
    seals = [[r['instance'], r['as-domain'].decode(), r['as-valid'], r['ams-valid']] for r in results]
    return [cv.decode() if cv else None, seals, reason]
print(json.dumps([verdict(path) for path in sys.argv[1:]]))
`

type Verdict = [cv: string | null, seals: [instance: number, domain: string, seal: boolean, message: boolean][], string]

test('dkimpy verifies the chain of one and of two seals, and none of a changed message', { skip }, async () => {
  await using remote = await startMailServer()
  const key = rsaKey()
  const zone: Record<string, object> = {
    'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    's1._domainkey.out.test': { TXT: [key.record] },
    '_dmarc.out.test': { TXT: ['v=DMARC1; p=reject'] },
    'customer.example': { MX: [{ priority: 10, exchange: 'mx.customer.example' }] },
    'mx.customer.example': { A: ['127.0.0.1'] },
  }
  const env = { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) }
  await using appliance = await startAppliance({ zone: zone as never, env })
  const team = await appliance.team()
  const published: Record<string, string> = {}
  const boxes: string[] = []
  for (const domain of ['one.test', 'two.test']) {
    const { records } = appliance.app.directory.domains.get(team.id, await team.domain(domain))!
    for (const { name, value } of records.dkim) {
      published[name] = value
      zone[name] = { TXT: [value] }
    }
    const box = await team.mailbox(`ann@${domain}`)
    const script = { name: 'away', content: `redirect "at-${domain}@customer.example";`, activate: true }
    data(await appliance.call('POST', '/mailbox/sieve-scripts', box.key, script), 201)
    boxes.push(box.email)
  }
  const lines = ['From: <bob@out.test>', `To: ${boxes[0]}`, 'Subject: Hello', 'Message-ID: <a@out.test>']
  const text = `${[...lines, `Date: ${new Date().toUTCString()}`].join('\r\n')}\r\n\r\nBody  of it \r\n\r\n`
  let content: string | Buffer = signMail(text, { key, domain: 'out.test' })
  const forwarded: Buffer[] = []
  for (const to of boxes) {
    await receiveRaw(appliance, { from: 'bob@out.test', to, content })
    await appliance.settle()
    content = Buffer.from(remote.messages.at(-1)!.bytes)
    forwarded.push(content)
  }
  const changed = Buffer.from(forwarded[1]!.toString('latin1').replace('\r\n\r\nBody', '\r\n\r\nbody'), 'latin1')
  const script = SCRIPT.replace('RECORDS', JSON.stringify(JSON.stringify(published)))
  const [one, two, broken] = await askPython<Verdict[]>(script, [...forwarded, changed])
  assert.deepEqual(one!.slice(0, 2), ['pass', [[1, 'one.test', true, true]]], one![2])
  assert.equal(two![0], 'pass', two![2])
  assert.deepEqual(two![1].map(([instance, domain, seal]) => [instance, domain, seal]).toSorted(), [
    [1, 'one.test', true],
    [2, 'two.test', true],
  ])
  assert.equal(broken![0], 'fail')
})
