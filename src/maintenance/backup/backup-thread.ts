// The thread that makes a backup for the running appliance: checking the copies would block the first thread.

import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import type { Damage } from '../damage.ts'
import type { ProgressUnit, StepProgress } from '../progress.ts'
import { type BackupOrder, makeBackup } from './make.ts'

/** What the thread says to the first one: how far it is, then how it ended. */
export type BackupNote =
  | { kind: 'step'; label: string; unit: ProgressUnit; done: number; total: number | null }
  | { kind: 'made'; sizeBytes: number; messages: number; damage: Damage }
  /** `sentence` is for the operator; null for an error that needs the log. */
  | { kind: 'failed'; sentence: string | null; error: string }

/** Amounts are reported this often, ms. */
const REPORT_EVERY_MS = 250

const port = parentPort!

class Reports implements StepProgress {
  #step: Extract<BackupNote, { kind: 'step' }> | null = null
  #reportedAt = 0

  begin(label: string, unit: ProgressUnit = 'bytes', total?: number): void {
    this.#step = { kind: 'step', label, unit, done: 0, total: total ?? null }
    this.#report()
  }

  add(amount: number): void {
    if (this.#step === null) return
    this.#step.done += amount
    if (systemClock.monotonic() - this.#reportedAt >= REPORT_EVERY_MS) this.#report()
  }

  #report(): void {
    this.#reportedAt = systemClock.monotonic()
    port.postMessage(this.#step)
  }
}

function note(value: BackupNote): void {
  port.postMessage(value)
}

try {
  const { sizeBytes, manifest, damage } = await makeBackup(workerData as BackupOrder, new Reports())
  note({ kind: 'made', sizeBytes, messages: manifest.counts.messages, damage })
} catch (error) {
  const sentence = error instanceof ProductError ? error.message : null
  note({ kind: 'failed', sentence, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
}
