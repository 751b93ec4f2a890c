// A tool as one object: constants that a client sees, and the operations of the API that it calls.

import type { Static, TObject } from 'typebox'
import type { CallApi } from './api-caller.ts'

/** What the credential may do; each tool needs one of its rights, or none. */
export type ToolRight = 'read' | 'organize' | 'write' | 'send'

export interface ToolCall {
  api: CallApi
  /** An Idempotency-Key that equal calls within ten minutes share: clients repeat a call after a broken stream. */
  idempotencyKey: string
  signal: AbortSignal
}

/** Facts, as a value; or a text with what others wrote inside fences, as text alone: some clients show only one of both forms. */
export type ToolResult = { value: object } | { text: string }

export interface Tool {
  name: string
  title: string
  description: string
  input: TObject
  rights: readonly ToolRight[]
  readOnly: boolean
  destructive: boolean
  idempotent: boolean
  run(input: never, call: ToolCall): Promise<ToolResult>
}

/** Types the definition of a tool. */
export function tool<I extends TObject>(
  definition: Omit<Tool, 'input' | 'run'> & { input: I; run(input: Static<I>, call: ToolCall): Promise<ToolResult> },
): Tool {
  return definition as unknown as Tool
}

export const READS = { readOnly: true, destructive: false, idempotent: true } as const
export const SENDS = { readOnly: false, destructive: true, idempotent: true } as const
