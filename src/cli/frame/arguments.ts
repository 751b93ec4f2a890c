// Reads the words of a command line: the command, its operands and its options.

import { parseArgs } from 'node:util'
import { ProductError } from '../../base/errors.ts'
import { meantName } from '../../base/nearest.ts'
import type { Command, CommandOption } from './command.ts'
import { COMMON_OPTIONS } from './help.ts'

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>

export interface Arguments {
  values: Values
  operands: readonly string[]
}

/** The command that a command line names. */
export function commandOf(commands: readonly Command[], argv: readonly string[]): Command | undefined {
  const words = wordsOf(argv)
  return commands.find((one) => one.words.split(' ').every((word, index) => words[index] === word))
}

/** The words of a command line that are not options. */
export function wordsOf(argv: readonly string[]): string[] {
  return argv.filter((word) => !word.startsWith('-'))
}

/** A sentence about a command line that names no command. */
export function unknownCommand(commands: readonly Command[], words: readonly string[]): string {
  const [first, second] = words
  if (first === undefined) return 'The command is missing; mailstead --help lists the commands.'
  const name = words.slice(0, 2).join(' ')
  const family = commands.filter((command) => command.words.startsWith(`${first} `))
  if (family.length === 0) {
    const meant = meantName(first, [...new Set(commands.map((command) => command.words.split(' ')[0]!))])
    return suggesting(`There is no command ${name}`, meant, '; mailstead --help lists the commands.')
  }
  const seconds = family.map((command) => command.words.slice(first.length + 1))
  const meant = second === undefined ? undefined : meantName(second, seconds)
  const all = `: ${family.map((command) => command.words).join(', ')}; see mailstead ${first} --help.`
  if (second === undefined) return `The command is incomplete${all}`
  return suggesting(`There is no command ${name}`, meant && `${first} ${meant}`, all)
}

/** @param rest follows the start of the sentence when nothing similar is known */
function suggesting(start: string, meant: string | undefined, rest: string): string {
  if (meant === undefined) return `${start}${rest}`
  return `${start}. Did you mean ${meant}? See mailstead --help.`
}

/** @throws ProductError for an option the command does not have, and a value it cannot have */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const options = { ...command.options, ...COMMON_OPTIONS }
  const known = Object.entries(options).map(([name, { value, many }]) => {
    const type: 'boolean' | 'string' = value === undefined ? 'boolean' : 'string'
    return [name, { type, multiple: many === true, ...(name === 'help' ? { short: 'h' } : {}) }] as const
  })
  const { values, positionals } = parse(command, argv, Object.fromEntries(known))
  for (const [name, option] of Object.entries(options)) checkWords(name, option, values[name])
  return { values, operands: positionals.slice(command.words.split(' ').length) }
}

function parse(command: Command, argv: readonly string[], options: Parameters<typeof parseArgs>[0] & {}) {
  const see = `see mailstead ${command.words} --help.`
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: options as NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>,
    })
  } catch (error) {
    // Node's message goes on with advice on its own syntax; the first sentence says what is wrong.
    const [sentence] = (error as Error).message.split(/\. |\n/)
    const [, given] = /^Unknown option '--([^']*)'/.exec(sentence!) ?? []
    const meant = given === undefined ? undefined : meantName(given, Object.keys(options))
    const suggestion = meant === undefined ? `; ${see}` : `. Did you mean --${meant}? S${see.slice(1)}`
    throw new ProductError('invalid_parameter', `${sentence}${suggestion}`)
  }
}

function checkWords(name: string, { words, former = [] }: CommandOption, given: Values[string]): void {
  if (words === undefined || given === undefined) return
  const wrong = [given].flat().find((one) => ![...words, ...former].includes(String(one)))
  if (wrong === undefined) return
  throw new ProductError('invalid_parameter', `The ${name} must be one of ${words.join(', ')}.`)
}

/** @throws ProductError when operands are missing, superfluous, or none of the words that are possible */
export function checkOperands(command: Command, given: readonly string[]): void {
  const wanted = command.operands ?? []
  const see = `see mailstead ${command.words} --help.`
  const missing = wanted[given.length]
  if (missing !== undefined) {
    const name = missing.replace(/…$/, '')
    throw new ProductError('missing_parameter', `The ${name} is missing; ${see}`)
  }
  for (const [index, name] of wanted.entries()) checkWord(given[index]!, name)
  if (wanted.at(-1)?.endsWith('…') || given.length <= wanted.length) return
  throw new ProductError('invalid_parameter', `${given[wanted.length]} is an unexpected argument; ${see}`)
}

function checkWord(given: string, name: string): void {
  const words = name.split('|')
  if (words.length === 1 || words.includes(given)) return
  const last = words.pop()
  throw new ProductError('invalid_parameter', `${given} is not a valid value. Use ${words.join(', ')} or ${last}.`)
}
