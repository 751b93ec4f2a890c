// The text of PDF files, by a program the operator names: none of ours opens such a file.

import { spawn } from 'node:child_process'
import type { Extraction } from './extract.ts'
import { found, TEXT_MAX } from './extracted.ts'

const PAGES_MAX = 500
/** Bytes of the program's output that are taken: the text in the widest characters. */
const OUTPUT_MAX = TEXT_MAX * 4

export function isPdf(bytes: Uint8Array): boolean {
  // Readers take a PDF that begins anywhere in the first kilobyte.
  return Buffer.from(bytes.subarray(0, 1024)).includes('%PDF-')
}

/**
 * @param program path of pdftotext
 * @param signal ends the program
 */
export async function readPdf(program: string, bytes: Uint8Array, signal: AbortSignal): Promise<Extraction> {
  const child = spawn(program, ['-q', '-enc', 'UTF-8', '-l', String(PAGES_MAX), '-', '-'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
    signal,
    killSignal: 'SIGKILL',
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null)).once('close', (code) => resolve(code))
  })
  // A program that wants no more of the file closes its end.
  child.stdin.on('error', () => {}).end(bytes)
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    size += piece.length
    if (size <= OUTPUT_MAX) pieces.push(piece)
    else child.kill('SIGKILL')
  }
  const code = await ended
  if (code !== 0 && size <= OUTPUT_MAX) return { status: 'failed' }
  const text = Buffer.concat(pieces).toString('utf8').replaceAll('\f', '\n')
  const more = text.length > TEXT_MAX || size > OUTPUT_MAX
  return {
    status: 'parsed',
    found: found('text', { text: text.slice(0, TEXT_MAX), metadata: { format: 'pdf' }, more }),
  }
}
