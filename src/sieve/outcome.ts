// What is asked of a script over one mail, and what it answers.

/** The script of one recipient. */
export interface ScriptCall {
  content: string
  /** As the envelope has it. */
  rcptTo: string
  /** Those of the folders it asks for that are there. */
  folders: string[]
}

/** Where a copy is to lie: where it would without a script, or in a folder of that path. */
export type Place = { kind: 'default' } | { kind: 'folder'; path: string; create: boolean }

/** What a script makes of a mail. */
export interface Ruling {
  /** None: it is thrown away. */
  places: Place[]
  keywords: string[]
  /** Why the script was given up, one sentence; the mail then goes where it would without it. */
  fault: string | null
}
