// Input and outcome of a script run for one message.

/** The script of one recipient. */
export interface ScriptCall {
  content: string
  /** Recipient address of the envelope. */
  rcptTo: string
  /** Existing folders among those the script tests for. */
  folders: string[]
}

/** Where a copy is filed: into the default folder, or into the folder with that path. */
export type FilingTarget = { kind: 'default' } | { kind: 'folder'; path: string; create: boolean }

/** The outcome of a script for a message. */
export interface SieveOutcome {
  /** Empty: the message is discarded. */
  targets: FilingTarget[]
  keywords: string[]
  /** Why the script was aborted, one sentence; the message then goes to the default folder. */
  error: string | null
}
