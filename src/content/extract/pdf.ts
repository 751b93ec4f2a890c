// Extracts the text of PDF files with an external program that the operator configures.

import { spawn } from 'node:child_process'
import type { Extraction } from './extract.ts'
import { extractedContent, TEXT_MAX } from './extracted-content.ts'

const PAGES_MAX = 500
/** Bytes of the program's output: TEXT_MAX in four-byte characters. */
const OUTPUT_MAX = TEXT_MAX * 4

export function isPdf(bytes: Uint8Array): boolean {
  // Readers accept a header anywhere in the first kilobyte.
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
  // The program may close its input before the end of the file.
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
    found: extractedContent('text', { text: text.slice(0, TEXT_MAX), metadata: { format: 'pdf' }, more }),
  }
}
