// Views of folders against plain lists: sequence numbers, sets and differences, for random folders.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeRanges, rangesOf, STAR } from '../../../src/imap/grammar/sets.ts'
import { intersectRanges, subtractRanges, toRun, UidView } from '../../../src/imap/views/views.ts'
import { Random } from '../../support/random.ts'

const viewOf = (uids: readonly number[]) => UidView.ofRuns(rangesOf(uids).map(toRun))
const listOf = (ranges: readonly (readonly [number, number])[]) =>
  ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index))

test('an empty view', () => {
  const view = UidView.EMPTY
  assert.equal(view.count, 0)
  assert.equal(view.lastUid, 0)
  assert.equal(view.sequenceOf(1), 0)
  assert.deepEqual(view.within([[1, 100]]), [])
  assert.deepEqual(view.uidsOf(normalizeRanges([[1, STAR]], 0)), [])
})

test('runs that touch are joined', () => {
  const view = UidView.ofRuns([toRun([1, 3]), toRun([4, 6]), toRun([9, 9])])
  assert.equal(view.runs, 2)
  assert.equal(view.uidAt(7), 9)
})

for (const seed of [1, 2, 3]) {
  test(`views behave as lists (seed ${seed})`, () => {
    const source = new Random(seed)
    const random = () => source.next()
    for (let round = 0; round < 60; round++) {
      const uids = Array.from({ length: 80 }, (_, uid) => uid + 1).filter(() => random() < 0.6)
      const later = Array.from({ length: 100 }, (_, uid) => uid + 1).filter(
        (uid) => (uid > 80 || uids.includes(uid)) && random() < 0.8,
      )
      const [view, next] = [viewOf(uids), viewOf(later)]
      assert.equal(view.count, uids.length)
      for (const [index, uid] of uids.entries()) {
        assert.equal(view.uidAt(index + 1), uid)
        assert.equal(view.sequenceOf(uid), index + 1)
      }
      for (let uid = 0; uid <= 90; uid++) {
        if (!uids.includes(uid)) assert.equal(view.sequenceOf(uid), 0)
        assert.equal(view.sequenceUpTo(uid), uids.filter((one) => one <= uid).length)
      }
      const from = 1 + Math.floor(random() * 40)
      const some = normalizeRanges(
        [
          [from, from + 20],
          [70, 75],
        ],
        1000,
      )
      assert.deepEqual(
        listOf(view.within(some)),
        uids.filter((uid) => listOf(some).includes(uid)),
      )
      assert.deepEqual(
        listOf(view.uidsOf(some)),
        listOf(some).flatMap((sequence) => uids[sequence - 1] ?? []),
      )
      assert.deepEqual(
        listOf(view.minus(next)),
        uids.filter((uid) => !later.includes(uid)),
      )
      const tail = view.withTailOf(next)
      assert.deepEqual(listOf(tail.ranges()), [...uids, ...later.filter((uid) => uid > (uids.at(-1) ?? 0))])
      assert.deepEqual(
        listOf(intersectRanges(view.ranges(), next.ranges())),
        uids.filter((uid) => later.includes(uid)),
      )
      assert.deepEqual(
        listOf(subtractRanges(next.ranges(), view.ranges())),
        later.filter((uid) => !uids.includes(uid)),
      )
      assert.deepEqual(
        listOf(view.sequencesOf(view.within(some))),
        uids.flatMap((uid, index) => (listOf(some).includes(uid) ? [index + 1] : [])),
      )
    }
  })
}
