// The command line: finds the command, runs it and prints its result.

import { parseArgs } from 'node:util'
import { systemClock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { openLog } from '../base/log.ts'
import { loadConfig } from '../config/load.ts'
import { PROGRAM_VERSION } from '../config/version.ts'
import { type Context, openContext } from '../context.ts'
import { agentList, agentRegistration, agentRevoke, agentRevokeAll, agentRotateKey } from './agents.ts'
import { backup } from './backup.ts'
import { clockAccept } from './clock-accept.ts'
import type { Call, Command, CommandOutput, CommandResult } from './command.ts'
import { doctor } from './doctor.ts'
import { domainAdd } from './domain-add.ts'
import { domainOwn } from './domain-own.ts'
import { domainRotateKey } from './domain-rotate-key.ts'
import { domainVerify } from './domain-verify.ts'
import { domainList, domainShow } from './domains.ts'
import { helpOf, overview } from './help.ts'
import { keyCreate } from './key-create.ts'
import { keyList, keyRevoke } from './keys.ts'
import { limitRequestApprove, limitRequestDeny, limitRequestList } from './limit-requests.ts'
import { mailboxAlias } from './mailbox-alias.ts'
import { mailboxCreate } from './mailbox-create.ts'
import { mailboxKey } from './mailbox-key.ts'
import { mailboxDelete, mailboxList, mailboxReactivate, mailboxSuspend } from './mailboxes.ts'
import { operatorKey, operatorRevoke } from './operator-key.ts'
import { loginLink, memberAdd } from './people.ts'
import { Progress, type ProgressOutput } from './progress.ts'
import { queueDrop, queueList, queueRetry } from './queue.ts'
import { restore } from './restore.ts'
import { serveCommand } from './serve.ts'
import { setup } from './setup.ts'
import { teamCreate } from './team-create.ts'
import { teamCredit } from './team-credit.ts'
import { teamList, teamReactivate, teamSuspend, teamUpdate } from './teams.ts'

const commands: readonly Command[] = [
  setup,
  serveCommand,
  doctor,
  backup,
  restore,
  clockAccept,
  teamList,
  teamCreate,
  teamUpdate,
  teamSuspend,
  teamReactivate,
  teamCredit,
  limitRequestList,
  limitRequestApprove,
  limitRequestDeny,
  keyList,
  keyCreate,
  keyRevoke,
  domainList,
  domainShow,
  domainAdd,
  domainVerify,
  domainOwn,
  domainRotateKey,
  mailboxList,
  mailboxCreate,
  mailboxKey,
  mailboxAlias,
  mailboxSuspend,
  mailboxReactivate,
  mailboxDelete,
  queueList,
  queueRetry,
  queueDrop,
  operatorKey,
  operatorRevoke,
  memberAdd,
  loginLink,
  agentList,
  agentRevoke,
  agentRevokeAll,
  agentRegistration,
  agentRotateKey,
]

/** Where a command writes, one line at a time, and where its settings come from. */
export interface Io {
  out(line: string): void
  err(line: string): void
  env: Record<string, string | undefined>
  /** Where long commands show their progress; nowhere unless given. */
  progress?: ProgressOutput
}

/** @returns the exit code: 0, or 1 with one sentence on `err` */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  try {
    const failure = await dispatch(argv, io)
    if (failure !== undefined) io.err(`mailstead: ${failure}`)
    return failure === undefined ? 0 : 1
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    io.err(`mailstead: ${message.split('\n')[0]}`)
    return 1
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<string | undefined> {
  const words = argv.filter((word) => !word.startsWith('-'))
  const command = commands.find((one) => one.words.split(' ').every((word, index) => words[index] === word))
  if (command === undefined) {
    if (words.length === 0 && argv.includes('--version')) {
      io.out(argv.includes('--json') ? JSON.stringify({ version: PROGRAM_VERSION }) : `mailstead ${PROGRAM_VERSION}`)
      return undefined
    }
    if (!argv.includes('--help') && !argv.includes('-h')) return unknown(words)
    const meant = commands.filter(({ words: own }) => words[0] === undefined || own.startsWith(`${words[0]} `))
    if (meant.length === 0) return unknown(words)
    for (const line of overview(meant)) io.out(line)
    return undefined
  }
  const { values, operands } = read(command, argv)
  if (values.help) {
    for (const line of helpOf(command)) io.out(line)
    return undefined
  }
  checkOperands(command, operands)
  const outcome = await run(command, values, operands, io)
  return outcome?.failure
}

function unknown(words: readonly string[]): string {
  const name = words.slice(0, 2).join(' ')
  if (name === '') return 'The command is missing; mailstead --help lists the commands.'
  const meant = commands.filter((command) => command.words.startsWith(`${words[0]} `))
  if (meant.length === 0) return `There is no command ${name}; mailstead --help lists the commands.`
  const wanted = words.length === 1 ? 'The command is incomplete' : `There is no command ${name}`
  return `${wanted}: ${meant.map((command) => command.words).join(', ')}; see mailstead ${words[0]} --help.`
}

type Values = Record<string, string | boolean | undefined>

function read(command: Command, argv: readonly string[]): { values: Values; operands: string[] } {
  const options = Object.entries(command.options ?? {}).map(([name, { value }]) => {
    const type: 'boolean' | 'string' = value === undefined ? 'boolean' : 'string'
    return [name, { type }] as const
  })
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(options),
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    return { values, operands: positionals.slice(command.words.split(' ').length) }
  } catch (error) {
    // Node's message goes on with advice on its own syntax; the first sentence says what is wrong.
    const [sentence] = (error as Error).message.split(/\. |\n/)
    throw new ProductError('invalid_parameter', `${sentence}; see mailstead ${command.words} --help.`)
  }
}

function checkOperands(command: Command, given: readonly string[]): void {
  const wanted = command.operands ?? []
  const missing = wanted[given.length]
  const see = `see mailstead ${command.words} --help.`
  if (missing !== undefined) throw new ProductError('missing_parameter', `The ${missing} is missing; ${see}`)
  if (given.length > wanted.length) {
    throw new ProductError('invalid_parameter', `${given[wanted.length]} is an unexpected argument; ${see}`)
  }
}

async function run(command: Command, values: Values, operands: string[], io: Io): Promise<CommandResult | undefined> {
  const config = loadConfig(io.env)
  let app: Promise<Context> | undefined
  const print = ({ data, lines }: CommandOutput) => {
    if (values.json) io.out(JSON.stringify(data))
    else for (const line of lines) io.out(line)
  }
  const call: Call = {
    config,
    // Commands print their own output; log lines must not mix with it.
    open: () => (app ??= openContext(config, { log: openLog('silent') })),
    operands,
    text: (option) => values[option] as string | undefined,
    has: (option) => values[option] === true,
    json: values.json === true,
    print,
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

if (import.meta.main) {
  // Files made from here on (databases, spool, keys) contain messages: only the owner may read them.
  process.umask(0o077)
  // The reader of the pipe has closed it (`mailstead --help | head -1`).
  process.stdout.on('error', () => process.exit(1))
  process.exitCode = await runCli(process.argv.slice(2), {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    env: process.env,
    progress: {
      isTerminal: process.stderr.isTTY === true,
      write: (text) => process.stderr.write(text),
      clock: systemClock,
    },
  })
}
