// A child process with limited memory and permissions that handles one request after another.

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { type Clock, systemClock, type Timer } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import { CODE_FOLDER, PROJECT_FOLDER } from '../base/entry.ts'

/** MiB. A thread that runs out of memory ends the whole process where native code allocates the memory (JSON.parse), hence a process of its own. */
const MEMORY = ['--max-old-space-size=224', '--max-semi-space-size=16']
/** An idle process, which takes about 50 MB, is stopped after this time. */
const IDLE_MS = MINUTE_MS
/** It may read its own code: no writing, no child processes. */
const RIGHTS = [
  '--permission',
  ...[CODE_FOLDER, 'node_modules', 'package.json'].map((path) => `--allow-fs-read=${join(PROJECT_FOLDER, path)}`),
]

export class SandboxedProcess<Request extends object, Answer> {
  readonly #file: string
  readonly #rights: readonly string[]
  readonly #clock: Clock
  #child: ChildProcess | undefined
  #idle: Timer | undefined

  /**
   * @param file script to run; it answers each message with one message
   * @param rights permission flags; tests pass others
   */
  constructor(file: string, clock: Clock = systemClock, rights: readonly string[] = RIGHTS) {
    this.#file = file
    this.#clock = clock
    this.#rights = rights
  }

  /**
   * Sends one request; requests must not overlap.
   * @param signal kills the process
   * @throws Error when the process ends before it has answered
   */
  async request(request: Request, signal: AbortSignal): Promise<Answer> {
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
        child.send(request, (error) => error !== null && died())
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
      // Transfers binary data without encoding.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {},
    })
    this.#child = child
    return child
  }
}
