// How much of what is random or repeated a run does: little by default, all of it where every other program is required as well.

import process from 'node:process'

const RUNS_ALL = process.env.REQUIRE_INTEROP === '1'

/** A number of seeds, rounds or kills. */
export function amount(few: number, all: number): number {
  return RUNS_ALL ? all : few
}

/** Items of a list, evenly spread: `few` of them, or all. */
export function some<T>(list: readonly T[], few: number): readonly T[] {
  if (RUNS_ALL || list.length <= few) return list
  return Array.from({ length: few }, (_, at) => list[Math.floor((at * list.length) / few)]!)
}

/** Items of a list, others in each turn, so that all have been used after some turns: `few` of them, or all. */
export function inTurn<T>(list: readonly T[], few: number, turn: number): readonly T[] {
  if (RUNS_ALL || list.length <= few) return list
  return Array.from({ length: few }, (_, at) => list[(turn * few + at) % list.length]!)
}
