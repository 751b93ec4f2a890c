// The command line: finds the command, runs it and prints its result.

import { systemClock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { openLog } from '../base/log.ts'
import { loadConfig } from '../config/load.ts'
import { PROGRAM_VERSION } from '../config/version.ts'
import { type Context, openContext } from '../context.ts'
import { COMMANDS, GROUPS } from './commands.ts'
import { type Arguments, checkOperands, commandOf, readArguments, unknownCommand, wordsOf } from './frame/arguments.ts'
import type { Call, Command, CommandInput, CommandOutput, CommandResult } from './frame/command.ts'
import { helpData, helpOf, overview } from './frame/help.ts'
import { Progress, type ProgressOutput } from './frame/progress.ts'

/** Where a command reads and writes, one line at a time, and where its settings come from. */
export interface Io {
  out(line: string): void
  err(line: string): void
  env: Record<string, string | undefined>
  /** Where long commands show their progress; nowhere unless given. */
  progress?: ProgressOutput
  /** Standard input; empty unless given. */
  input?(): CommandInput
  /** @returns a signal that is aborted when the user ends the command; never unless given */
  untilStopped?(): AbortSignal
}

const NO_INPUT: CommandInput = { isTerminal: false, bytes: (async function* () {})() }

/** @returns the exit code: 0, or 1 with one sentence on `err` */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  try {
    const failure = await dispatch(argv, io)
    if (failure !== undefined) sayError(argv, io, { code: 'failed', message: failure })
    return failure === undefined ? 0 : 1
  } catch (error) {
    const [message] = (error instanceof Error ? error.message : String(error)).split('\n')
    const { code = 'internal_error', param, issues } = error instanceof ProductError ? error : {}
    const more = { ...(param === undefined ? {} : { param }), ...(issues === undefined ? {} : { errors: issues }) }
    sayError(argv, io, { code, message: message!, ...more })
    return 1
  }
}

/** A sentence for a person; for a program with `--json` the error as the API has it. */
function sayError(argv: readonly string[], io: Io, error: { code: string; message: string }): void {
  io.err(argv.includes('--json') ? JSON.stringify({ ok: false, error }) : `mailstead: ${error.message}`)
}

async function dispatch(argv: readonly string[], io: Io): Promise<string | undefined> {
  const command = commandOf(COMMANDS, argv)
  const isJson = argv.includes('--json')
  if (command === undefined) return withoutCommand(argv, io)
  const given = readArguments(command, argv)
  if (given.values.help) {
    for (const line of isJson ? [JSON.stringify(helpData(command))] : helpOf(command)) io.out(line)
    return undefined
  }
  checkOperands(command, given.operands)
  const outcome = await run(command, given, io)
  return outcome?.failure
}

/** Prints the version, or the list of commands. @returns a sentence about a command that does not exist */
function withoutCommand(argv: readonly string[], io: Io): string | undefined {
  const words = wordsOf(argv)
  const isJson = argv.includes('--json')
  if (words.length === 0 && argv.includes('--version')) {
    io.out(isJson ? JSON.stringify({ version: PROGRAM_VERSION }) : `mailstead ${PROGRAM_VERSION}`)
    return undefined
  }
  if (!argv.includes('--help') && !argv.includes('-h')) return unknownCommand(COMMANDS, words)
  const [first] = words
  const meant = COMMANDS.filter(({ words: own }) => first === undefined || own.startsWith(`${first} `))
  if (meant.length === 0) return unknownCommand(COMMANDS, words)
  const sections = first === undefined ? GROUPS : [{ title: null, commands: meant }]
  for (const line of isJson ? [JSON.stringify(meant.map(helpData))] : overview(sections)) io.out(line)
  return undefined
}

async function run(command: Command, { values, operands }: Arguments, io: Io): Promise<CommandResult | undefined> {
  let config = loadConfig(io.env)
  let app: Promise<Context> | undefined
  const print = ({ data, lines }: CommandOutput) => {
    if (values.json) io.out(JSON.stringify(data))
    else for (const line of lines) io.out(line)
  }
  const call: Call = {
    config,
    // Commands print their own output; log lines must not mix with it.
    open: () => (app ??= openContext(config, { log: openLog('silent') })),
    reload: () => {
      config = loadConfig(io.env)
      return config
    },
    operands,
    text: (option) => values[option] as string | undefined,
    all: (option) => (values[option] ?? []) as readonly string[],
    has: (option) => values[option] === true,
    json: values.json === true,
    variable: (name) => io.env[name],
    print,
    note: io.err,
    input: io.input ?? (() => NO_INPUT),
    untilStopped: io.untilStopped ?? (() => new AbortController().signal),
    progress: new Progress(io.progress ?? null),
  }
  try {
    const outcome = await command.run(call).finally(() => call.progress.end())
    if (outcome !== undefined) print(outcome)
    return outcome
  } finally {
    await (await app?.catch(() => undefined))?.close()
  }
}

function onSignals(): AbortSignal {
  const stop = new AbortController()
  // Timers of the clock do not keep the process alive.
  const alive = setInterval(() => {}, 60_000)
  stop.signal.addEventListener('abort', () => clearInterval(alive))
  // A second signal ends the process at once: the listeners are gone then.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  return stop.signal
}

if (import.meta.main) {
  // Files made from here on (databases, spool, keys) contain messages: only the owner may read them.
  process.umask(0o077)
  // The reader of the pipe has closed it (`mailstead --help | head -1`).
  process.stdout.on('error', () => process.exit(1))
  process.exitCode = await runCli(process.argv.slice(2), {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    env: process.env,
    input: () => ({ isTerminal: process.stdin.isTTY === true, bytes: process.stdin }),
    untilStopped: onSignals,
    progress: {
      isTerminal: process.stderr.isTTY === true,
      write: (text) => process.stderr.write(text),
      clock: systemClock,
    },
  })
}
