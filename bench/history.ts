// What receiving was on earlier days: bench/history.tsv, to which a quiet run is appended by hand with its commit and machine.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { printTable } from './table.ts'

const FILE = join(import.meta.dirname, 'history.tsv')
const COLUMNS = 11

/** A line of the file: its first five members are entered by hand or known before the run. */
export interface HistoryLine {
  /** The load, as the tables name it. */
  shape: string
  perSecond: string
  /** Times the rate of a bare Postfix. */
  ratio: string
  p99: string
  cpu: string
  main: string
  memory: string
}

/** @throws Error naming the line that has not all columns */
function readHistory(): string[][] {
  const [, ...lines] = readFileSync(FILE, 'utf8').trimEnd().split('\n')
  return lines.map((line, index) => {
    const cells = line.split('\t')
    if (cells.length === COLUMNS) return cells
    throw new Error(`bench/history.tsv, line ${index + 2}: ${cells.length} columns instead of ${COLUMNS}.`)
  })
}

/** Prints the history of each load with this run as its last line, and the lines to append. */
export function printHistory(form: string, messages: number, lines: readonly HistoryLine[]): void {
  const history = readHistory()
  const head = ['commit', 'machine', 'form', 'messages', 'messages/s', '× Postfix', 'p99 ms', 'CPU s', 'thread s', 'MB']
  const own = lines.map(({ shape, perSecond, ratio, p99, cpu, main, memory }) => [
    'this run',
    '',
    form,
    String(messages),
    shape,
    perSecond,
    ratio,
    p99,
    cpu,
    main,
    memory,
  ])
  for (const { shape } of lines) {
    const rows = [...history, ...own].filter((cells) => cells[4] === shape)
    printTable(
      `History: ${shape}`,
      head,
      rows.map((cells) => cells.toSpliced(4, 1)),
    )
  }
  console.log('\nFor bench/history.tsv, with commit and machine, when the machine was quiet:')
  for (const cells of own) console.log(['COMMIT', 'MACHINE', ...cells.slice(2)].join('\t'))
}
