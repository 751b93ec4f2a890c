// Progress of long commands: the line at a terminal, plain lines elsewhere, and what backup, restore and doctor --deep show.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import { Progress } from '../../../src/cli/frame/progress.ts'
import { startAppliance } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'
import { ManualClock } from '../../support/clock.ts'

const CLEAR = '\r\u001b[K'

function shownAt({ isTerminal }: { isTerminal: boolean }) {
  const clock = new ManualClock(0)
  const shown: string[] = []
  const progress = new Progress({ isTerminal, clock, write: (text) => shown.push(text) })
  return { clock, shown, progress }
}

describe('at a terminal', () => {
  test('one line is rewritten, at most five times a second, with rate and remaining time', () => {
    const { clock, shown, progress } = shownAt({ isTerminal: true })
    progress.begin('Copying mail.db', 'bytes', 4_000_000)
    progress.add(500_000)
    clock.advance(500)
    progress.add(500_000)
    clock.advance(100)
    progress.add(1)
    clock.advance(1_400)
    progress.add(999_999)
    progress.end()
    assert.deepEqual(shown, [
      `${CLEAR}Copying mail.db …`,
      `${CLEAR}Copying mail.db: 1.0 MB of 4.0 MB (25 %)`,
      `${CLEAR}Copying mail.db: 2.0 MB of 4.0 MB (50 %), 1.0 MB/s, 2 s left`,
      CLEAR,
    ])
  })

  test('long times are minutes and hours; what grows beyond its total is whole', () => {
    const { clock, shown, progress } = shownAt({ isTerminal: true })
    progress.begin('Reading', 'contents', 11_000)
    clock.advance(10_000)
    progress.add(10)
    clock.advance(10_000)
    progress.add(90)
    progress.begin('Reading', 'contents', 10)
    clock.advance(10_000)
    progress.add(20)
    assert.deepEqual(
      shown.map((line) => line.slice(CLEAR.length)),
      [
        'Reading …',
        'Reading: 10 of 11000 contents (0 %), 1/s, 3 h 04 min left',
        'Reading: 100 of 11000 contents (0 %), 5/s, 37 min left',
        'Reading …',
        'Reading: 10 of 10 contents (100 %), 2/s, 0 s left',
      ],
    )
  })
})

describe('elsewhere', () => {
  test('a command that ends within a few seconds prints nothing, a longer one a line every five seconds', () => {
    const { clock, shown, progress } = shownAt({ isTerminal: false })
    progress.begin('Checking contents', 'contents')
    for (let second = 0; second < 12; second++) {
      progress.add(50)
      clock.advance(1_000)
    }
    progress.end()
    assert.deepEqual(shown, ['Checking contents: 300 contents, 60/s\n', 'Checking contents: 550 contents, 55/s\n'])
  })
})

test('without an output nothing is written to the terminal', (t) => {
  const writes = [process.stdout, process.stderr].map((stream) => t.mock.method(stream, 'write', () => true).mock)
  const progress = new Progress(null)
  progress.begin('Copying', 'bytes', 10)
  progress.add(10)
  progress.end()
  for (const write of writes) write.restore()
  assert.deepEqual(
    writes.map((write) => write.calls.map((call) => call.arguments[0])),
    [[], []],
  )
})

test('backup, restore and doctor --deep show each of their steps', async () => {
  const appliance = await startAppliance()
  const work = await mkdtemp(join(tmpdir(), 'mailstead-progress-'))
  try {
    await appliance.team()
    const shown: string[] = []
    let now = 0
    // Each look at the clock is six seconds later: every update is due.
    const clock = Object.assign(new ManualClock(0), { monotonic: () => (now += 6_000) })
    const output = { isTerminal: false, clock, write: (text: string) => shown.push(text) }
    const steps = () => {
      const all = shown.splice(0).map((line) => /^([^:…]+?)(?: …|:)/.exec(line)![1])
      return all.filter((step, index) => step !== all[index - 1])
    }
    const commands = new Commands({ DATA_DIR: appliance.dataDir, MAIL_HOSTS: 'mx.test' }, output)
    const file = join(work, 'one.backup')
    const inspected = [
      'Checking the pages of mail.db',
      'Checking the pages of blobs.db',
      'Checking contents',
      'Looking up the contents of messages',
      'Looking up the contents of removed_messages',
      'Looking up the contents of emails',
      'Looking up the contents of kept_contents',
      'Looking up the contents of uploads',
      'Looking up the contents of drafts',
    ]
    const kept = ['mail.db', 'blobs.db', 'keys/app-secret', 'keys/smtp.pem'].map((path) => `Reading ${path}`)
    const unpacked = ['Unpacking the archive', ...inspected]
    const made = await commands.run('backup', file)
    assert.deepEqual([made.code, made.err], [0, []])
    const copied = ['Copying mail.db', 'Copying blobs.db']
    assert.deepEqual(steps(), [...copied, ...inspected, ...kept, 'Writing the archive', ...unpacked])
    assert.equal((await commands.run('restore', file, '--data', join(work, 'data'))).code, 0)
    assert.deepEqual(steps(), unpacked)
    await commands.run('doctor', '--deep')
    assert.deepEqual(steps(), [...inspected, 'Counting messages'])
  } finally {
    await appliance.close()
    await rm(work, { recursive: true, force: true })
  }
})
