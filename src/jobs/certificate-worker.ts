// Service: takes the steps of certificates that are due, and proves new ones by connections to the listeners.

import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import type { ProvedListener } from './prove-certificate.ts'

/** Another process may have asked for a renewal: it is seen after this time, ms. */
const LOOK_MS = 10_000

export interface CertificateWorker extends Service {
  /** Takes the steps that are due now; resolves when they are done. */
  settle(): Promise<void>
}

/**
 * On the first thread, as the listeners are there; nearly all of its time is waiting for the authority.
 * @param listeners those that serve, once all are open
 */
export function openCertificateWorker(app: Context, listeners: () => readonly ProvedListener[]): CertificateWorker {
  const { certificates, clock, log } = app
  let timer: Timer | undefined
  let running: Promise<void> | null = null
  let isStopped = false

  const step = async () => {
    try {
      await certificates.step(async (version, pair) => {
        // Loaded with the first proof, a few times a year.
        const { proveCertificate } = await import('./prove-certificate.ts')
        return proveCertificate(app, { version, pair, listeners: listeners() })
      })
    } catch (error) {
      log.error({ event: 'certificate.worker_failed', err: error }, 'The steps of certificates failed')
    }
  }
  const run = () => {
    running ??= step().finally(() => {
      running = null
      schedule()
    })
    return running
  }
  const schedule = () => {
    timer?.cancel()
    if (isStopped || !certificates.isOn) return
    const next = certificates.nextAt() ?? Number.POSITIVE_INFINITY
    timer = clock.after(Math.min(Math.max(next - clock.now(), 0), LOOK_MS), () => void run())
  }

  return {
    name: 'certificates',
    async start() {
      if (certificates.isOn) void run()
    },
    async stop() {
      isStopped = true
      timer?.cancel()
      // Ends requests that wait for the authority: the step is taken again after the next start.
      await certificates.close()
      await running
    },
    async settle() {
      if (certificates.isOn) await run()
    },
  }
}
