// The checks of the whole appliance while it runs, and what the last run found.

import type { DoctorDeps } from './deps.ts'
import { type Finding, failing } from './finding.ts'

/** What a run found. */
export interface Examination {
  /** When it ended, ms. */
  at: number
  /** Whether it connected to other machines too. */
  outside: boolean
  findings: readonly Finding[]
}

export class Doctor {
  readonly #deps: DoctorDeps
  #last: Examination | null = null
  #running: { outside: boolean; examination: Promise<Examination> } | null = null

  constructor(deps: DoctorDeps) {
    this.#deps = deps
  }

  /** What the last run since the start found; null before the first. */
  get last(): Examination | null {
    return this.#last
  }

  /**
   * Runs all checks but those that read the databases from end to end. One run at a time: who asks meanwhile gets its result.
   * @param outside also connects to this machine by its public names, and to mail servers of others
   */
  async run(outside: boolean): Promise<Examination> {
    for (let running = this.#running; running !== null; running = this.#running) {
      if (running.outside || !outside) return running.examination
      // It does not connect to others: the next run does. What it throws is its caller's.
      await running.examination.catch(() => {})
    }
    const examination = this.#examine(outside)
    this.#running = { outside, examination }
    try {
      this.#last = await examination
      return this.#last
    } finally {
      this.#running = null
    }
  }

  async #examine(outside: boolean): Promise<Examination> {
    const { config, clock } = this.#deps
    // Loaded when they run: every thread has a doctor, and only the first one is asked.
    const { applianceChecks, boundedChecks, machineChecks, portChecks } = await import('./checks.ts')
    const { checkFolder } = await import('./machine.ts')
    const run = boundedChecks(this.#deps)
    const folder = await checkFolder(config.DATA_DIR)
    const machine = await machineChecks(config).catch((error: Error) => [
      failing('disk', `The data folder cannot be examined: ${error.message}.`, 'Check the disk.'),
    ])
    const ports = await run('smtp_port', () => portChecks(config))
    const findings = [folder, ...machine, ...(await applianceChecks(this.#deps, { outside, ports, run }))]
    return { at: clock.now(), outside, findings }
  }
}
