// What the commands of one signed-in connection share.

import type { Clock } from '../../base/clock.ts'
import { countOf } from '../../base/number-ranges.ts'
import { decodeUtf7, encodeUtf7 } from '../../mime/utf7.ts'
import type { Quirks } from '../model/quirks.ts'
import { ServerError, type ServerFacts, type UidSpan } from '../model/server.ts'
import type { ImapChannel } from './imap-channel.ts'
import { type CommandValue, type ImapResponse, numberOf, quoted, spansOf, textOf } from './imap-values.ts'
import type { ReadThrottle } from './read-throttle.ts'

/** Characters of the set of UIDs of one command (RFC 7162 §4 advises 8,192 for a whole line). */
export const SET_CHARACTERS = 7000
/** Spans in one response. */
export const SPANS_MAX = 2_000_000
/** Messages of a folder. */
const MESSAGES_MAX = 10_000_000
/** Messages may arrive while a command runs. */
const GROWTH = 10_000

export interface RemoteSelection {
  path: string
  /** As the server announced it. */
  exists: number
  hasModSeq: boolean
  /** Something was announced since the folder was selected, or since `wait` reported it. */
  isChanged: boolean
}

export class RemoteSession {
  readonly channel: ImapChannel
  readonly facts: ServerFacts
  readonly quirks: Quirks
  readonly throttle: ReadThrottle
  selected: RemoteSelection | null = null
  /** IDLE was offered and refused. */
  refusesIdle = false

  constructor(parts: {
    channel: ImapChannel
    facts: ServerFacts
    quirks: Quirks
    throttle: ReadThrottle
  }) {
    this.channel = parts.channel
    this.facts = parts.facts
    this.quirks = parts.quirks
    this.throttle = parts.throttle
    this.channel.observe = (name, response) => this.#observe(name, response)
  }

  get clock(): Clock {
    return this.channel.clock
  }

  has(capability: string): boolean {
    return this.facts.capabilities.includes(capability)
  }

  /** A path of a response, in modified UTF-7; a name that is none stands for itself. */
  decode(path: string): string {
    return decodeUtf7(Buffer.from(path)) ?? path
  }

  /** A path in a command. */
  path(path: string): CommandValue {
    return quoted(encodeUtf7(path))
  }

  /** @throws ServerError when no folder is selected */
  folder(): RemoteSelection {
    if (this.selected === null) throw new ServerError('delay', `No folder of ${this.channel.host} is selected.`)
    return this.selected
  }

  /** Takes what the server announces at any time (RFC 9051 §5.2). */
  #observe(name: string, response: ImapResponse): void {
    const { selected } = this
    if (selected === null) return
    const before = selected.exists
    if (name === 'EXISTS') selected.exists = numberOf({ type: 'ATOM', value: response.command }) ?? before
    else if (name === 'EXPUNGE') selected.exists = Math.max(0, before - 1)
    else if (name === 'VANISHED') {
      const spans = spansOf(textOf(response.attributes?.at(-1)), SPANS_MAX) ?? []
      selected.exists = Math.max(0, before - countOf(spans))
    }
    selected.isChanged ||= name !== 'EXISTS' || selected.exists !== before
  }

  /** Ends the connection when the server names more messages than the folder can hold. @throws ServerError */
  checkCount(spans: readonly UidSpan[]): void {
    if (countOf(spans) <= Math.min(this.folder().exists + GROWTH, MESSAGES_MAX)) return
    const error = new ServerError('delay', `${this.channel.host} names more messages than the folder holds.`)
    this.channel.fail(error)
    throw error
  }
}
