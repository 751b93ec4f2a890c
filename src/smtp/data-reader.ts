// The content of DATA: where it ends, which dots are stuffing, and whether every line ends as it must.

/** What is wrong with the bytes of a mail or a command: a line break that is not CRLF (RFC 5321 2.3.8), or a NUL. */
export type ByteFault = 'bare_cr' | 'bare_lf' | 'nul'

const LINE_START = 0
const IN_LINE = 1
const AFTER_CR = 2
const AFTER_DOT = 3
const AFTER_DOT_CR = 4

const CR = 0x0d
const LF = 0x0a
const DOT = 0x2e
const NUL = 0x00

/**
 * Reads the bytes after DATA, cut anyhow. Only CRLF.CRLF ends them, and a dot is stuffing only at the start of a line that
 * begins after CRLF (RFC 5321 4.5.2): other programs that read the same bytes otherwise would see a second mail in them.
 */
export class DataReader {
  /** The first fault seen; the content is of no use then, but the end is still looked for. */
  fault: ByteFault | null = null
  #state = LINE_START

  /**
   * @param keep gets the content without stuffing, in pieces of `chunk`
   * @returns where in `chunk` the content's end mark is over, or -1 when the end was not reached
   */
  read(chunk: Uint8Array, keep: (piece: Uint8Array) => void): number {
    let state = this.#state
    let from = 0
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!
      if (state === IN_LINE && byte > CR) continue
      if (state === LINE_START && byte === DOT) {
        if (i > from) keep(chunk.subarray(from, i))
        from = i + 1
        state = AFTER_DOT
      } else if (byte === LF && state === AFTER_DOT_CR) {
        return i + 1
      } else {
        state = this.#next(state, byte)
      }
    }
    this.#state = state
    // A CR after a lone dot may be half of the end mark; when it is not, it is a fault and nothing is kept anyway.
    const to = state === AFTER_DOT_CR ? chunk.length - 1 : chunk.length
    if (to > from) keep(chunk.subarray(from, to))
    return -1
  }

  #next(state: number, byte: number): number {
    const afterCr = state === AFTER_CR || state === AFTER_DOT_CR
    if (byte === LF && afterCr) return LINE_START
    if (afterCr) this.fault ??= 'bare_cr'
    if (byte === LF) this.fault ??= 'bare_lf'
    if (byte === NUL) this.fault ??= 'nul'
    if (byte === CR) return state === AFTER_DOT ? AFTER_DOT_CR : AFTER_CR
    return IN_LINE
  }
}
