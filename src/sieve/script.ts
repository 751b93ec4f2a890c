// A compiled Sieve script.

import type { BodyForm } from './body.ts'
import type { Comparator } from './comparators.ts'
import type { SieveZone } from './dates.ts'
import type { Glob } from './glob.ts'

export type SieveAddressPart = 'all' | 'localpart' | 'domain' | 'user' | 'detail'

export type Relation = 'gt' | 'ge' | 'lt' | 'le' | 'eq' | 'ne'

/** How values are compared with keys; keys are folded for the comparator. */
export type SieveMatch = { comparator: Comparator; keys: string[] } & (
  | { type: 'is' | 'contains' }
  | { type: 'matches'; globs: Glob[] }
  | { type: 'value' | 'count'; relation: Relation }
)

/** One of several fields of a name, counted from 1 (RFC 5260 §6). */
export interface FieldIndex {
  index: number
  fromLast: boolean
}

/** A part of a structured MIME field: of its value, or the values of parameters (lower-case names; RFC 5703 §4.1). */
export type MimeElement = 'type' | 'subtype' | 'contenttype' | { params: string[] }

/** The MIME parts whose headers a test looks at: the current one, or it and all parts within it (RFC 5703 §4). */
export interface MimeScope {
  anyChild: boolean
  /** Of tests of `header` only; null: the whole value. */
  element: MimeElement | null
}

/** The values a test compares. Field names are in lower case. */
export type SieveSource =
  | { of: 'header'; names: string[]; at?: FieldIndex; mime?: MimeScope }
  | { of: 'address'; names: string[]; part: SieveAddressPart; at?: FieldIndex; mime?: MimeScope }
  | { of: 'envelope'; ends: ('from' | 'to')[]; part: SieveAddressPart }
  | { of: 'body'; form: BodyForm }
  /** `variables`: names of variables with flags; null for the flags of the message. */
  | { of: 'flags'; variables: string[] | null }
  | { of: 'strings'; values: string[] }
  /** `name` null: the current date. */
  | { of: 'date'; name: string | null; zone: SieveZone; part: string; at?: FieldIndex }
  | { of: 'environment'; name: string }
  /** RFC 5235. */
  | { of: 'spam' }

/** RFC 7352: what identifies a message that has been seen. */
export interface DuplicateTest {
  handle: string
  /** The value of a field (lower-case name), or an id that the script gives. */
  by: { header: string } | { id: string }
  seconds: number
  /** The time counts from the last message with the id, not from the first. */
  last: boolean
}

/** Replaces the references to variables in a string. */
export type Expand = (text: string) => string

export type SieveTest =
  /** `isAbsent`: an extension that does not exist was asked for. */
  | { is: 'constant'; value: boolean; isAbsent?: boolean }
  | { is: 'not'; test: SieveTest }
  | { is: 'all' | 'any'; tests: SieveTest[] }
  | { is: 'exists'; names: string[]; mime?: MimeScope }
  | { is: 'size'; over: boolean; limit: number }
  | { is: 'folders'; names: string[] }
  | { is: 'duplicate'; test: DuplicateTest }
  | { is: 'match'; source: SieveSource; match: SieveMatch }
  /** Made when it runs, with the values of variables. @throws SieveRuntimeError when they make it wrong */
  | { is: 'late'; make(expand: Expand): SieveTest }

/** RFC 5293 §5. */
export interface DeletedHeader {
  /** Lower-case. */
  name: string
  at: FieldIndex | null
  /** Null: whatever the value is. */
  match: SieveMatch | null
}

/** An automatic reply that a script asks for. */
export interface ScriptVacation {
  /** Days in which a sender gets one reply. */
  days: number
  /** Null: "Auto: " and the subject of the message. */
  subject: string | null
  /** The author; null: the address that the message was sent to. */
  from: string | null
  /** Further addresses of the owner, lower-case. */
  addresses: string[]
  /** Whether the reason is a MIME entity. */
  isMime: boolean
  reason: string
  /** Digest of the handle: replies with the same one count together. */
  handle: string
}

/** A message to an address that a script asks for (RFC 5435). */
export interface ScriptNotification {
  to: string[]
  /** The author that the script asks for; null: the mailbox. */
  from: string | null
  importance: 1 | 2 | 3
  /** Null: a quotation of the subject of the message. */
  subject: string | null
  /** Null: the author and the subject of the message. */
  body: string | null
}

export type SieveStep =
  /** The branches from "if" to "else"; the test of an "else" is null. */
  | { do: 'choose'; branches: { test: SieveTest | null; steps: SieveStep[] }[] }
  | { do: 'stop' | 'discard' | 'return' }
  /** RFC 5703 §3. */
  | { do: 'foreverypart'; name: string | null; steps: SieveStep[] }
  /** `name`: of the loop that it ends; null for the innermost one. */
  | { do: 'break'; name: string | null }
  | { do: 'keep'; flags: string[] | null }
  /** `folderId`: of the folder that is taken where it exists (RFC 9042). */
  | { do: 'fileinto'; folder: string; folderId?: string; copy: boolean; create: boolean; flags: string[] | null }
  | { do: 'redirect'; address: string; copy: boolean }
  | { do: 'flags'; how: 'set' | 'add' | 'remove'; flags: string[]; variable: string | null }
  | { do: 'set'; name: string; value: string }
  | { do: 'global'; names: string[] }
  | { do: 'include'; name: string; once: boolean; optional: boolean }
  | { do: 'vacation'; vacation: ScriptVacation }
  | { do: 'reject'; reason: string }
  | { do: 'notify'; notification: ScriptNotification }
  | { do: 'error'; message: string }
  | { do: 'addheader'; name: string; value: string; last: boolean }
  | { do: 'deleteheader'; header: DeletedHeader }
  /** Made when it runs, as the late test. `name`: of the command. */
  | { do: 'late'; name: string; make(expand: Expand): SieveStep }

export interface SieveProgram {
  steps: SieveStep[]
  /** Paths of folders that `mailboxexists` tests; the caller looks up which of them exist. */
  testedFolders: string[]
  /** Whether it has actions that send messages. */
  sends: boolean
  /** Names of the scripts it includes (RFC 6609). */
  includes: string[]
}
