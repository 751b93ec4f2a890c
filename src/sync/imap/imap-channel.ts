// One IMAP connection through imapflow: its bounds, one command at a time with a timeout, and every failure as a ServerError.

import type { ImapFlow, ImapFlowOptions } from 'imapflow'
import type { Clock, Timer } from '../../base/clock.ts'
import type { RemoteProtocol } from '../model/records.ts'
import { ServerError } from '../model/server.ts'
import { type CommandValue, codeOf, type ImapResponse, type ResponseCode, textsOf } from './imap-values.ts'
import type { ConnectionMemory, ResponseParser } from './response-memory.ts'
import { type ConnectionFailure, connectionError, refusalOf, type ServerStage } from './server-errors.ts'

/** Bounds of what a server sends, bytes. A SEARCH of a million messages is a line of 8 MB. */
const LINE_BYTES = 16 * 1024 * 1024
const LITERAL_BYTES = 64 * 1024 * 1024
const RESPONSE_BYTES = 80 * 1024 * 1024
/** Values of one response: each takes about 100 bytes while it is read. */
const RESPONSE_TOKENS = 300_000
/** Untagged responses to a command that says nothing else. */
export const RESPONSES_MAX = 10_000

/** Timeouts in ms. Those of imapflow are the last resort. */
const OPEN_MS = 60_000
const CONNECT_MS = 20_000
const GREETING_MS = 15_000
export const COMMAND_MS = 120_000
const SOCKET_MS = 15 * 60_000
const LOGOUT_MS = 2000

const NO_MECHANISM = new Set([
  'Unsupported authentication mechanism',
  'No matching authentication method',
  'Login is disabled',
])
const ANNOUNCED = ['EXISTS', 'EXPUNGE', 'VANISHED']

export interface ChannelSettings {
  /** The server's name, for errors and its certificate. */
  host: string
  /** The checked IP address to connect to. */
  address: string
  port: number
  protocol: RemoteProtocol
  user: string
  secret: { password: string } | { token: string }
}

export interface ChannelDeps {
  clock: Clock
  signal: AbortSignal
  memory: ConnectionMemory
}

/** Receives the untagged responses to a command, by their names (`FETCH`, `EXISTS`…). */
export type Handlers = Record<string, (response: ImapResponse) => void>

export interface RunOptions {
  /** Timeout of the answer; {@link COMMAND_MS} unless given. */
  ms?: number
  /** Untagged responses; {@link RESPONSES_MAX} unless given. */
  most?: number
  /** Little is answered: nothing that other connections would wait for. */
  isShort?: true
  /** Bytes that are kept of each literal. */
  keeps?: number
  /** A continuation was requested. */
  onContinue?: () => void
}

interface Answer {
  response: ImapResponse
  next(): void
}

interface ExecOptions {
  untagged: Record<string, (response: ImapResponse) => Promise<void>>
  onPlusTag?: () => Promise<void>
}

/**
 * What is used of imapflow beyond its public methods, which report a refused command as `false` and write events instead of results.
 * The version is pinned; test/units/sync/imapflow.test.ts fails when an upgrade changes these members.
 */
interface Internals {
  exec(command: string, attributes: CommandValue[] | false, options: ExecOptions): Promise<Answer>
  write(line: string): void
  throttleWait(ms: number): Promise<boolean>
  untaggedHandlers: Record<string, unknown>
  rawCapabilities: unknown
  streamer: ResponseParser
}

export class ImapChannel {
  readonly host: string
  readonly client: ImapFlow
  readonly #internals: Internals
  readonly #deps: ChannelDeps
  readonly #secrets: readonly string[]
  readonly #isToken: boolean
  #stage: ServerStage = 'connect'
  /** Why the connection ended; the first reason counts. */
  #failure: ServerError | null = null
  /** Receives EXISTS, EXPUNGE and VANISHED that the running command does not handle, also between commands. */
  observe: (name: string, response: ImapResponse) => void = () => {}
  #handlers: Handlers = {}
  /** Responses that the running command may still receive. */
  #left = 0
  #unlisten: () => void = () => {}

  private constructor(client: ImapFlow, settings: ChannelSettings, deps: ChannelDeps) {
    this.host = settings.host
    this.client = client
    this.#internals = client as unknown as Internals
    this.#deps = deps
    const { user, secret } = settings
    this.#isToken = 'token' in secret
    this.#secrets = formsOf(user, 'token' in secret ? secret.token : secret.password)
    deps.memory.attach(this.#internals.streamer, () => this.violate('sent a response above the limits'))
  }

  /** Connects, starts TLS and signs in. @throws ServerError */
  static async open(settings: ChannelSettings, deps: ChannelDeps): Promise<ImapChannel> {
    // Loaded with the first connection: only the worker of outside accounts needs it.
    const { ImapFlow } = await import('imapflow')
    const channel = new ImapChannel(new ImapFlow(optionsOf(settings)), settings, deps)
    await channel.#connect(settings)
    return channel
  }

  get isOpen(): boolean {
    return this.#failure === null
  }

  get clock(): Clock {
    return this.#deps.clock
  }

  get signal(): AbortSignal {
    return this.#deps.signal
  }

  /** Upper-case. */
  get capabilities(): ReadonlySet<string> {
    return new Set([...this.client.capabilities.keys()].map((name) => name.toUpperCase()))
  }

  get greeting(): string {
    return this.client.greeting ?? ''
  }

  /** Ends the connection because of what the server sent; the running command throws this. */
  fail(error: ServerError): void {
    this.#failure ??= error
    this.#unlisten()
    this.client.close()
    this.#deps.memory.close()
  }

  /** @param what the rest of a sentence that starts with the server's name */
  violate(what: string): void {
    this.fail(new ServerError('delay', `${this.host} ${what}.`))
  }

  /**
   * Runs a command.
   * @returns the code and text of its OK @throws ServerError
   */
  async run(
    command: string,
    values: readonly CommandValue[] = [],
    handlers: Handlers = {},
    options: RunOptions = {},
  ): Promise<ResponseCode> {
    if (this.#failure !== null) throw this.#failure
    this.#handlers = handlers
    this.#left = options.most ?? RESPONSES_MAX
    this.#deps.memory.begin(options.isShort ?? false, options.keeps)
    const cancel = this.#limitTime(options.ms ?? COMMAND_MS)
    const untagged = this.#listening(handlers)
    const onPlusTag = options.onContinue === undefined ? undefined : async () => options.onContinue!()
    try {
      const answer = await this.#internals.exec(command, values.length === 0 ? false : [...values], {
        untagged,
        onPlusTag,
      })
      const code = codeOf(answer.response)
      answer.next()
      if (this.#failure !== null) throw this.#failure
      return code
    } catch (error) {
      throw this.#errorOf(error)
    } finally {
      cancel()
      this.#deps.memory.answered()
      this.#handlers = {}
    }
  }

  /** The time in which the server is not read from does not count. @returns ends the limit */
  #limitTime(ms: number): () => void {
    const { clock, memory } = this.#deps
    const start = (): Timer =>
      clock.after(ms, () => {
        if (memory.isWaiting) timer = start()
        else this.violate(`did not answer within ${Math.round(ms / 1000)} seconds`)
      })
    let timer = start()
    return () => timer.cancel()
  }

  /** Writes a line outside of commands: DONE. */
  write(line: string): void {
    if (this.#failure === null) this.#internals.write(line)
  }

  /** What the last answer gave is not held any more. */
  endAnswer(): void {
    this.#deps.memory.release()
  }

  /** Says goodbye, and closes. */
  async close(): Promise<void> {
    if (this.#failure !== null) return
    await this.run('LOGOUT', [], {}, { ms: LOGOUT_MS, isShort: true }).catch(() => {})
    this.fail(new ServerError('delay', 'The connection was closed.'))
  }

  async #connect({ protocol }: ChannelSettings): Promise<void> {
    const { clock, signal } = this.#deps
    const abort = () => this.fail(new ServerError('delay', 'The connection was closed.'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    this.#unlisten = () => signal.removeEventListener('abort', abort)
    const timer = clock.after(OPEN_MS, () =>
      this.violate(`did not finish the sign-in within ${OPEN_MS / 1000} seconds`),
    )
    this.client.on('error', (error: ConnectionFailure) => this.#lose(error))
    this.client.on('close', () => this.#lose({}))
    // imapflow waits as long as Exchange asks, at most some minutes; the worker decides that.
    this.#internals.throttleWait = async () => false
    try {
      if (this.#failure !== null) throw this.#failure
      const connected = this.client.connect()
      // RFC 9051 §7.1.4: who is signed in without a password need not be the account.
      this.#internals.untaggedHandlers.PREAUTH = () => this.violate('asked for no sign-in')
      await connected
      if (protocol !== 'none' && !this.client.secureConnection)
        throw connectionError(this.host, 'connect', { tlsFailed: true })
      this.#takeUnsolicited()
      this.#stage = 'command'
    } catch (error) {
      const failure = this.#errorOf(error)
      this.fail(failure)
      throw failure
    } finally {
      timer.cancel()
    }
  }

  /** Responses between commands: imapflow would make an event of each UID of a VANISHED. */
  #takeUnsolicited(): void {
    for (const name of ANNOUNCED) {
      this.#internals.untaggedHandlers[name] = (response: ImapResponse) => this.observe(name, response)
    }
    this.#internals.untaggedHandlers.FETCH = () => {}
  }

  /** imapflow logs what a handler throws and goes on: here it ends the connection. */
  #listening(handlers: Handlers): ExecOptions['untagged'] {
    const run = (name: string, response: ImapResponse) => {
      if (this.#left-- <= 0) return this.violate('sent more responses than a command can have')
      try {
        const handle = this.#handlers[name]
        if (handle !== undefined) handle(response)
        else if (ANNOUNCED.includes(name)) this.observe(name, response)
      } catch (error) {
        this.fail(
          error instanceof ServerError
            ? error
            : new ServerError('delay', `${this.host} sent a response that cannot be read.`),
        )
      }
    }
    const names = new Set([...ANNOUNCED, 'FETCH', ...Object.keys(handlers)])
    return Object.fromEntries([...names].map((name) => [name, async (response) => run(name, response)]))
  }

  #lose(error: ConnectionFailure): void {
    this.fail(this.#farewell(error) ?? connectionError(this.host, this.#stageNow(), error))
  }

  /** What the server said before it ended the connection. */
  #farewell({ code }: ConnectionFailure): ServerError | null {
    const bye = this.client.byeReason
    if (bye === undefined || (code !== undefined && code !== 'NoConnection')) return null
    const said = refusalOf(this.host, 'command', { name: 'UNAVAILABLE', values: [], text: bye }, this.#context())
    const { effect, message, retryAfterMs } = said
    const isEnd = this.#stage === 'command' && retryAfterMs === null
    return new ServerError(effect, message, { retryAfterMs: retryAfterMs ?? undefined, isEnd })
  }

  #stageNow(): ServerStage {
    if (this.#stage === 'command') return 'command'
    return this.client.greeting === undefined ? 'connect' : 'sign-in'
  }

  #context() {
    return { now: this.#deps.clock.now(), secrets: this.#secrets, isToken: this.#isToken }
  }

  /** An error of imapflow holds the command and the response: only what is known to be harmless is taken from it. */
  #errorOf(error: unknown): ServerError {
    if (this.#failure !== null) return this.#failure
    if (error instanceof ServerError) return error
    const known = error as ConnectionFailure & {
      response?: unknown
      responseStatus?: string
      responseText?: string
      authenticationFailed?: boolean
      serverResponseCode?: string
    }
    if (known.responseStatus === 'NO' || known.responseStatus === 'BAD') return this.#refusal(known)
    if (NO_MECHANISM.has(known.message ?? '')) {
      const reason = `${this.host} offers no way to sign in that is supported.`
      return new ServerError('failed', reason, { kind: 'credentials' })
    }
    if (known.authenticationFailed === true) {
      return refusalOf(this.host, 'sign-in', { name: null, values: [], text: textIn(known.response) }, this.#context())
    }
    if (known.code?.startsWith('Invalid') === true && known.code !== 'InvalidResponse') {
      return new ServerError('refused', `A name has characters that cannot be sent to ${this.host}.`)
    }
    const farewell = this.#farewell(known)
    if (farewell !== null) return farewell
    return connectionError(this.host, this.#stageNow(), known)
  }

  #refusal(error: {
    response?: unknown
    responseText?: string
    serverResponseCode?: string
    authenticationFailed?: boolean
  }): ServerError {
    const isSignIn = error.authenticationFailed === true
    const response = error.response as ImapResponse | string | undefined
    const answer: ResponseCode =
      typeof response === 'object'
        ? codeOf(response)
        : { name: error.serverResponseCode?.toUpperCase() ?? null, values: [], text: error.responseText ?? '' }
    const stage = isSignIn || this.#stageNow() !== 'command' ? 'sign-in' : 'command'
    return refusalOf(this.host, stage, answer, this.#context())
  }
}

function textIn(response: unknown): string {
  return typeof response === 'string' ? response : ''
}

/** What the server may repeat of a sign-in. */
function formsOf(user: string, secret: string): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return [
    base64(`\0${user}\0${secret}`),
    base64(`user=${user}\x01auth=Bearer ${secret}\x01\x01`),
    base64(secret),
    secret,
  ]
}

function optionsOf({ host, address, port, protocol, user, secret }: ChannelSettings): ImapFlowOptions {
  return {
    host: address,
    port,
    // Of an address that was given as such, the certificate has to name the address.
    servername: host === address ? undefined : host,
    secure: protocol === 'ssl',
    doSTARTTLS: protocol === 'starttls',
    auth: 'token' in secret ? { user, accessToken: secret.token } : { user, pass: secret.password },
    clientInfo: { name: 'Mailstead', version: false, vendor: false, 'support-url': false },
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    logger: false,
    disableAutoIdle: true,
    disableAutoEnable: true,
    // Compressed bytes have no bound on what they become.
    disableCompression: true,
    disableIMAP4rev2: true,
    disableBinary: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SOCKET_MS,
    maxLineLength: LINE_BYTES,
    maxLiteralSize: LITERAL_BYTES,
    maxResponseSize: RESPONSE_BYTES,
    maxResponseTokens: RESPONSE_TOKENS,
    maxLockHoldTime: false,
  }
}

/** The extensions that an ENABLED response names. */
export function enabledIn(response: ImapResponse): string[] {
  return textsOf(response.attributes ?? []).map((name) => name.toUpperCase())
}
