// The merge of both sides of an account as a model: two programs change marks and folders of messages, rounds run in between, and in the
// end both sides are equal, with every change that the other side did not contradict.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type BaseCopy,
  incomingFolders,
  incomingMarks,
  type MarkChange,
  outgoingFolders,
  outgoingMarks,
} from '../../../src/sync/model/merge.ts'
import { amount } from '../../support/amount.ts'
import { Random } from '../../support/random.ts'

const RUNS = amount(10_000, 100_000)
const MARKS = ['$seen', '$flagged', 'work', '\\deleted'] as const
const FOLDERS = [1, 2, 3, 4]
/** A folder that the server cannot have. */
const LOCAL_ONLY = 5

interface Copy extends BaseCopy {
  marks: string[]
}

/** One message on both sides, with the base. */
interface World {
  there: Copy[]
  base: Copy[]
  /** Null: deleted here. */
  here: { filed: number[]; marks: string[] } | null
  /** The message was deleted there, which wins. */
  isDeletedThere: boolean
}

function applied(marks: readonly string[], { add, remove }: MarkChange): string[] {
  return [...new Set([...marks.filter((mark) => !remove.includes(mark)), ...add])].sort()
}

function copyOf(copies: readonly Copy[]): Copy[] {
  return copies.map(({ at, marks }) => ({ at, marks: [...marks] }))
}

/** The incoming half: as look.ts and pull.ts do it, for one message. */
function pull(world: World): void {
  const { base, there } = world
  if (world.here !== null) {
    const before = base.map(({ at }) => at)
    const after = there.map(({ at }) => at)
    let { marks } = world.here
    // A copy that moved is found by its key: its marks are compared with those it had.
    const left = base.filter(({ at }) => !after.includes(at))
    for (const copy of there) {
      const former = base.find(({ at }) => at === copy.at) ?? left.shift()
      marks = applied(marks, incomingMarks(former?.marks ?? copy.marks, copy.marks, marks))
    }
    const isMoved = before.length !== after.length || before.some((at) => !after.includes(at))
    const filed = isMoved ? incomingFolders({ before, after, local: world.here.filed }, false) : world.here.filed
    world.here = filed.length === 0 ? null : { filed, marks }
  }
  world.base = copyOf(there)
}

/** The outgoing half: as push-plan.ts and push.ts do it. */
function push(world: World): void {
  const { here } = world
  for (const copy of here === null ? [] : world.there) {
    const base = world.base.find(({ at }) => at === copy.at)!
    copy.marks = applied(
      copy.marks,
      outgoingMarks(base.marks, here!.marks, () => true),
    )
  }
  const changes = outgoingFolders(here && here.filed, world.there, (folder) => folder !== LOCAL_ONLY)
  for (const { copy, to } of changes.moves) copy.at = to
  for (const { of, to } of changes.copies) world.there.push({ at: to, marks: [...of.marks] })
  for (const to of changes.appends) world.there.push({ at: to, marks: [...here!.marks] })
  world.there = world.there.filter((copy) => !changes.removals.includes(copy))
  world.base = copyOf(world.there)
}

function changeThere(world: World, random: Random): void {
  const copy = world.there.length === 0 ? undefined : random.pick(world.there)
  if (copy === undefined) return
  const free = FOLDERS.filter((folder) => !world.there.some(({ at }) => at === folder))
  if (random.chance(0.6)) copy.marks = applied(copy.marks, toggle(copy.marks, random))
  else if (random.chance(0.7) && free.length > 0) copy.at = random.pick(free)
  else if (world.there.length > 1 || random.chance(0.3)) world.there.splice(world.there.indexOf(copy), 1)
  world.isDeletedThere ||= world.there.length === 0
}

function changeHere(world: World, random: Random): void {
  if (world.here === null) return
  const { marks, filed } = world.here
  if (random.chance(0.6)) world.here = { filed, marks: applied(marks, toggle(marks, random)) }
  else if (random.chance(0.9)) world.here = { marks, filed: movedFolders(filed, random) }
  else world.here = null
}

function movedFolders(filed: readonly number[], random: Random): number[] {
  const free = [...FOLDERS, LOCAL_ONLY].filter((folder) => !filed.includes(folder))
  if (random.chance(0.2) && free.length > 0) return [...filed, random.pick(free)]
  if (random.chance(0.2) && filed.length > 1) return filed.slice(1)
  return free.length === 0 ? [...filed] : [...filed.slice(1), random.pick(free)]
}

function toggle(marks: readonly string[], random: Random): MarkChange {
  const mark = random.pick(MARKS)
  return marks.includes(mark) ? { add: [], remove: [mark] } : { add: [mark], remove: [] }
}

test(`${RUNS} random histories end with equal sides`, () => {
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = new Random(seed)
    const marks = random.some(MARKS, 0.3).sort()
    const filed = random.some(FOLDERS, 0.4)
    if (filed.length === 0) filed.push(1)
    const there = filed.map((at) => ({ at, marks: [...marks] }))
    const world: World = { there, base: copyOf(there), here: { filed: [...filed], marks }, isDeletedThere: false }
    for (let step = random.below(8); step >= 0; step--) {
      if (random.chance(0.5)) changeThere(world, random)
      if (random.chance(0.5)) changeHere(world, random)
      if (random.chance(0.3)) pull(world)
      if (random.chance(0.3)) {
        // A server does what is asked for its messages as they are: a round always looks first.
        pull(world)
        push(world)
      }
    }
    for (let round = 0; round < 3; round++) {
      pull(world)
      push(world)
    }
    assertEqual(world, seed)
  }
})

function assertEqual({ here, there, isDeletedThere }: World, seed: number): void {
  const text = `seed ${seed}`
  if (here === null) {
    assert.deepEqual(there, [], text)
    return
  }
  const shown = here.filed.filter((at) => at !== LOCAL_ONLY)
  // What is only in a folder that the server cannot have keeps its copy there.
  if (here.filed.length === shown.length && !isDeletedThere)
    assert.deepEqual(there.map(({ at }) => at).sort(), [...shown].sort(), text)
  for (const copy of there) assert.deepEqual(copy.marks, [...here.marks].sort(), text)
}

test('changes of different marks on both sides both hold', () => {
  const base = ['$seen', 'work']
  const [server, local] = [['$flagged', '$seen', 'work'], ['$seen']]
  const here = applied(local, incomingMarks(base, server, local))
  assert.deepEqual(here, ['$flagged', '$seen'])
  assert.deepEqual(
    outgoingMarks(server, here, () => true),
    { add: [], remove: ['work'] },
  )
})

test('marks that a server does not take stay here', () => {
  const takes = (mark: string) => mark.startsWith('$')
  assert.deepEqual(outgoingMarks(['$seen'], ['todo'], takes), { add: [], remove: ['$seen'] })
  assert.deepEqual(incomingMarks(['$seen'], ['$seen'], ['todo', '$seen']), { add: [], remove: [] })
})

test('when both sides move a message, the folder at the server wins; labels are merged', () => {
  const change = { before: [1], after: [2], local: [3] }
  assert.deepEqual(incomingFolders(change, false), [2])
  assert.deepEqual(incomingFolders(change, true), [3, 2])
  assert.deepEqual(incomingFolders({ before: [1], after: [], local: [3] }, false), [])
  assert.deepEqual(incomingFolders({ before: [1, 2], after: [1], local: [1, 2, 4] }, false), [1, 4])
})

test('a message is moved where it can be, copied where it has to be, and stored only where the server has none', () => {
  const isThere = (folder: number) => folder !== LOCAL_ONLY
  const copy = { at: 1 }
  const none = { moves: [], copies: [], appends: [], removals: [] }
  assert.deepEqual(outgoingFolders([2], [copy], isThere), { ...none, moves: [{ copy, to: 2 }] })
  assert.deepEqual(outgoingFolders([1, 2], [copy], isThere), { ...none, copies: [{ of: copy, to: 2 }] })
  assert.deepEqual(outgoingFolders([2, 3], [], isThere), { ...none, appends: [2, 3] })
  assert.deepEqual(outgoingFolders(null, [copy], isThere), { ...none, removals: [copy] })
  assert.deepEqual(
    outgoingFolders([LOCAL_ONLY], [copy], isThere),
    none,
    'kept: the server cannot have the other folder',
  )
})
