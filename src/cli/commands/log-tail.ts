// `mailstead log tail`: the newest rows of the inbound and the delivery log, and those that follow.

import { presentDelivery } from '../../api/schemas/delivery-log.ts'
import { presentInbound } from '../../api/schemas/inbound-log.ts'
import { pause } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { clean } from '../../mime/one-line.ts'
import type { DeliveryRow } from '../../outbound/log/delivery-log.ts'
import type { InboundRow } from '../../store/log/inbound-log.ts'
import { oneOf } from '../frame/choice.ts'
import { type Command, type CommandOutput, TEAM_OPTION } from '../frame/command.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const DIRECTIONS = ['in', 'out'] as const
const LINES = 10
const LINES_MAX = 1000
const POLL_MS = 1000
/** A row can be committed this long after the time it names. */
const OVERLAP_MS = 60_000
/** Rows of one kind that are read in one poll. */
const POLL_MAX = 1000
/** Characters of a foreign text in a line; --json has all of it. */
const TEXT_SHOWN = 120

/** One line, and when it happened (ms). */
interface Entry extends CommandOutput {
  at: number
}

interface Scope {
  teamId: string
  /** Null: all mailboxes, and messages of root keys. */
  mailboxId: string | undefined
  direction: 'in' | 'out' | undefined
}

export const logTail: Command = {
  words: 'log tail',
  summary: 'Show the newest rows of the inbound and delivery log, and follow them until Ctrl-C.',
  options: {
    ...TEAM_OPTION,
    direction: { value: 'in|out', says: 'only received or only sent messages', words: DIRECTIONS },
    mailbox: { value: 'email', says: 'only messages of this mailbox' },
    lines: { value: 'number', says: `rows to show first (${LINES} unless given, at most ${LINES_MAX})` },
    once: { says: 'end after these rows instead of following' },
  },
  async run(call) {
    const lines = Number(call.text('lines') ?? LINES)
    if (!Number.isInteger(lines) || lines < 0 || lines > LINES_MAX) {
      throw new ProductError('invalid_parameter', `--lines must be a whole number from 0 to ${LINES_MAX}.`)
    }
    const direction = oneOf('direction', call.text('direction'), DIRECTIONS)
    const app = await call.open()
    const scope = { ...scopeOf(app, call.text('team'), call.text('mailbox')), direction }
    const tail = new Tail(app, scope)
    for (const entry of await tail.newest(lines)) call.print(entry)
    if (call.has('once')) return undefined
    const stopped = call.untilStopped()
    while (!stopped.aborted) {
      await pause(app.clock, POLL_MS, stopped)
      for (const entry of stopped.aborted ? [] : await tail.poll()) call.print(entry)
    }
    return undefined
  },
}

function scopeOf({ directory }: Context, team: string | undefined, email: string | undefined) {
  if (email === undefined) return { teamId: chooseTeam(directory, team).id, mailboxId: undefined }
  const mailbox = chooseMailbox(directory, email)
  if (team === undefined || chooseTeam(directory, team).id === mailbox.teamId) {
    return { teamId: mailbox.teamId, mailboxId: mailbox.id }
  }
  throw new ProductError('invalid_parameter', `The mailbox ${email} is not of the team ${team}.`)
}

/** Reads what is new in the logs of a team. */
class Tail {
  readonly #app: Context
  readonly #scope: Scope
  /** Start of the time that is read, ms. */
  #from: number
  /** When each row within the overlap was written, by id. */
  readonly #shown = new Map<string, number>()
  /** Number of the last event that was read. */
  #event: number

  constructor(app: Context, scope: Scope) {
    this.#app = app
    this.#scope = scope
    this.#from = app.clock.now() - OVERLAP_MS
    this.#event = app.events.newest(scope.teamId)
  }

  /** The newest rows of both logs, oldest first. Rows of the last minute that are not among them count as shown. */
  async newest(count: number): Promise<Entry[]> {
    const limit = Math.max(count, 1)
    const entries = [...(await this.#inbound(0, limit)), ...(await this.#accepted(0, limit, false))]
    await this.#inbound(this.#from, POLL_MAX)
    await this.#accepted(this.#from, POLL_MAX, false)
    return count === 0 ? [] : inOrder(entries).slice(-count)
  }

  /** What was written since the last call, oldest first. */
  async poll(): Promise<Entry[]> {
    const start = this.#app.clock.now() - OVERLAP_MS
    const rows = [...(await this.#inbound(this.#from, POLL_MAX)), ...(await this.#accepted(this.#from, POLL_MAX, true))]
    const entries = [...rows, ...this.#outcomes()]
    this.#from = start
    for (const [id, at] of this.#shown) if (at < start) this.#shown.delete(id)
    return inOrder(entries)
  }

  async #inbound(from: number, limit: number): Promise<Entry[]> {
    const { teamId, mailboxId, direction } = this.#scope
    if (direction === 'out') return []
    const page = await this.#app.store.log.inbound.list(teamId, { mailboxId, from }, { limit, after: null })
    return page.items.filter((row) => this.#isNew(row)).map(inboundEntry)
  }

  /** @param isFollowing shows a message as queued even when it has left meanwhile: its outcome follows */
  async #accepted(from: number, limit: number, isFollowing: boolean): Promise<Entry[]> {
    const { teamId, mailboxId, direction } = this.#scope
    if (direction === 'in') return []
    const page = await this.#app.outbound.log.deliveries.list(teamId, { mailboxId, from }, { limit, after: null })
    return page.items
      .filter((row) => this.#isNew(row))
      .map((row) => deliveryEntry(row, isFollowing ? 'queued' : row.status))
  }

  /** What happened to messages that were accepted at any time. */
  #outcomes(): Entry[] {
    const { teamId, mailboxId, direction } = this.#scope
    const found = this.#app.events.since(teamId, this.#event, POLL_MAX)
    this.#event = found.at(-1)?.n ?? this.#event
    if (direction === 'in') return []
    return found.flatMap(({ event }) => {
      const { delivery_log_id: id, mailbox_id: mailbox } = event.data
      if (typeof id !== 'string' || (mailboxId !== undefined && mailbox !== mailboxId)) return []
      const row = this.#app.outbound.log.deliveries.get(teamId, id)
      if (row === undefined) return []
      const entry = deliveryEntry(row, event.type.replace(/^message\./, '').replace('delivery_', ''))
      return [{ ...entry, at: Date.parse(event.created_at) }]
    })
  }

  #isNew({ id, createdAt }: { id: string; createdAt: number }): boolean {
    if (this.#shown.has(id)) return false
    this.#shown.set(id, createdAt)
    return true
  }
}

function inOrder(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => a.at - b.at).map(withTime)
}

function withTime(entry: Entry): Entry {
  const time = new Date(entry.at).toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    ...entry,
    data: { at: new Date(entry.at).toISOString(), ...entry.data },
    lines: entry.lines.map((line) => `${time} ${line}`),
  }
}

function inboundEntry(row: InboundRow): Entry {
  const { status, mailFrom, rcptTo, subject, smtpReply } = row
  const why = status === 'stored' || status === 'junk' ? '' : `  (${clean(smtpReply, TEXT_SHOWN)})`
  const line = `in   ${status.padEnd(9)}  ${address(mailFrom)} -> ${address(rcptTo)}  ${clean(subject ?? '', TEXT_SHOWN)}${why}`
  return { at: row.createdAt, data: { log: 'inbound', status, row: presentInbound(row) }, lines: [line.trimEnd()] }
}

function deliveryEntry(row: DeliveryRow, status: string): Entry {
  const why = row.statusReason === null || status === 'queued' ? '' : `  (${clean(row.statusReason, TEXT_SHOWN)})`
  const line = `out  ${status.padEnd(9)}  ${address(row.fromEmail)} -> ${address(row.to)}  ${clean(row.subject, TEXT_SHOWN)}${why}`
  return { at: row.createdAt, data: { log: 'delivery', status, row: presentDelivery(row) }, lines: [line.trimEnd()] }
}

function address(text: string): string {
  return text === '' ? '<>' : clean(text, TEXT_SHOWN)
}
