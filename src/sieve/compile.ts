// Compiles Sieve scripts (RFC 5228): from text to a program, or a list of problems.

import { checkScript, type PlacedText } from './check.ts'
import { problemAt, type ScriptProblem, SieveError } from './errors.ts'
import { parseScript } from './parser.ts'
import type { SieveProgram, SieveStep, SieveTest } from './script.ts'

export type { ScriptProblem } from './errors.ts'

/**
 * Either the program, or the problems: 1 to PROBLEMS_MAX, in the order of the text. `warnings`: commands that have no effect, at most
 * PROBLEMS_MAX, in that order.
 */
export type CompiledScript =
  | { script: SieveProgram; problems: null; warnings: ScriptProblem[] }
  | { script: null; problems: ScriptProblem[]; warnings: ScriptProblem[] }

/** Folders a script may test: they are looked up for every message. */
const TESTED_FOLDERS_MAX = 100

/** Never throws. */
export function compileScript(content: string): CompiledScript {
  // RFC 5228 2.1 requires CRLF line ends; editors often write LF.
  const text = content.replaceAll('\r\n', '\n')
  try {
    const { steps, problems, warnings: found } = checkScript(parseScript(text))
    const shown = (list: readonly PlacedText[]) =>
      list.toSorted((one, other) => one.at - other.at).map(({ at, message }) => problemAt(text, at, message))
    const warnings = shown(found)
    const testedFolders = [...new Set(steps.flatMap(foldersOfStep))]
    if (problems.length === 0 && testedFolders.length > TESTED_FOLDERS_MAX) {
      problems.push({ at: 0, message: `A script can test at most ${TESTED_FOLDERS_MAX} folders.` })
    }
    if (problems.length > 0) return { script: null, problems: shown(problems), warnings }
    const script = { steps, testedFolders, sends: steps.some(sends), includes: includesOf(steps) }
    return { script, problems: null, warnings }
  } catch (error) {
    if (!(error instanceof SieveError)) throw error
    return { script: null, problems: [problemAt(text, error.at, error.message)], warnings: [] }
  }
}

function foldersOfStep(step: SieveStep): string[] {
  if (step.do === 'foreverypart') return step.steps.flatMap(foldersOfStep)
  if (step.do !== 'choose') return []
  return step.branches.flatMap(({ test, steps }) => [
    ...(test ? foldersOfTest(test) : []),
    ...steps.flatMap(foldersOfStep),
  ])
}

function sends(step: SieveStep): boolean {
  if (step.do === 'foreverypart') return step.steps.some(sends)
  if (step.do === 'choose') return step.branches.some(({ steps }) => steps.some(sends))
  const name = step.do === 'late' ? step.name : step.do
  return name === 'redirect' || name === 'notify'
}

function includesOf(steps: readonly SieveStep[]): string[] {
  const names = steps.flatMap((step) => {
    if (step.do === 'foreverypart') return includesOf(step.steps)
    if (step.do === 'choose') return step.branches.flatMap((branch) => includesOf(branch.steps))
    return step.do === 'include' ? [step.name] : []
  })
  return [...new Set(names)]
}

function foldersOfTest(test: SieveTest): string[] {
  if (test.is === 'folders') return test.names
  if (test.is === 'not') return foldersOfTest(test.test)
  return test.is === 'all' || test.is === 'any' ? test.tests.flatMap(foldersOfTest) : []
}
