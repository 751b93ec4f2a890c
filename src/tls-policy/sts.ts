// MTA-STS (RFC 8461): the TXT record, the policy of a domain, and which mail servers it names.

import { isPlainValue, readTagRecord } from './tag-record.ts'

export const STS_VERSION = 'STSv1'
export const STS_MODES = ['enforce', 'testing', 'none'] as const
export type StsMode = (typeof STS_MODES)[number]

export interface StsPolicy {
  mode: StsMode
  /** Patterns of host names, lower case; may be empty with mode `none`. */
  mx: string[]
  /** Seconds. */
  maxAge: number
}

/** Bytes of a policy that are read. */
export const POLICY_MAX = 64 * 1024
/** RFC 8461 §3.2: a year, in seconds. */
const MAX_AGE_MAX = 31_557_600
/** Patterns of one policy. */
const MX_MAX = 500
const ID = /^[a-z0-9]{1,32}$/i
const FIELD = /^([a-z0-9][a-z0-9_.-]{0,31}):[ \t]*(.*?)[ \t]*$/i
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const PATTERN = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*\\.?$`, 'i')

/** The id of a record (RFC 8461 §3.1); null for a text that is none. */
export function readStsRecord(text: string): string | null {
  const fields = readTagRecord(text, STS_VERSION, (name, value) =>
    name === 'id' ? ID.test(value) : isPlainValue(value),
  )
  return fields?.get('id') ?? null
}

/** Reads a policy (RFC 8461 §3.2). @throws Error that says in one sentence what is wrong */
export function readStsPolicy(text: string): StsPolicy {
  const mx: string[] = []
  const fields = new Map<string, string>()
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? []
    if (name === undefined) throw new Error('A line of the policy is not a field.')
    if (name === 'mx') mx.push(pattern(value!))
    // The first of a repeated field counts.
    else if (!fields.has(name)) fields.set(name, value!)
  }
  if (fields.get('version') !== STS_VERSION) throw new Error('The policy has no version STSv1.')
  const mode = STS_MODES.find((known) => known === fields.get('mode'))
  if (mode === undefined) throw new Error('The policy has no known mode.')
  const age = fields.get('max_age') ?? ''
  if (!/^\d{1,10}$/.test(age) || Number(age) > MAX_AGE_MAX) throw new Error('The policy has no valid max_age.')
  if (mx.length === 0 && mode !== 'none') throw new Error('The policy names no mail server.')
  if (mx.length > MX_MAX) throw new Error(`The policy names more than ${MX_MAX} mail servers.`)
  return { mode, mx, maxAge: Number(age) }
}

function pattern(value: string): string {
  if (value.length > 255 || !PATTERN.test(value))
    throw new Error('The policy names a mail server that is no host name.')
  return value.toLowerCase().replace(/\.$/, '')
}

/** The text of a policy. */
export function stsPolicyText({ mode, mx, maxAge }: StsPolicy): string {
  const hosts = mx.map((host) => `mx: ${host}\r\n`).join('')
  return `version: ${STS_VERSION}\r\nmode: ${mode}\r\n${hosts}max_age: ${maxAge}\r\n`
}

/** Whether a policy names a mail server: `*.` stands for exactly one label (RFC 8461 §4.1). @param host lower case */
export function namesHost({ mx }: Pick<StsPolicy, 'mx'>, host: string): boolean {
  const parent = host.slice(host.indexOf('.') + 1)
  return mx.some((one) => one === host || (one.startsWith('*.') && host.includes('.') && one.slice(2) === parent))
}
