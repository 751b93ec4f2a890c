// Parses the content of DATA: end mark, dot-stuffing and line endings (RFC 5321 §4.5.2, §2.3.8).

/** A forbidden byte in a message or a command: a line break other than CRLF (RFC 5321 §2.3.8), or a NUL. */
export type ByteError = 'bare_cr' | 'bare_lf' | 'nul'

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
 * Reads the bytes after DATA, in chunks of any size. Only CRLF.CRLF ends them, and a dot is stuffing only at the start of a line
 * after CRLF (RFC 5321 §4.5.2): a more lenient parser would allow SMTP smuggling.
 */
export class DataReader {
  /** The first byte error; the content is discarded then, and reading continues to the end mark. */
  byteError: ByteError | null = null
  #state = LINE_START

  /**
   * @param keep receives the content without dot-stuffing, as slices of `chunk`
   * @returns offset in `chunk` behind the end mark, or -1 when it was not reached
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
    // A CR after a lone dot may be half of the end mark; otherwise it is a byte error and the content is discarded.
    const to = state === AFTER_DOT_CR ? chunk.length - 1 : chunk.length
    if (to > from) keep(chunk.subarray(from, to))
    return -1
  }

  #next(state: number, byte: number): number {
    const afterCr = state === AFTER_CR || state === AFTER_DOT_CR
    if (byte === LF && afterCr) return LINE_START
    if (afterCr) this.byteError ??= 'bare_cr'
    if (byte === LF) this.byteError ??= 'bare_lf'
    if (byte === NUL) this.byteError ??= 'nul'
    if (byte === CR) return state === AFTER_DOT ? AFTER_DOT_CR : AFTER_CR
    return IN_LINE
  }
}
