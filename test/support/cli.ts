// The operator's commands in this process: what they print and how they end.

import assert from 'node:assert/strict'
import { runCli } from '../../src/cli/cli.ts'
import type { Json } from './house.ts'

export interface Ended {
  code: number
  out: string[]
  err: string[]
}

export class Commands {
  readonly env: Record<string, string>

  constructor(env: Record<string, string>) {
    this.env = env
  }

  async run(...argv: string[]): Promise<Ended> {
    const out: string[] = []
    const err: string[] = []
    const code = await runCli(argv, { out: (line) => out.push(line), err: (line) => err.push(line), env: this.env })
    return { code, out, err }
  }

  /** A command that must succeed, and the one JSON value it prints. */
  async json(...argv: string[]): Promise<Json> {
    const { code, out, err } = await this.run(...argv, '--json')
    const said = `${argv.join(' ')}: ${err} ${out}`
    assert.deepEqual({ code, err, lines: out.length }, { code: 0, err: [], lines: 1 }, said)
    return JSON.parse(out[0]!)
  }

  /** A command that must fail with one sentence, which holds these parts. */
  async refused(argv: string[], ...parts: (string | RegExp)[]): Promise<void> {
    const { code, out, err } = await this.run(...argv)
    const said = `${argv.join(' ')}: ${err} ${out}`
    assert.deepEqual({ code, out, lines: err.length }, { code: 1, out: [], lines: 1 }, said)
    for (const part of parts) assert.ok(typeof part === 'string' ? err[0]!.includes(part) : part.test(err[0]!), said)
    assert.match(err[0]!, /^mailstead: [^\n]+\.$/)
  }
}
