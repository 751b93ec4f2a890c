// `mailstead event tail` and `webhook listen`: the events of a team as they happen, printed, and posted to a program on this machine.

import { pause } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import { SafeFetch } from '../../base/safe-fetch.ts'
import type { Context } from '../../context.ts'
import { EVENT_TYPES } from '../../events/event-types.ts'
import type { EventBody } from '../../events/events.ts'
import { headersOf, newSigningSecret } from '../../events/webhooks/sign.ts'
import { checkUrl } from '../../events/webhooks/url.ts'
import { clean } from '../../mime/one-line.ts'
import { type Call, type Command, type CommandOutput, TEAM_OPTION } from '../frame/command.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const LINES = 10
const LINES_MAX = 1000
const POLL_MS = 500
const POLL_MAX = 500
const TEXT_SHOWN = 120

const OPTIONS = {
  ...TEAM_OPTION,
  type: {
    value: 'type',
    says: `only events of this type, may be repeated: ${EVENT_TYPES.join(', ')}`,
    words: EVENT_TYPES,
    many: true as const,
  },
}

export const eventTail: Command = {
  words: 'event tail',
  summary: 'Show the newest events of a team, and follow them until Ctrl-C.',
  options: {
    ...OPTIONS,
    lines: { value: 'number', says: `events to show first (${LINES} unless given, at most ${LINES_MAX})` },
    once: { says: 'end after these events instead of following' },
  },
  async run(call) {
    const lines = Number(call.text('lines') ?? LINES)
    if (!Number.isInteger(lines) || lines < 0 || lines > LINES_MAX) {
      throw new ProductError('invalid_parameter', `--lines must be a whole number from 0 to ${LINES_MAX}.`)
    }
    const app = await call.open()
    const { id: teamId } = chooseTeam(app.directory, call.text('team'))
    const wanted = wantedOf(call)
    const newest = app.events.newest(teamId)
    const shown = lines === 0 ? [] : app.events.last(teamId, lines, call.all('type'))
    for (const event of shown) call.print(outputOf(event))
    if (!call.has('once')) {
      await follow(app, { teamId, from: newest, stopped: call.untilStopped() }, async (event) => {
        if (wanted(event)) call.print(outputOf(event))
      })
    }
    return undefined
  },
}

export const webhookListen: Command = {
  words: 'webhook listen',
  summary:
    'Print the events of a team as they happen, and post each to a program on this machine, signed, until Ctrl-C.',
  options: { ...OPTIONS, forward: { value: 'url', says: 'where to post them, such as http://localhost:3000/hook' } },
  examples: ['mailstead webhook listen --forward http://localhost:3000/hook --type message.received'],
  async run(call) {
    const app = await call.open()
    const { id: teamId, name } = chooseTeam(app.directory, call.text('team'))
    const target = call.text('forward')
    const poster = target === undefined ? null : new Poster(app, checkUrl(target, true).href)
    const wanted = wantedOf(call)
    call.print({
      data: { team_id: teamId, forward: target ?? null, signing_secret: poster?.secret ?? null },
      lines: [
        `Events of ${name} are shown until Ctrl-C.`,
        ...(poster === null ? [] : [`They are posted to ${target}. Signing secret of this run: ${poster.secret}`]),
      ],
    })
    const scope = { teamId, from: app.events.newest(teamId), stopped: call.untilStopped() }
    try {
      await follow(app, scope, async (event) => {
        if (!wanted(event)) return
        const { data, lines } = outputOf(event)
        const answer = poster === null ? null : await poster.post(event)
        call.print({
          data: answer === null ? data : { event: data, answer },
          lines: answer === null ? lines : lines.map((line) => `${line}  -> ${answer.status || answer.text}`),
        })
      })
    } finally {
      await poster?.close()
    }
    return undefined
  },
}

/** Posts events as webhooks are posted, once each, with a secret of its own. */
class Poster {
  readonly secret = newSigningSecret()
  readonly #app: Context
  readonly #url: string
  readonly #fetch: SafeFetch

  constructor(app: Context, url: string) {
    this.#app = app
    this.#url = url
    // Who runs the command on the machine may reach what the machine reaches.
    this.#fetch = new SafeFetch({ resolver: app.resolver, log: app.log, allowPrivate: true, allowLoopback: true })
  }

  /** `text` says in words why there is no status. */
  async post(event: EventBody): Promise<{ status: number; problem: string | null; text: string | null }> {
    const body = JSON.stringify(event)
    const now = this.#app.clock.now()
    const signed = { event: { id: event.id, type: event.type, body }, attempt: 1, now, secret: this.secret }
    const headers = headersOf({ ...signed, previousSecret: null })
    const { status, problem, text } = await this.#fetch.post(this.#url, headers, body)
    return { status, problem, text }
  }

  close(): Promise<void> {
    return this.#fetch.close()
  }
}

interface Followed {
  teamId: string
  /** Number of the last event that was seen. */
  from: number
  stopped: AbortSignal
}

async function follow(app: Context, { teamId, from, stopped }: Followed, show: (event: EventBody) => Promise<void>) {
  let seen = from
  while (!stopped.aborted) {
    for (const { n, event } of app.events.since(teamId, seen, POLL_MAX)) {
      seen = n
      await show(event)
    }
    await pause(app.clock, POLL_MS, stopped)
  }
}

function wantedOf(call: Call): (event: EventBody) => boolean {
  const types = call.all('type')
  return ({ type }) => types.length === 0 || types.includes(type)
}

function outputOf(event: EventBody): CommandOutput {
  const { recipient, from, subject, mailbox_email: mailbox } = event.data as Record<string, unknown>
  const texts = [recipient ?? mailbox, from, subject].filter((text) => typeof text === 'string')
  const facts = texts.map((text) => clean(text, TEXT_SHOWN)).join('  ')
  return { data: event, lines: [`${event.created_at}  ${event.type.padEnd(28)}  ${facts}  ${event.id}`] }
}
