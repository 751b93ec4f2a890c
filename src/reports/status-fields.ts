// Parses the fields of a delivery status (RFC 3464 2.1): a group for the message, and one for each recipient.

import { RECIPIENTS_MAX } from './reported.ts'

/** Fields by lower-case name; of repeated fields the first one counts. */
export type StatusFields = ReadonlyMap<string, string>

export interface StatusGroups {
  mail: StatusFields
  recipients: StatusFields[]
}

/** Characters of one unfolded field. */
export const STATUS_FIELD_MAX = 4000
/** Fields of one group; further ones are ignored. */
export const GROUP_FIELDS_MAX = 100

/** RFC 3464 2.3 and RFC 8098 3.2: per-recipient fields. */
const OF_RECIPIENT = new Set([
  ...['original-recipient', 'final-recipient', 'action', 'status', 'remote-mta', 'diagnostic-code'],
  ...['last-attempt-date', 'final-log-id', 'will-retry-until', 'x-actual-recipient', 'x-display-name'],
])
/** A second one of these in a group starts the next recipient, even without an empty line between them. */
const ONCE = new Set(['final-recipient', 'action', 'status'])

const FIELD = /^([A-Za-z][A-Za-z0-9-]{1,60})[ \t]*:[ \t]*(.*)$/

/**
 * Parses the groups in text with LF line ends. Lines that are not fields are ignored, so that it also works when the
 * delivery status is in the middle of a text. Linear, never throws.
 */
export function readStatusFields(text: string): StatusGroups {
  const reader = new GroupReader()
  for (const line of text.split('\n')) reader.line(line.replace(/\r$/, ''))
  return reader.finish()
}

class GroupReader {
  private readonly mail = new Map<string, string>()
  private readonly recipients: Map<string, string>[] = []
  private group: Map<string, string> = this.mail
  private name = ''
  private value = ''
  /** True after an empty line: the next recipient may follow. */
  private apart = false

  line(line: string): void {
    if (this.name !== '' && /^[ \t]+\S/.test(line)) {
      if (this.value.length < STATUS_FIELD_MAX) this.value += `\n${line.trim()}`
      return
    }
    this.keep()
    const field = FIELD.exec(line)
    if (field) {
      this.name = field[1]!.toLowerCase()
      this.value = field[2]!
    } else if (line.trim() === '') this.apart = true
  }

  finish(): StatusGroups {
    this.keep()
    return { mail: this.mail, recipients: this.recipients }
  }

  private keep(): void {
    const { name, value } = this
    this.name = ''
    if (name === '') return
    if (OF_RECIPIENT.has(name) && this.startsRecipient(name)) {
      // Recipients beyond the limit are read into a group that is discarded.
      this.group = new Map()
      if (this.recipients.length < RECIPIENTS_MAX) this.recipients.push(this.group)
    }
    this.apart = false
    if (this.group.has(name) || this.group.size >= GROUP_FIELDS_MAX) return
    this.group.set(name, value.slice(0, STATUS_FIELD_MAX).trim())
  }

  private startsRecipient(name: string): boolean {
    if (this.group === this.mail) return true
    if (ONCE.has(name) && this.group.has(name)) return true
    return this.apart && this.group.has('final-recipient') && (name.endsWith('-recipient') || name === 'action')
  }
}
