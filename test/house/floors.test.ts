// The floors of src: an arrow between two files may only fall, rooms of one floor do not know each other, and nothing goes in circles.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Import, type Source, sources } from '../support/source.ts'

/** Floors of architecture §3 by what lies directly in src; inside `surfaces/` the rooms are one level deeper. */
const FLOORS = new Map([
  ['main.ts', 9],
  ['cli', 9],
  ['inbound', 8],
  ['surfaces/http', 8],
  ['surfaces/rest', 8],
  ['surfaces/web', 8],
  ['jobs', 8],
  ['context.ts', 7],
  ['outbound', 6],
  ['store', 5],
  ['directory', 4],
  ['events', 4],
  ['db', 3],
  ['mail', 2],
  ['config', 2],
  ['base', 1],
])
/** The one room that its neighbours on the same floor may use. */
const SHARED_ROOM = 'surfaces/http'

const all = sources()
const byPath = new Map(all.map((source) => [source.path, source]))

function roomOf(path: string): string {
  const [, first, second] = path.split('/')
  return first === 'surfaces' ? `${first}/${second}` : first!
}

function arrows(): { from: Source; arrow: Import; to: string }[] {
  return all.flatMap((from) =>
    from.imports.filter(({ file }) => file !== null).map((arrow) => ({ from, arrow, to: arrow.file! })),
  )
}

function say(from: Source, arrow: Import, complaint: string): string {
  return `${from.path}:${arrow.line} imports ${arrow.file}: ${complaint}`
}

test('every file of src lies on a floor', () => {
  const lost = all.filter(({ path }) => !FLOORS.has(roomOf(path))).map(({ path }) => path)
  assert.deepEqual(lost, [], 'a new folder needs its floor in this test and in src/README.md')
})

test('imports name files of src that exist', () => {
  const wrong = arrows().filter(({ to }) => !byPath.has(to))
  assert.deepEqual(
    wrong.map(({ from, arrow }) => say(from, arrow, 'there is no such file in src')),
    [],
  )
})

test('no arrow goes up', () => {
  const wrong = arrows().filter(({ from, to }) => FLOORS.get(roomOf(to))! > FLOORS.get(roomOf(from.path))!)
  assert.deepEqual(
    wrong.map(({ from, arrow }) => say(from, arrow, 'that is a higher floor')),
    [],
  )
})

test('rooms of one floor do not import each other', () => {
  const wrong = arrows().filter(({ from, to }) => {
    const [here, there] = [roomOf(from.path), roomOf(to)]
    if (here === there || FLOORS.get(here) !== FLOORS.get(there)) return false
    return !(there === SHARED_ROOM && here.startsWith('surfaces/')) && !assembles(from.path, there)
  })
  assert.deepEqual(
    wrong.map(({ from, arrow }) => say(from, arrow, 'that is another room of the same floor')),
    [],
  )
})

/** `mailstead serve` and `npm start` are one and the same: the command starts the house through main.ts. */
function assembles(path: string, room: string): boolean {
  return path === 'src/cli/serve.ts' && room === 'main.ts'
}

test('Context is known only above context.ts', () => {
  const wrong = arrows().filter(({ from, to }) => to === 'src/context.ts' && FLOORS.get(roomOf(from.path))! < 8)
  assert.deepEqual(
    wrong.map(({ from, arrow }) => say(from, arrow, 'give it what it needs as constructor arguments')),
    [],
  )
})

test('no circles', () => {
  assert.deepEqual(circles(), [])
})

/** Walks the arrows depth first; a way back to a file still being walked closes a circle. */
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
