// Parses calendar files (RFC 5545): events as metadata, and as text.

import { type ExtractedContent, extractedContent, type FileProperty, short } from './extracted-content.ts'
import { TextBuilder } from './text-builder.ts'

/** Listed events, and attendees per event. */
export const EVENTS_MAX = 100
const PEOPLE_MAX = 100

type Event = Record<string, FileProperty> & { attendees: string[] }

/** Properties listed under their own name, and renamed ones. */
const LISTED = new Set('UID SUMMARY DURATION LOCATION DESCRIPTION STATUS URL'.split(' '))
const RENAMED = new Map([
  ['DTSTART', 'start'],
  ['DTEND', 'end'],
  ['DUE', 'end'],
  ['RRULE', 'recurrence'],
])

/** @returns null when it is not a calendar */
export function readCalendar(text: string): ExtractedContent | null {
  if (!/^\s*BEGIN:VCALENDAR\b/i.test(text.slice(0, 200))) return null
  const facts: Record<string, FileProperty> = { format: 'ics', method: null, name: null }
  const events: Event[] = []
  let event: Event | null = null
  let inner = 0
  let more = false
  for (const line of unfolded(text)) {
    const { name, value } = propertyOf(line)
    if (name === 'BEGIN' && /^(?:VEVENT|VTODO)$/i.test(value)) {
      more ||= events.length >= EVENTS_MAX
      event =
        events.length < EVENTS_MAX ? { kind: value.toUpperCase() === 'VTODO' ? 'task' : 'event', attendees: [] } : null
      if (event !== null) events.push(event)
      inner = 0
    } else if (name === 'BEGIN') inner++
    else if (name === 'END' && inner > 0) inner--
    else if (name === 'END') event = null
    else if (event !== null && inner === 0) note(event, name, line, value)
    else if (name === 'METHOD') facts.method = short(value)
    else if (name === 'X-WR-CALNAME') facts.name = short(plain(value))
  }
  return extractedContent('calendar', { text: linesOf(events), metadata: { ...facts, events }, more })
}

function note(event: Event, name: string, line: string, value: string): void {
  const member = LISTED.has(name) ? name.toLowerCase() : RENAMED.get(name)
  if (member !== undefined) event[member] ??= short(plain(value), 2000)
  else if (name === 'ORGANIZER') event.organizer = person(line, value)
  else if (name === 'ATTENDEE' && event.attendees.length < PEOPLE_MAX) event.attendees.push(person(line, value))
}

/** RFC 5545 3.1: folded lines continue after a line break and a space. */
function unfolded(text: string): string[] {
  return text.replace(/\r?\n[ \t]/g, '').split(/\r?\n/)
}

function propertyOf(line: string): { name: string; value: string } {
  const name = /^[A-Za-z0-9-]{1,60}/.exec(line)?.[0] ?? ''
  // A value begins after the first colon outside quoted parameters.
  let quoted = false
  for (let at = name.length; at < line.length; at++) {
    if (line[at] === '"') quoted = !quoted
    else if (line[at] === ':' && !quoted) return { name: name.toUpperCase(), value: line.slice(at + 1) }
  }
  return { name: name.toUpperCase(), value: '' }
}

function plain(value: string): string {
  return value.replace(/\\([nN,;\\])/g, (_, mark: string) => (mark.toLowerCase() === 'n' ? '\n' : mark))
}

function person(line: string, value: string): string {
  const name = /;CN=(?:"([^"]{1,200})"|([^;:]{1,200}))/i.exec(line.slice(0, 1000))
  const address = short(value.replace(/^mailto:/i, ''))
  const label = short(name?.[1] ?? name?.[2] ?? '')
  return label === '' ? address : `${label} <${address}>`
}

function linesOf(events: readonly Event[]): string {
  const out = new TextBuilder()
  for (const [at, event] of events.entries()) {
    if (at > 0) out.add('\n')
    for (const [name, value] of Object.entries(event)) {
      if (name === 'uid' || name === 'kind') continue
      const shown = Array.isArray(value) ? value.join(', ') : String(value)
      if (shown !== '') out.add(`${name[0]!.toUpperCase()}${name.slice(1)}: ${shown}\n`)
    }
  }
  return out.toString()
}
