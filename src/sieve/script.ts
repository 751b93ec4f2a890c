// A compiled Sieve script.

import type { BodyForm } from './body.ts'
import type { Comparator } from './comparators.ts'
import type { Glob } from './glob.ts'

export type SieveAddressPart = 'all' | 'localpart' | 'domain' | 'user' | 'detail'

export type Relation = 'gt' | 'ge' | 'lt' | 'le' | 'eq' | 'ne'

/** How values are compared with keys; keys are folded for the comparator. */
export type SieveMatch = { comparator: Comparator; keys: string[] } & (
  | { type: 'is' | 'contains' }
  | { type: 'matches'; globs: Glob[] }
  | { type: 'value' | 'count'; relation: Relation }
)

/** The values a test compares. Field names are in lower case. */
export type SieveSource =
  | { of: 'header'; names: string[] }
  | { of: 'address'; names: string[]; part: SieveAddressPart }
  | { of: 'envelope'; ends: ('from' | 'to')[]; part: SieveAddressPart }
  | { of: 'body'; form: BodyForm }
  | { of: 'flags' }

export type SieveTest =
  | { is: 'constant'; value: boolean }
  | { is: 'not'; test: SieveTest }
  | { is: 'all' | 'any'; tests: SieveTest[] }
  | { is: 'exists'; names: string[] }
  | { is: 'size'; over: boolean; limit: number }
  | { is: 'folders'; names: string[] }
  | { is: 'match'; source: SieveSource; match: SieveMatch }

export type SieveStep =
  /** The branches from "if" to "else"; the test of an "else" is null. */
  | { do: 'choose'; branches: { test: SieveTest | null; steps: SieveStep[] }[] }
  | { do: 'stop' | 'discard' }
  | { do: 'keep'; flags: string[] | null }
  | { do: 'fileinto'; folder: string; copy: boolean; create: boolean; flags: string[] | null }
  | { do: 'flags'; how: 'set' | 'add' | 'remove'; flags: string[] }

export interface SieveProgram {
  steps: SieveStep[]
  /** Paths of folders that `mailboxexists` tests; the caller looks up which of them exist. */
  testedFolders: string[]
}
