// The layers of src: imports point down only, rooms of one layer do not import each other, and there are no import circles.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Import, type Source, sources } from '../support/source.ts'

/** Layers of src by the rooms in it (docs/design/structure.md §1); a room may import what is in a lower layer. */
const LAYERS = new Map([
  ['main.ts', 15],
  ['cli', 15],
  ['api', 14],
  ['pages', 14],
  ['me', 14],
  ['inbound', 14],
  ['imap', 14],
  ['submission', 14],
  ['managesieve', 14],
  ['mcp', 14],
  ['jobs', 14],
  ['http', 13],
  ['context.ts', 12],
  ['administration', 11],
  ['maintenance', 11],
  ['access', 11],
  ['agents', 10],
  ['people', 9],
  ['sync', 9],
  ['deliverability', 9],
  ['outbound', 8],
  ['store', 7],
  ['certificates', 7],
  ['directory', 6],
  ['events', 6],
  ['db', 5],
  ['workers', 5],
  ['reports', 4],
  ['content', 4],
  ['smtp', 4],
  ['net', 4],
  ['acme', 4],
  ['dns', 4],
  ['auth', 3],
  ['sieve', 3],
  ['spam', 3],
  ['tls-policy', 3],
  ['mime', 2],
  ['html', 1],
  ['config', 1],
  ['base', 0],
])
/**
 * Floors of the large rooms, lowest first: files of a folder import files of the same folder and of earlier ones only. '.' is the root, which
 * assembles; the path of a subfolder is listed where its floor differs from that of its folder.
 */
const FLOORS: Record<string, readonly string[]> = {
  store: ['rows', 'content', 'log', 'entries', 'search', 'lists', 'messages', 'threads', 'mailbox', 'appliance', '.'],
  outbound: [
    ...['model', 'billing', 'log', 'queue', 'held', 'notices', 'providers', 'routing', 'submit', 'receive', 'tls'],
    ...['transports/smtp', 'transports/accounts', 'transports/direct', 'transports/local', 'transports', 'runner', '.'],
  ],
  imap: ['grammar', 'views', 'fetch', 'search', 'session', 'untagged', 'commands', '.'],
  sync: ['model', 'ledger', 'accounts', 'imap', 'session', 'folders', 'pull', 'push', 'worker', '.'],
  api: [
    ...[
      'schemas',
      'rules',
      'mailbox/settings',
      'mailbox/changes',
      'mailbox/folders',
      'mailbox/contents',
      'mailbox/messages',
    ],
    ...['mailbox/threads', 'mailbox/sending', 'mailbox/drafts', 'sending', 'agents', 'management', 'operator', '.'],
  ],
  directory: ['names', 'keys', 'domains', 'mailboxes', '.'],
  cli: ['frame', 'commands', 'completion', '.'],
}
/** Rooms in this layer and above know the wired Context. */
const ABOVE_CONTEXT = 13
/** No room holds more than this share of the lines of src. */
const LARGEST_SHARE = 0.2

const all = sources()
const byPath = new Map(all.map((source) => [source.path, source]))

function roomOf(path: string): string {
  return path.split('/')[1]!
}

function arrows(): { from: Source; arrow: Import; to: string }[] {
  return all.flatMap((from) =>
    from.imports.filter(({ file }) => file !== null).map((arrow) => ({ from, arrow, to: arrow.file! })),
  )
}

function say(from: Source, arrow: Import, complaint: string): string {
  return `${from.path}:${arrow.line} imports ${arrow.file}: ${complaint}`
}

test('every file of src is in a layer', () => {
  const missing = all.filter(({ path }) => !LAYERS.has(roomOf(path))).map(({ path }) => path)
  assert.deepEqual(missing, [], 'a new folder needs its layer in this test and in src/README.md')
})

test('imports name files of src that exist', () => {
  const wrong = arrows().filter(({ to }) => !byPath.has(to))
  assert.deepEqual(
    wrong.map(({ from, arrow }) => say(from, arrow, 'there is no such file in src')),
    [],
  )
})

test('no import goes up', () => {
  const wrong = arrows().filter(({ from, to }) => LAYERS.get(roomOf(to))! > LAYERS.get(roomOf(from.path))!)
  assert.deepEqual(
    wrong.map(({ from, arrow }) => say(from, arrow, 'that is a higher layer')),
    [],
  )
})

test('every folder of a room with floors has its floor', () => {
  const missing = all.filter(({ path }) => FLOORS[roomOf(path)] !== undefined && floorOf(path) < 0)
  assert.deepEqual(
    missing.map(({ path }) => path),
    [],
    'a new folder needs its floor in this test',
  )
})

test('no import inside a room goes up to a higher floor', () => {
  const wrong = arrows().filter(({ from, to }) => roomOf(from.path) === roomOf(to) && floorOf(to) > floorOf(from.path))
  assert.deepEqual(
    wrong.map(({ from, arrow }) => say(from, arrow, 'that is a higher floor')),
    [],
  )
})

/** Position of the longest listed folder that the file lies in; -1: none is listed. 0 for rooms without floors. */
function floorOf(path: string): number {
  const floors = FLOORS[roomOf(path)]
  if (floors === undefined) return 0
  const folder = path.split('/').slice(2, -1).join('/') || '.'
  const listed = floors.filter((floor) => folder === floor || folder.startsWith(`${floor}/`))
  return floors.indexOf(listed.toSorted((a, b) => b.length - a.length)[0] ?? '')
}

test('rooms of one layer do not import each other', () => {
  const wrong = arrows().filter(({ from, to }) => {
    const [here, there] = [roomOf(from.path), roomOf(to)]
    if (here === there || LAYERS.get(here) !== LAYERS.get(there)) return false
    return !assembles(from.path, there)
  })
  assert.deepEqual(
    wrong.map(({ from, arrow }) => say(from, arrow, 'that is another room of the same layer')),
    [],
  )
})

/** `mailstead serve` and `npm start` are the same: the command starts the appliance through main.ts. */
function assembles(path: string, room: string): boolean {
  return path === 'src/cli/commands/serve.ts' && room === 'main.ts'
}

test('no room has more than a fifth of the lines', () => {
  const lines = Map.groupBy(all, ({ path }) => roomOf(path))
  const total = all.reduce((sum, source) => sum + source.lines, 0)
  const large = [...lines].filter(([, files]) => files.reduce((sum, one) => sum + one.lines, 0) > LARGEST_SHARE * total)
  assert.deepEqual(
    large.map(([room]) => room),
    [],
  )
})

test('Context is known only above context.ts', () => {
  const wrong = arrows().filter(
    ({ from, to }) => to === 'src/context.ts' && LAYERS.get(roomOf(from.path))! < ABOVE_CONTEXT,
  )
  assert.deepEqual(
    wrong.map(({ from, arrow }) => say(from, arrow, 'give it what it needs as constructor arguments')),
    [],
  )
})

test('there are no import circles', () => {
  assert.deepEqual(circles(), [])
})

/** Depth-first search of the imports; an edge to a file still being visited closes a circle. */
function circles(): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const walk = (path: string, trail: string[]) => {
    const at = trail.indexOf(path)
    if (at >= 0) found.push([...trail.slice(at), path].join(' → '))
    if (at >= 0 || done.has(path)) return
    for (const { file } of byPath.get(path)?.imports ?? []) if (file !== null) walk(file, [...trail, path])
    done.add(path)
  }
  for (const { path } of all) walk(path, [])
  return found
}
