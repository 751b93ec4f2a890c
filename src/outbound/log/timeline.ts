// The timeline of a delivery as stored in its row: one line per step, of bounded size whatever a peer sends.

import { clean } from '../../mime/one-line.ts'
import type { RemoteReply, RemoteServer } from '../model/records.ts'

export type StepType =
  | 'accepted'
  | 'routed'
  | 'deferred'
  | 'sent'
  | 'bounced'
  | 'expired'
  | 'rejected'
  | 'cancelled'
  | 'held'
  | 'approved'
  | 'complained'

/** One step of a delivery. */
export interface Step {
  /** ms */
  at: number
  type: StepType
  /** At most DETAIL_MAX characters, one line. */
  detail: string
  smtpCode: number | null
  /** Time of the next attempt, ms; only for `deferred`. */
  nextAt: number | null
  /** The server that answered, if any. */
  server?: RemoteServer
}

/** docs/design/sending.md §6. */
export const DETAIL_MAX = 300
/** Maximum length of a host name. Characters. */
const HOST_MAX = 255
/** Steps stored per delivery; the oldest are dropped first. */
export const STEPS_MAX = 200
/** Length from which `routed` steps are no longer added, for deliveries routed again and again. Characters. */
export const TIMELINE_MAX = 64 * 1024

/** The line of one step, including the newline. */
export function stepLine({ at, type, detail, smtpCode, nextAt, server }: Step): string {
  const line = [at, type, clean(detail, DETAIL_MAX), smtpCode, nextAt]
  if (server !== undefined) line.push(clean(server.host, HOST_MAX), server.address)
  return `${JSON.stringify(line)}\n`
}

/** Appends a step. @param timeline the stored lines */
export function withStep(timeline: string, step: Step): string {
  const lines = timeline.split('\n').slice(0, -1)
  const kept = lines.length < STEPS_MAX ? timeline : `${lines.slice(1 - STEPS_MAX).join('\n')}\n`
  return kept + stepLine(step)
}

/** A step as stored. */
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

/** A server's reply as one line that begins with its code: "550 5.1.1 user unknown". At most DETAIL_MAX characters. */
export function replyLine({ smtpCode, enhancedCode, text }: RemoteReply): string {
  const said = clean(text, DETAIL_MAX)
  if (smtpCode !== null && startsWith(said, String(smtpCode))) return said
  const parts = enhancedCode === null || startsWith(said, enhancedCode) ? [said] : [enhancedCode, said]
  if (smtpCode !== null) parts.unshift(String(smtpCode))
  return clean(parts.filter((part) => part !== '').join(' '), DETAIL_MAX)
}

function startsWith(text: string, code: string): boolean {
  return text.startsWith(code) && !/^[\d.]/.test(text.slice(code.length))
}
