// Exchanged pages: a disk that writes pages to each other's places leaves each page valid, and `doctor --deep` reports it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { checkDatabases } from '../../src/maintenance/doctor/deep.ts'
import type { StepProgress } from '../../src/maintenance/progress.ts'
import { receive } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { SmtpClient } from '../support/smtp.ts'

const SILENT: StepProgress = { begin() {}, add() {} }

const LAST_OVERFLOW = 'last overflow'

let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-exchanged-'))
  await using appliance = await startAppliance({ dataDir: folder, clock: new ManualClock() })
  const team = await appliance.team()
  await team.domain('in.test')
  const { email: to } = await team.mailbox('ben@in.test')
  for (let n = 0; n < 10; n++) await receive(appliance, { to, subject: `small ${n}`, text: `word${n} `.repeat(200) })
  await using sender = await SmtpClient.greet(appliance.ports.smtp)
  for (let n = 0; n < 3; n++) {
    const cc = Array.from({ length: 300 }, () => `${randomBytes(12).toString('hex')}@else.test`).join(',\r\n ')
    const text = Array.from({ length: 400 }, () => randomBytes(35).toString('hex')).join('\r\n')
    const content = `From: bob@else.test\r\nTo: ${to}\r\nCc: ${cc}\r\nSubject: large ${n}\r\n\r\n${text}\r\n`
    assert.equal((await sender.mail({ from: 'bob@else.test', to, content })).code, 250)
  }
})
after(() => rm(folder, { recursive: true }))

/** Numbers of the pages that hold something, by table or index and kind. */
function pagesOf(file: string, bytes: Buffer): Map<string, number[]> {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database
    .prepare('SELECT pageno AS page, name, pagetype AS type FROM dbstat WHERE pageno > 1 AND payload > 0 ORDER BY path')
    .all() as { page: number; name: string; type: string }[]
  database.close()
  // The page of a row that is not followed by another one begins with four zeros.
  const isLast = (page: number) => bytes.readUInt32BE((page - 1) * pageSize(bytes)) === 0
  const groups = Map.groupBy(rows, ({ page, name, type }) => {
    return `${name} ${type === 'overflow' && isLast(page) ? LAST_OVERFLOW : type}`
  })
  return new Map([...groups].map(([kind, pages]) => [kind, pages.map(({ page }) => page)]))
}

/** The first two and the last two pages of each kind, and pages of one kind with those of the next one. */
function pairsOf(kinds: Map<string, number[]>): { name: string; pages: [number, number] }[] {
  const list = [...kinds]
  const same = list.flatMap(([kind, pages]) =>
    [pages.slice(0, 2), pages.slice(-2)]
      .filter(({ length }) => length === 2)
      .map((pair) => ({ name: `two pages of ${kind}`, pages: pair as [number, number] })),
  )
  const different = list.slice(1).map(([kind, pages], index) => {
    const [previous, others] = list[index]!
    return { name: `${previous} and ${kind}`, pages: [others[0]!, pages[0]!] as [number, number] }
  })
  return [...same, ...different]
}

const pageSize = (bytes: Buffer) => bytes.readUInt16BE(16)

function exchange(bytes: Buffer, [a, b]: [number, number]): Buffer {
  const size = pageSize(bytes)
  const start = (page: number) => (page - 1) * size
  const copy = Buffer.from(bytes)
  bytes.copy(copy, start(a), start(b), start(b) + size)
  bytes.copy(copy, start(b), start(a), start(a) + size)
  return copy
}

const failures = async () => (await checkDatabases(folder, SILENT)).filter(({ level }) => level === 'fail')

describe('doctor --deep reports exchanged pages', () => {
  for (const [name, expected] of [
    ['mail.db', ['messages leaf', 'messages overflow', 'message_text_data leaf']],
    ['blobs.db', ['chunks leaf', 'chunks overflow', `chunks ${LAST_OVERFLOW}`]],
  ] as const) {
    it(`of ${name}, whatever they hold`, async () => {
      const file = join(folder, name)
      assert.deepEqual(await failures(), [])
      const bytes = await readFile(file)
      const kinds = pagesOf(file, bytes)
      for (const kind of expected) assert.ok(kinds.get(kind)!.length > 1, kind)
      for (const pair of pairsOf(kinds)) {
        // The last overflow pages of two rows name no other page: only content has digests (docs/design/storage.md).
        if (name === 'mail.db' && pair.name.startsWith('two pages') && pair.name.endsWith(LAST_OVERFLOW)) continue
        const exchanged = exchange(bytes, pair.pages)
        if (exchanged.equals(bytes)) continue
        await writeFile(file, exchanged)
        assert.ok((await failures()).length > 0, pair.name)
      }
      await writeFile(file, bytes)
    })
  }
})
