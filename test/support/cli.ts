// Runs CLI commands in this process: their output and exit code.

import assert from 'node:assert/strict'
import type { ProgressOutput } from '../../src/cli/frame/progress.ts'
import type { Json } from './appliance.ts'
import { runCli } from './program.ts'

export interface Ended {
  code: number
  out: string[]
  err: string[]
}

export class Commands {
  readonly env: Record<string, string>
  readonly #progress: ProgressOutput | undefined
  #input: Uint8Array = new Uint8Array()

  constructor(env: Record<string, string>, progress?: ProgressOutput) {
    this.env = env
    this.#progress = progress
  }

  /** As these commands, with a text on standard input. */
  given(input: string): Commands {
    const commands = new Commands(this.env, this.#progress)
    commands.#input = Buffer.from(input)
    return commands
  }

  async run(...argv: string[]): Promise<Ended> {
    const input = this.#input
    const out: string[] = []
    const err: string[] = []
    const code = await runCli(argv, {
      out: (line) => out.push(line),
      err: (line) => err.push(line),
      env: this.env,
      input: () => ({
        isTerminal: false,
        bytes: (async function* () {
          yield input
        })(),
      }),
      ...(this.#progress === undefined ? {} : { progress: this.#progress }),
    })
    return { code, out, err }
  }

  /** Runs a command that must succeed, and returns the one JSON value it prints. */
  async json(...argv: string[]): Promise<Json> {
    const { code, out, err } = await this.run(...argv, '--json')
    const said = `${argv.join(' ')}: ${err} ${out}`
    assert.deepEqual({ code, err, lines: out.length }, { code: 0, err: [], lines: 1 }, said)
    return JSON.parse(out[0]!)
  }

  /** Runs a command that must fail with one sentence that contains these parts. */
  async refused(argv: string[], ...parts: (string | RegExp)[]): Promise<void> {
    const { code, out, err } = await this.run(...argv)
    const said = `${argv.join(' ')}: ${err} ${out}`
    assert.deepEqual({ code, out, lines: err.length }, { code: 1, out: [], lines: 1 }, said)
    for (const part of parts) assert.ok(typeof part === 'string' ? err[0]!.includes(part) : part.test(err[0]!), said)
    assert.match(err[0]!, /^mailstead: [^\n]+\.$/)
  }
}
