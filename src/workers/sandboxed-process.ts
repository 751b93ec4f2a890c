// A process of ours with little memory and few rights, which looks at one thing after another.

import { type ChildProcess, fork } from 'node:child_process'
import { join, resolve } from 'node:path'
import { type Clock, systemClock, type Timer } from '../base/clock.ts'

/** MiB. A thread that runs out of memory takes the whole house with it where the memory is asked for by native code (JSON.parse). */
const MEMORY = ['--max-old-space-size=224', '--max-semi-space-size=16']
/** A process without work for so long is ended: it costs some 50 MB. */
const IDLE_MS = 60_000
const ROOT = resolve(import.meta.dirname, '../..')
/** It may read its own code, and do nothing else: no writing, no other process. */
const RIGHTS = [
  '--permission',
  ...['src', 'node_modules', 'package.json'].map((path) => `--allow-fs-read=${join(ROOT, path)}`),
]

export class ReadingProcess<Question extends object, Answer> {
  readonly #file: string
  readonly #rights: readonly string[]
  readonly #clock: Clock
  #child: ChildProcess | undefined
  #idle: Timer | undefined

  /**
   * @param file what it runs: answers each message with one
   * @param rights of its own code, unless a test has it elsewhere
   */
  constructor(file: string, clock: Clock = systemClock, rights: readonly string[] = RIGHTS) {
    this.#file = file
    this.#clock = clock
    this.#rights = rights
  }

  /**
   * One question at a time.
   * @param signal has the process ended, with whatever it is at
   * @throws Error when it dies, or is ended, before it has answered
   */
  async ask(question: Question, signal: AbortSignal): Promise<Answer> {
    this.#idle?.cancel()
    const child = this.#open()
    const stop = () => child.kill('SIGKILL')
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      return await new Promise<Answer>((resolve, reject) => {
        child.removeAllListeners('message').removeAllListeners('exit').removeAllListeners('error')
        const died = () => {
          if (this.#child === child) this.#child = undefined
          reject(new Error('The process ended before it answered.'))
        }
        child
          .once('message', (answer) => resolve(answer as Answer))
          .once('exit', died)
          .once('error', died)
        child.send(question, (error) => error !== null && died())
      })
    } finally {
      signal.removeEventListener('abort', stop)
      this.#idle = this.#clock.after(IDLE_MS, () => this.close())
    }
  }

  close(): void {
    this.#idle?.cancel()
    this.#child?.kill('SIGKILL')
    this.#child = undefined
  }

  #open(): ChildProcess {
    if (this.#child?.connected === true) return this.#child
    const child = fork(this.#file, {
      execArgv: [...MEMORY, ...this.#rights],
      // Bytes travel as they are.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {},
    })
    this.#child = child
    return child
  }
}
