// SEARCH beside Dovecot: forty searches over the vectors; every difference is explained here.

import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { type Dovecot, dovecotMissing, FIRST_RECEIVED, type ImapValue, startDovecot } from '../support/dovecot.ts'
import { fixtureBytes, fixturesMissing } from '../support/fixtures.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'
import { SEARCH_DIFFERS, SEARCHES } from './dovecot-searches.ts'
import { VECTOR_NAMES } from './dovecot-vectors.ts'

const TOGETHER = 50
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** As APPEND takes it, UTC. */
function dateTime(ms: number): string {
  const iso = new Date(ms).toISOString()
  return `"${iso.slice(8, 10)}-${MONTHS[Number(iso.slice(5, 7)) - 1]}-${iso.slice(0, 4)} ${iso.slice(11, 19)} +0000"`
}

suite('SEARCH beside Dovecot', { skip: dovecotMissing() || fixturesMissing('mime') }, () => {
  let appliance: TestAppliance
  let client: ImapClient
  let dovecot: Dovecot

  before(async () => {
    const messages = VECTOR_NAMES.map((name) => fixtureBytes(`mime/${name}`))
    appliance = await startAppliance()
    const team = await appliance.team()
    await team.domain('acme.test')
    client = await logInImap(appliance, await team.mailbox('ann@acme.test'))
    for (let from = 0; from < messages.length; from += TOGETHER) {
      const parts: Buffer[] = [Buffer.from(`a APPEND INBOX`)]
      for (const [at, bytes] of messages.slice(from, from + TOGETHER).entries()) {
        const date = dateTime((FIRST_RECEIVED + from + at) * 1000)
        parts.push(Buffer.from(` ${date} {${bytes.length}+}\r\n`), Buffer.from(bytes))
      }
      client.write(Buffer.concat([...parts, Buffer.from('\r\n')]))
      assert.equal((await client.until('a')).status, 'OK')
    }
    await client.run('SELECT INBOX')
    dovecot = await startDovecot(messages)
    for (const change of ['1:100 +FLAGS (\\Seen)', '50:150 +FLAGS (\\Flagged)', '10,20,30 +FLAGS (\\Answered work)']) {
      await client.run(`STORE ${change}`)
      await dovecot.run(`STORE ${change}`)
    }
  })
  after(async () => {
    dovecot?.[Symbol.dispose]()
    client?.close()
    await appliance?.close()
  })

  async function ours(search: string): Promise<number[]> {
    const { status, untagged } = await client.run(`SEARCH ${Buffer.from(search).toString('latin1')}`)
    assert.equal(status, 'OK', search)
    return (untagged.find((line) => line.startsWith('* SEARCH'))?.match(/\d+/g) ?? []).map(Number)
  }

  async function theirs(search: string): Promise<number[]> {
    const responses = await dovecot.run(`SEARCH ${search}`)
    const found: ImapValue[] = responses.find(([name]) => name === 'SEARCH')?.slice(1) ?? []
    return found.map(Number)
  }

  test('finds the same messages but for what is explained', async () => {
    assert.ok(SEARCHES.length >= 40)
    let found = 0
    const differing: Record<string, string[]> = {}
    for (const search of SEARCHES) {
      const [mine, other] = [await ours(search), await theirs(search)]
      found += other.length
      const only = (a: number[], b: number[], sign: string) =>
        a.filter((n) => !b.includes(n)).map((n) => `${sign} ${VECTOR_NAMES[n - 1]}`)
      const names = [...only(mine, other, '+'), ...only(other, mine, '-')]
      if (names.length > 0) differing[search] = names
    }
    assert.ok(found > 500, `${found} messages`)
    const explained = Object.fromEntries(
      Object.entries(SEARCH_DIFFERS).map(([search, names]) => [search, names.map(([name]) => name)]),
    )
    assert.deepEqual(differing, explained)
  })
})
