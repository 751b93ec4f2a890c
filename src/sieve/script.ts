// A Sieve script that was found right: what it does, without the words it was written in.

import type { BodyForm } from './body.ts'
import type { Comparator } from './comparators.ts'
import type { Glob } from './glob.ts'

export type AddressPart = 'all' | 'localpart' | 'domain' | 'user' | 'detail'

export type Relation = 'gt' | 'ge' | 'lt' | 'le' | 'eq' | 'ne'

/** How values are compared with keys; keys are folded as the comparator asks. */
export type Match = { comparator: Comparator; keys: string[] } & (
  | { type: 'is' | 'contains' }
  | { type: 'matches'; globs: Glob[] }
  | { type: 'value' | 'count'; relation: Relation }
)

/** What is compared. Names of fields are in lower case. */
export type Source =
  | { of: 'header'; names: string[] }
  | { of: 'address'; names: string[]; part: AddressPart }
  | { of: 'envelope'; ends: ('from' | 'to')[]; part: AddressPart }
  | { of: 'body'; form: BodyForm }
  | { of: 'flags' }

export type Test =
  | { is: 'constant'; value: boolean }
  | { is: 'not'; test: Test }
  | { is: 'all' | 'any'; tests: Test[] }
  | { is: 'exists'; names: string[] }
  | { is: 'size'; over: boolean; limit: number }
  | { is: 'folders'; names: string[] }
  | { is: 'match'; source: Source; match: Match }

export type Step =
  /** The branches from "if" to "else"; the test of an "else" is null. */
  | { do: 'choose'; branches: { test: Test | null; steps: Step[] }[] }
  | { do: 'stop' | 'discard' }
  | { do: 'keep'; flags: string[] | null }
  | { do: 'fileinto'; folder: string; copy: boolean; create: boolean; flags: string[] | null }
  | { do: 'flags'; how: 'set' | 'add' | 'remove'; flags: string[] }

export interface Script {
  steps: Step[]
  /** Folders the script asks after, by their paths: whoever runs it says which of them are there. */
  asksFor: string[]
}
