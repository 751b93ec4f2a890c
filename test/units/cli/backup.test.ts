// What a backup refuses, what a restore does not believe, and what is left when either is cut short.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { lockFolder } from '../../../src/db/folder-lock.ts'
import type { Manifest } from '../../../src/maintenance/backup/manifest.ts'
import { sizeText } from '../../../src/maintenance/backup/size-text.ts'
import { END, headerOf, paddingOf, readTar } from '../../../src/maintenance/backup/tar.ts'
import { Commands } from '../../support/cli.ts'
import { PROGRAM_ENV } from '../../support/program-env.ts'
import { ROOT } from '../../support/source.ts'

type Member = [path: string, content: Buffer, change?: (header: Buffer) => void]

let root: string
let good: string
let members: Member[]
let cli: Commands
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'mailstead-backup-'))
  cli = new Commands({ DATA_DIR: join(root, 'data') })
  await cli.json('setup')
  good = join(root, 'good.tar.zst')
  await cli.json('backup', good)
  const plain = zstdDecompressSync(await readFile(good))
  members = []
  for await (const { path, content } of readTar(streamOf(plain))) {
    members.push([path, Buffer.concat(await Array.fromAsync(content))])
  }
})
after(() => rm(root, { recursive: true }))

async function* streamOf(bytes: Buffer): AsyncGenerator<Buffer> {
  // Pieces that end in the middle of everything.
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}

/** An archive of these members, each with a header that may be changed after it was made. */
function archive(made: Member[]): Buffer {
  const blocks = made.flatMap(([path, content, change]) => {
    const header = headerOf({ path, sizeBytes: content.length }, 0)
    if (change !== undefined) {
      change(header)
      resum(header)
    }
    return [header, content, paddingOf(content.length)]
  })
  return zstdCompressSync(Buffer.concat([...blocks, END]))
}

function resum(header: Buffer): void {
  header.fill(' ', 148, 156)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
}

/** The good archive with its manifest changed. */
function declaring(change: (manifest: Manifest) => void): Buffer {
  const manifest = JSON.parse(members[0]![1].toString()) as Manifest
  change(manifest)
  return archive([['manifest.json', Buffer.from(JSON.stringify(manifest))], ...members.slice(1)])
}

/** Restoring these bytes fails with that sentence and leaves nothing but the lock. */
async function unbelieved(bytes: Buffer, sentence: RegExp): Promise<void> {
  const file = join(root, 'bad.tar.zst')
  const folder = join(root, 'never')
  await writeFile(file, bytes)
  await cli.refused(['restore', file, '--data', folder], sentence)
  assert.deepEqual(await readdir(folder), ['lock.db'], String(sentence))
}

const DAMAGED = /is damaged, truncated or not a Mailstead backup\. Nothing was restored\./

describe('an archive is believed only as a whole', () => {
  it('not when it is cut short or changed anywhere', async () => {
    const bytes = await readFile(good)
    for (let i = 0; i < 8; i++) {
      const at = Math.floor((bytes.length * i) / 8)
      await unbelieved(bytes.subarray(0, at), DAMAGED)
      const changed = Buffer.from(bytes)
      changed[at]! ^= 0x55
      await unbelieved(changed, DAMAGED)
    }
  })

  it('not with members other than the manifest names, in whatever form', async () => {
    const [manifest, mail, blobs, ...keys] = members as [Member, Member, Member, ...Member[]]
    const link = (header: Buffer) => {
      header.write('2', 156)
      header.write('/etc/passwd', 157)
    }
    const rows: Member[][] = [
      [manifest, mail, blobs],
      [manifest, blobs, mail, ...keys],
      [manifest, mail, blobs, ...keys, ['more', Buffer.from('x')]],
      [manifest, ['../mail.db', mail[1]], blobs, ...keys],
      [manifest, ['/tmp/mail.db', mail[1]], blobs, ...keys],
      [manifest, ['mail.db', Buffer.alloc(0), link], blobs, ...keys],
      [manifest, ['mail.db', mail[1].subarray(512)], blobs, ...keys],
      [manifest, ['mail.db', Buffer.alloc(mail[1].length)], blobs, ...keys],
      // A size beyond all numbers, and one that is none.
      [manifest, ['mail.db', mail[1], (header) => header.fill(0xff, 124, 136)], blobs, ...keys],
      [manifest, ['mail.db', mail[1], (header) => header.write('9'.repeat(11), 124)], blobs, ...keys],
    ]
    for (const row of rows) await unbelieved(archive(row), DAMAGED)
    await unbelieved(archive([mail, blobs]), /is not a Mailstead backup/)
    await unbelieved(archive([['manifest.json', Buffer.alloc(70_000, ' ')]]), /is not a Mailstead backup/)
    await unbelieved(archive([['manifest.json', Buffer.from('{')]]), /is not a Mailstead backup/)
  })

  it('not with a manifest that says something else', async () => {
    const rows: [RegExp, (manifest: Manifest) => void][] = [
      [/is not a Mailstead backup/, (manifest) => Object.assign(manifest, { format: 'other' })],
      [/is not a Mailstead backup/, (manifest) => Object.assign(manifest.files[0]!, { path: '../mail.db' })],
      [/is not a complete backup/, (manifest) => manifest.files.shift()],
      [/is not a complete backup/, (manifest) => manifest.files.splice(3, 1, manifest.files[0]!)],
      [/made by a newer version of Mailstead/, (manifest) => Object.assign(manifest, { version: 4 })],
      [/made by a newer version of Mailstead/, (manifest) => Object.assign(manifest.forms, { mail: 9999 })],
      [/does not match its manifest/, (manifest) => Object.assign(manifest.counts, { messages: 1 })],
    ]
    for (const [sentence, change] of rows) await unbelieved(declaring(change), sentence)
  })

  it('sizes beyond 8 GiB are written and read', async () => {
    const sizeBytes = 2 ** 40 + 5
    const [member] = [await readTar(streamOf(headerOf({ path: 'blobs.db', sizeBytes }, 0))).next()]
    assert.deepEqual([member.value!.path, member.value!.sizeBytes], ['blobs.db', sizeBytes])
    assert.deepEqual([sizeText(999), sizeText(2 ** 40)], ['999 bytes', '1.1 TB'])
  })
})

describe('where it is written', () => {
  it('a restore takes an empty folder that nobody uses, and says whether the secret fits', async () => {
    const folder = join(root, 'taken')
    await mkdir(folder)
    await writeFile(join(folder, 'README.md'), 'this may stay')
    const free = lockFolder(folder)
    await cli.refused(['restore', good, '--data', folder], 'Another Mailstead is running on')
    free()
    assert.equal((await cli.json('restore', good, '--data', folder)).secret_fits, true)
    await cli.refused(['restore', good, '--data', folder], 'is not empty')
    await cli.refused(['restore', join(root, 'none'), '--data', join(root, 'x')], 'There is no file')
    await cli.refused(['restore', root, '--data', join(root, 'x')], 'is a folder')
    assert.deepEqual((await readdir(folder)).sort(), ['README.md', 'blobs.db', 'keys', 'lock.db', 'mail.db'])
    const next = (await cli.run('restore', good, '--data', join(root, 'next'))).out.join('\n')
    assert.ok(next.includes(`Start it with: DATA_DIR=${join(root, 'next')} mailstead serve.`), next)
    const named = await new Commands({ DATA_DIR: join(root, 'named') }).run('restore', good)
    assert.match(named.out.join('\n'), /Start it with: mailstead serve\./)
  })

  it('a secret that is set outside is not in the backup, and must be set again', async () => {
    const APP_SECRET = 'a secret of at least thirty-two bytes'
    const own = new Commands({ DATA_DIR: join(root, 'own'), APP_SECRET })
    await own.json('setup')
    const file = join(root, 'own.tar.zst')
    const { out } = await own.run('backup', file)
    assert.match(out.join('\n'), /Not in it: .*the secret of APP_SECRET/)
    const bare = new Commands({})
    assert.equal((await bare.json('restore', file, '--data', join(root, 'own-1'))).secret_fits, false)
    assert.equal((await own.json('restore', file, '--data', join(root, 'own-2'))).secret_fits, true)
  })

  it('a backup takes a new file in a folder that is there, of a data folder', async () => {
    await cli.refused(['backup', good], 'already exists')
    await cli.refused(['backup', join(root, 'none/x')], 'The folder of')
    const other = new Commands({ DATA_DIR: join(root, 'nowhere') })
    await other.refused(['backup', join(root, 'x')], 'is not a data folder of Mailstead')
    await assert.rejects(stat(join(root, 'nowhere')), { code: 'ENOENT' })
  })

  it('a database with damaged pages is told, and no backup is made', async () => {
    const folder = join(root, 'hurt')
    await cli.json('restore', good, '--data', folder)
    const hurt = new Commands({ DATA_DIR: folder })
    await writeFile(join(folder, 'mail.db'), Buffer.concat([members[1]![1].subarray(0, 8192), Buffer.alloc(40_000)]))
    await hurt.refused(['backup', join(root, 'hurt.tar.zst')], /mail\.db is damaged|The databases cannot be read/)
    assert.equal(
      (await readdir(root)).some((name) => name.startsWith('hurt.tar')),
      false,
    )
  })
})

describe('cut short', () => {
  const run = (argv: string[], limit = '') =>
    spawn('sh', ['-c', `${limit}exec "$0" src/cli/cli.ts "$@"`, process.execPath, ...argv], {
      cwd: ROOT,
      env: { ...PROGRAM_ENV, ...cli.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })

  it('a restore that is killed leaves a folder no appliance starts on, and the next one succeeds', async () => {
    const [pipe, folder] = [join(root, 'pipe'), join(root, 'killed')]
    await promisify(execFile)('mkfifo', [pipe])
    // Random bytes do not shrink: what the pipe has taken, the command has written but for the last pieces.
    const bytes = archive([members[0]!, ['mail.db', members[1]![1]]])
    const child = run(['restore', pipe, '--data', folder])
    const sink = createWriteStream(pipe)
    await new Promise((resolve) => sink.write(bytes.subarray(0, bytes.length - 1000), resolve))
    await seen(folder, 'restoring')
    child.kill('SIGKILL')
    await once(child, 'exit')
    sink.destroy()
    assert.deepEqual((await readdir(folder)).sort(), ['lock.db', 'restoring'])
    const there = new Commands({ DATA_DIR: folder })
    await there.refused(['setup'], 'A restore into', 'was interrupted')
    const [finding] = JSON.parse((await there.run('doctor', '--json')).out[0]!).findings
    assert.match(finding.says, /^A restore into .* is running or was interrupted\.$/)
    assert.equal((await there.json('restore', good)).secret_fits, true)
    assert.equal((await there.json('setup')).created, false)
  })

  it('a backup that is ended takes its copies along; one that is killed leaves them to the next', async () => {
    const file = join(root, 'ended.tar.zst')
    const writer = new DatabaseSync(join(cli.env.DATA_DIR!, 'blobs.db'))
    writer.exec('BEGIN IMMEDIATE')
    for (const [signal, left] of [
      ['SIGTERM', false],
      ['SIGKILL', true],
    ] as const) {
      const child = run(['backup', file])
      await seen(root, 'ended.tar.zst.part/copies')
      if (signal === 'SIGTERM') await cli.refused(['backup', file], 'Another backup to')
      child.kill(signal)
      await once(child, 'exit')
      assert.equal(
        await stat(`${file}.part`).then(
          () => true,
          () => false,
        ),
        left,
      )
    }
    writer.close()
    await cli.json('backup', file)
    assert.equal((await readdir(root)).filter((name) => name.startsWith('ended.')).length, 1)
  })

  it('a full disk is reported in one sentence, and no file remains', async () => {
    for (const argv of [
      ['backup', join(root, 'full.tar.zst')],
      ['restore', good, '--data', join(root, 'full')],
    ]) {
      // Files of at most 50 blocks: the way every system has to let a disk be full.
      const child = run(argv, 'ulimit -f 50; ')
      const told = child.stderr!.setEncoding('utf8').toArray()
      assert.deepEqual(await once(child, 'exit'), [1, null])
      assert.match((await told).join(''), /^mailstead: The disk has no room for [^\n]*\. No partial file remains\.\n$/)
    }
    assert.deepEqual(await readdir(join(root, 'full')), ['lock.db'])
    assert.equal(
      (await readdir(root)).some((name) => name.startsWith('full.tar')),
      false,
    )
  })
})

/** Waits until that path is in the folder. */
async function seen(folder: string, path: string): Promise<void> {
  const isThere = () =>
    stat(join(folder, path)).then(
      () => true,
      () => false,
    )
  while (!(await isThere())) await new Promise(setImmediate)
}
