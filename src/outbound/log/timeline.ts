// The timeline of a delivery as it is kept with its row: one line per step, bounded whatever a peer does.

import { clean } from '../../mime/one-line.ts'
import type { Reply, ReplyServer } from '../records.ts'

export type StepType =
  | 'accepted'
  | 'routed'
  | 'deferred'
  | 'sent'
  | 'bounced'
  | 'expired'
  | 'rejected'
  | 'cancelled'
  | 'complained'

/** One thing that happened to a delivery. */
export interface Step {
  /** ms */
  at: number
  type: StepType
  /** At most DETAIL_MAX characters, one line. */
  detail: string
  smtpCode: number | null
  /** When it is tried again, ms; only of what was put off. */
  nextAt: number | null
  /** The server that answered, where one did. */
  server?: ReplyServer
}

/** Decisions §6.1. */
export const DETAIL_MAX = 300
/** Characters of a host's name. */
const HOST_MAX = 255
/** Steps kept of one delivery; the oldest go first. */
export const STEPS_MAX = 200
/** A delivery that is routed again and again without an end to it says so no more, in characters. */
export const TIMELINE_MAX = 64 * 1024

/** The line of one step, its end included. */
export function stepLine({ at, type, detail, smtpCode, nextAt, server }: Step): string {
  const line = [at, type, clean(detail, DETAIL_MAX), smtpCode, nextAt]
  if (server !== undefined) line.push(clean(server.host, HOST_MAX), server.address)
  return `${JSON.stringify(line)}\n`
}

/** @param timeline what is kept so far */
export function withStep(timeline: string, step: Step): string {
  const lines = timeline.split('\n').slice(0, -1)
  const kept = lines.length < STEPS_MAX ? timeline : `${lines.slice(1 - STEPS_MAX).join('\n')}\n`
  return kept + stepLine(step)
}

/** A step as it is kept. */
type StepLine = [
  at: number,
  type: StepType,
  detail: string,
  smtpCode: number | null,
  nextAt: number | null,
  host?: string,
  address?: string | null,
]

/** The steps of a timeline, oldest first. */
export function stepsOf(timeline: string): Step[] {
  return timeline
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [at, type, detail, smtpCode, nextAt, host, address] = JSON.parse(line) as StepLine
      const step = { at, type, detail, smtpCode, nextAt }
      return host === undefined ? step : { ...step, server: { host, address: address ?? null } }
    })
}

/** What a server said, as one line that begins with its code: "550 5.1.1 user unknown". At most DETAIL_MAX characters. */
export function replyLine({ smtpCode, enhancedCode, text }: Reply): string {
  const said = clean(text, DETAIL_MAX)
  if (smtpCode !== null && startsWith(said, String(smtpCode))) return said
  const parts = enhancedCode === null || startsWith(said, enhancedCode) ? [said] : [enhancedCode, said]
  if (smtpCode !== null) parts.unshift(String(smtpCode))
  return clean(parts.filter((part) => part !== '').join(' '), DETAIL_MAX)
}

function startsWith(text: string, code: string): boolean {
  return text.startsWith(code) && !/^[\d.]/.test(text.slice(code.length))
}
